/** Connect: what to do per source, tool and agent so that the project works, and what is done already. */
import { Button, Group, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from 'react-router'
import type { Setup, SetupConnect } from '../../../schemas/types.ts'
import { howEventsCome } from '../../lib/source-words.ts'
import { useChange } from '../../lib/use-change.ts'
import { setups, skeys } from '../../setup-client.ts'
import { AgentCard } from './connect/agent-card.tsx'
import { SourceCard } from './connect/source-card.tsx'
import { ToolCard } from './connect/tool-card.tsx'

export function ConnectStep({ setup }: { setup: Setup }) {
  const go = useNavigate()
  const once = useOnce(setup.project)
  const next = useChange(() => setups.goTo(setup.project, 'try'), {
    failed: 'Couldn’t continue setup',
    onDone: () => void go(`/projects/${setup.project}/setup`),
  })
  const { connect, checks } = setup
  if (!connect || !checks) return null
  const sent = new Set(connect.sources.flatMap(({ name, ingest_url }) => (ingest_url === null ? [] : [name])))
  const waiting = checks.sources.filter(({ name, state }) => state === 'waiting' && sent.has(name)).length
  return (
    <Stack mt="md" maw={900}>
      <Text>
        {howEventsCome(connect.sources)}
        {once && hasKeys(once) && ' Keys are shown once: copy them before you leave.'}
      </Text>
      {connect.sources.map((source) => (
        <SourceCard
          key={source.name}
          source={source}
          secret={once?.sources.find(({ name }) => name === source.name)?.key ?? null}
          check={checks.sources.find(({ name }) => name === source.name)}
        />
      ))}
      {connect.tools.map((tool) => (
        <ToolCard key={tool.name} tool={tool} check={checks.tools.find(({ name }) => name === tool.name)} />
      ))}
      {connect.own_agent && (
        <AgentCard
          agent={connect.own_agent}
          secret={once?.own_agent?.key ?? null}
          check={checks.own_agent}
          project={setup.project}
        />
      )}
      <Group>
        <Button loading={next.isPending} onClick={() => next.mutate(undefined)}>
          Continue to Try it
        </Button>
        {waiting > 0 && (
          <Text size="sm" c="dimmed">
            {waiting === 1 ? 'One source has' : `${waiting} sources have`} sent nothing yet: the next step
            sends a test event.
          </Text>
        )}
      </Group>
    </Stack>
  )
}

/** What was told once when the plan was applied; nothing after the page was loaded again. */
function useOnce(project: string): SetupConnect | null {
  const { data } = useQuery<SetupConnect | null>({
    queryKey: skeys.once(project),
    queryFn: () => null,
    initialData: null,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: Number.POSITIVE_INFINITY,
  })
  return data
}

const hasKeys = ({ sources, own_agent }: SetupConnect): boolean =>
  sources.some(({ key }) => key !== null) || Boolean(own_agent?.key)

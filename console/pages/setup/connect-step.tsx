/** Connect: what to do per source, tool and agent so that the project works, and what is done already. */
import { Button, Group, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from 'react-router'
import type { Setup, SetupChecks, SetupConnect } from '../../../schemas/types.ts'
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
  // What svc asks for is sent by nobody.
  const isWaiting = connect.sources.some(
    (source) => source.ingest_url && stateOf(checks, source.name)?.state === 'waiting',
  )
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
          check={stateOf(checks, source.name)}
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
        {isWaiting && (
          <Text size="sm" c="dimmed">
            Where nothing came yet, the next step sends a test event.
          </Text>
        )}
      </Group>
    </Stack>
  )
}

const stateOf = ({ sources }: SetupChecks, name: string) => sources.find((one) => one.name === name)

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

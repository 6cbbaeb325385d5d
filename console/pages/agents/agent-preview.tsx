/** Exactly what an agent would be told of a past firing, and what tools it would have. */
import { Select, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link, useSearchParams } from 'react-router'
import type { Agent } from '../../../schemas/types.ts'
import { firingPath } from '../../lib/paths.ts'
import { count, moment } from '../../lib/time.ts'
import { FoldedText } from '../../parts/fold.tsx'
import { Failed, LoadingRows } from '../../parts/states.tsx'
import { rkeys, runs } from '../../run-client.ts'
import { wkeys, work } from '../../trigger-client.ts'

const FIRINGS = 50

export function AgentPreview({ agent }: { agent: Agent }) {
  const [address, setAddress] = useSearchParams()
  const [first] = agent.triggers
  // One that only a handoff starts is told of any firing just the same.
  const query = { state: 'fired', ...(first ? { trigger: first } : {}) }
  const firings = useQuery({
    queryKey: [...wkeys.firings(query), FIRINGS],
    queryFn: () => work.firings(query, undefined, FIRINGS),
  })
  if (firings.isPending) return <LoadingRows />
  if (firings.error)
    return <Failed what="the preview" error={firings.error} onRetry={() => void firings.refetch()} />
  const listed = firings.data.firings
  const chosen = address.get('firing') ?? listed[0]?.dispatch_id ?? null
  if (chosen === null)
    return (
      <Text size="sm" c="dimmed">
        {first ? 'What wakes it has not fired yet' : 'Nothing has fired yet'}: there is no firing to show it
        with.
      </Text>
    )
  const options = listed.map(({ dispatch_id, trigger, key, fired_at, opened_at }) => ({
    value: dispatch_id,
    label: `${trigger}${key && key !== trigger ? `: ${key}` : ''}, ${moment(Date.parse(fired_at ?? opened_at), Date.now())}`,
  }))
  return (
    <Stack maw={980}>
      <Select
        label="Firing"
        description="Prompt for this firing; no model call"
        data={
          options.some(({ value }) => value === chosen)
            ? options
            : [{ value: chosen, label: chosen }, ...options]
        }
        value={chosen}
        onChange={(firing) => firing && setAddress({ tab: 'preview', firing }, { replace: true })}
        allowDeselect={false}
        searchable
        maw={560}
      />
      <Told agent={agent.name} firing={chosen} />
    </Stack>
  )
}

function Told({ agent, firing }: { agent: string; firing: string }) {
  const { data, error, isPending, refetch } = useQuery({
    queryKey: rkeys.preview(agent, firing),
    queryFn: () => runs.preview(agent, firing),
  })
  if (isPending) return <LoadingRows rows={3} />
  if (error) return <Failed what="the preview" error={error} onRetry={() => void refetch()} />
  const { system, message, tools, tokens } = data
  return (
    <Stack gap="sm" component="section" aria-label="Prompt">
      <Text size="sm">
        About {count(tokens)} tokens before it says a word, of{' '}
        <Link to={firingPath(firing)}>this firing</Link>.
      </Text>
      <FoldedText title="Instructions" hint={`${count(system.length)} characters`} text={system} isOpen />
      <FoldedText title="First message" hint={`${count(message.length)} characters`} text={message} isOpen />
      <div>
        <Text fw={600} size="sm">
          Tools, {tools.length}
        </Text>
        <dl className="facts">
          {tools.map(({ name, description }) => (
            <div key={name}>
              <dt className="mono">{name}</dt>
              <dd>{description}</dd>
            </div>
          ))}
        </dl>
      </div>
    </Stack>
  )
}

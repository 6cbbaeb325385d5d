/** How many of the newest events joined entities cover, and what a draft would join, before it is saved. */
import { List, Paper, Stack, Text } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import type { EntityCoverage, EntityCoverageRequest } from '../../../schemas/types.ts'
import { declared, dkeys } from '../../declared-client.ts'
import { count, countEvents } from '../../lib/time.ts'

const SETTLE_MS = 400

/** "38 %", of nothing "0 %"; a part that is there is never "0 %". */
export function share(part: number, all: number): string {
  if (all === 0 || part === 0) return '0 %'
  return `${Math.max(1, Math.round((part / all) * 100))} %`
}

/** Of what is declared now. */
export function CoverageLine() {
  const { data } = useQuery({
    queryKey: dkeys.coverage(''),
    queryFn: () => declared.coverage({}),
    staleTime: 30_000,
  })
  return (
    <Text size="sm" c="dimmed" mb="md" mih={21}>
      {data &&
        `${share(data.unjoined, data.events)} of the newest ${count(data.events)} events have no joined entity.`}
    </Text>
  )
}

/**
 * Of a draft, looked at anew a moment after each change.
 * @param draft null: it is not whole yet
 * @param isStored it joins already, and what is told is how it would be without it
 */
export function Coverage({ draft, isStored }: { draft: EntityCoverageRequest | null; isStored: boolean }) {
  const [settled] = useDebouncedValue(draft && JSON.stringify(draft), SETTLE_MS)
  const { data, error } = useQuery({
    queryKey: dkeys.coverage(settled ?? ''),
    queryFn: () => declared.coverage(JSON.parse(settled!) as EntityCoverageRequest),
    enabled: settled !== null,
    staleTime: 30_000,
    retry: false,
  })
  return (
    <Paper withBorder p="md" radius="md" component="section" aria-label="Coverage" aria-live="polite">
      {settled === null && <Text c="dimmed">Enter two or more names to see what they join.</Text>}
      {settled !== null && error && <Text c="red">{error.message}</Text>}
      {settled !== null && !error && !data && <Text c="dimmed">Looking at the newest events…</Text>}
      {settled !== null && !error && data && <Told data={data} isStored={isStored} />}
    </Paper>
  )
}

function Told({ data, isStored }: { data: EntityCoverage; isStored: boolean }) {
  const { events, unjoined, joins, adds, things, joined_things, names, without, taken, conflicts } = data
  return (
    <Stack gap="xs">
      <Text fw={600}>
        {isStored
          ? `Without it ${share(unjoined, events)} of events have no entity; it joins ${share(adds, events)}.`
          : `${share(unjoined, events)} of events have no entity; this joins ${share(adds, events)}.`}
      </Text>
      <Text size="sm">
        Of the newest {count(events)} events {count(joins)} have one of these names: {count(things)}{' '}
        {things === 1 ? 'thing' : 'things'}, {count(joined_things)} under two names or more.
      </Text>
      {conflicts.map(({ name, entity }) => (
        <Text key={name} size="sm" c="red">
          {name} is a name of {entity} already: it can be of one.
        </Text>
      ))}
      {names.length > 0 && (
        <List size="sm">
          {names.map((one) => (
            <List.Item key={one.label}>
              <span className="mono">{one.label}</span>: {count(one.values)}{' '}
              {one.values === 1 ? 'value' : 'values'}, {countEvents(one.events)}
            </List.Item>
          ))}
        </List>
      )}
      {taken.length > 0 && (
        <Text size="sm" c="dimmed">
          Stay with another entity, which says them plainly:{' '}
          {taken.map(({ name, entity }) => `${name} (${entity})`).join(', ')}.
        </Text>
      )}
      {without.length > 0 && (
        <Text size="sm" c="dimmed">
          Still without: {without.map((one) => `${one.label}=${one.value}`).join(', ')}.
        </Text>
      )}
    </Stack>
  )
}

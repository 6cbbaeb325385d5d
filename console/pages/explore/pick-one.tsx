/** Explore without an entity: the ones there are, what sources brought, or how to get some. */
import { Box, Button, Code, Group, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useEffect } from 'react'
import type { Source } from '../../../schemas/types.ts'
import { api, keys } from '../../client.ts'
import { count } from '../../lib/time.ts'
import { AddLink, useFirstRows } from '../../parts/long-list.tsx'
import { Empty, Failed, LoadingRows } from '../../parts/states.tsx'
import { useSaid } from './use-said.ts'

/** So many a read takes. */
export const SOURCES_MAX = 100

/** Of so many sources that are chosen, that a read takes no more of all there are; undefined: none is left out for that. */
export const cutWords = (chosen: number, all: number): string | undefined =>
  chosen >= SOURCES_MAX && all > chosen
    ? `${count(chosen)} of ${count(all)} sources: no read takes more`
    : undefined

/** Names of the sources that may have brought something since then, the newest first. @param from ISO */
const sourcesSince = (sources: readonly Source[], from: string): string[] =>
  sources
    .map(({ name, health }) => ({ name, at: Date.parse(health.last_ingest ?? '') }))
    .filter(({ at }) => at >= Date.parse(from))
    .sort((a, b) => b.at - a.at)
    .slice(0, SOURCES_MAX)
    .map(({ name }) => name)

export function PickOne({
  allSince,
  onPick,
  onSources,
}: {
  /** Nothing is picked: all that came since then is asked for. ISO. */
  allSince: string | null
  onPick: (name: string, value: string) => void
  /** @param isFound they complete the address; else they were picked */
  onSources: (sources: string[], isFound: boolean) => void
}) {
  const sources = useQuery({ queryKey: keys.sources, queryFn: api.sources })
  const { data, isPending, error, refetch } = useQuery({
    queryKey: keys.entities,
    queryFn: () => api.entities(12),
    refetchOnMount: 'always',
    refetchInterval: 5_000,
  })
  const said = useSaid(data?.labels.map(({ label }) => label) ?? [])
  const named = sources.data ?? []
  const found = allSince && !sources.isFetching && sources.data
  // biome-ignore lint/correctness/useExhaustiveDependencies: what changes the address is made anew each time, and needs no call for it.
  useEffect(() => {
    if (found) onSources(sourcesSince(found, allSince), true)
  }, [found])
  const { shown, more } = useFirstRows(named, 'sources')
  if (allSince && sources.error)
    return <Failed what="sources" error={sources.error} onRetry={() => void sources.refetch()} />
  if (isPending || sources.isPending || allSince) return <LoadingRows rows={4} />
  if (error) return <Failed what="entities" error={error} onRetry={() => void refetch()} />
  if (data.labels.length === 0 && named.length === 0)
    return (
      <Empty title="No timelines yet">
        <Text c="dimmed" maw={520}>
          A timeline holds everything that happened to one entity, such as <Code>service=checkout</Code>, from
          all sources that label it. Add a source with a label first.
        </Text>
        <AddLink to="/sources/new">Add a source</AddLink>
      </Empty>
    )
  return (
    <Stack gap="md" style={{ overflow: 'auto' }}>
      {data.labels.length === 0 && (
        <Text c="dimmed" maw={620}>
          No event has a label yet, so there is no timeline of an entity. Labels are given by a source, under
          its Settings; what comes without is read by its source.
        </Text>
      )}
      {data.labels.map((facet) => (
        <div key={facet.label}>
          <Text fw={600} size="sm" mb={6}>
            {facet.label}{' '}
            <Text span size="xs" c="dimmed">
              {count(facet.distinct)} {facet.distinct === 1 ? 'value' : 'values'}
              {facet.primary ? ' · entity key' : ''}
            </Text>
          </Text>
          <Group gap="xs">
            {facet.values.map((value) => (
              <Button
                key={value.value}
                size="compact-sm"
                variant="default"
                fw={400}
                title={value.value}
                onClick={() => onPick(facet.label, value.value)}
              >
                {said(facet.label, value.value)}
                <Text span size="xs" c="dimmed" ml={6}>
                  {count(value.events)}
                </Text>
              </Button>
            ))}
          </Group>
        </div>
      ))}
      <div>
        <Text fw={600} size="sm" mb={6}>
          All events of a source
        </Text>
        <Group gap="xs">
          {shown.map(({ name }) => (
            <Button
              key={name}
              size="compact-sm"
              variant="default"
              fw={400}
              onClick={() => onSources([name], false)}
            >
              {name}
            </Button>
          ))}
        </Group>
        {more && <Box mt="xs">{more}</Box>}
      </div>
    </Stack>
  )
}

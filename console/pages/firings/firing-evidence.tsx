/** The timeline of a firing's entity around it, with the events that tripped it marked. */
import { Group, Paper, Switch, Text, Title } from '@mantine/core'
import { useQueries, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { FiringDetail } from '../../../schemas/types.ts'
import { type ApiEvent, api } from '../../client.ts'
import { AROUND_MAX, aroundRequest, asTimeline, othersOf } from '../../lib/evidence.ts'
import { count } from '../../lib/time.ts'
import { Failed, LoadingRows } from '../../parts/states.tsx'
import { useNow } from '../../parts/use-now.ts'
import { wkeys, work } from '../../trigger-client.ts'
import { EventRow } from '../explore/event-row.tsx'

export function FiringEvidence({ firing }: { firing: FiringDetail }) {
  const { evidence, rows, error, isPending, reload } = useEvidence(firing)
  const [isNarrow, setNarrow] = useState(false)
  const marked = new Set(evidence)
  const shown = isNarrow ? rows.filter(({ id }) => marked.has(id)) : rows
  const { entity, events } = firing
  return (
    <section aria-label="Evidence">
      <Group justify="space-between" mb="xs">
        <Title order={2}>Evidence{entity ? ` on the timeline of ${entity.label}=${entity.value}` : ''}</Title>
        {entity && (
          <Switch
            size="sm"
            label="Evidence only"
            checked={isNarrow}
            onChange={(event) => setNarrow(event.currentTarget.checked)}
          />
        )}
      </Group>
      {isPending ? (
        <LoadingRows rows={4} />
      ) : error ? (
        <Failed what="the evidence" error={error} onRetry={reload} />
      ) : shown.length === 0 ? (
        <Text size="sm" c="dimmed">
          {events === 0 ? 'No events: fired on schedule' : 'Events expired'}
        </Text>
      ) : (
        <Rows rows={shown} marked={marked} />
      )}
      <Text size="xs" c="dimmed" mt={4}>
        {count(events)} {events === 1 ? 'event' : 'events'} tripped it
        {shown.length > 0 && `; ${count(shown.filter(({ id }) => marked.has(id)).length)} of them above`}
        {rows.length >= AROUND_MAX && '. Only the newest around it are shown: Explore has all'}.
      </Text>
    </section>
  )
}

function Rows({ rows, marked }: { rows: readonly ApiEvent[]; marked: ReadonlySet<string> }) {
  const now = useNow()
  const [open, setOpen] = useState<string | null>(null)
  return (
    <Paper withBorder radius="md" className="scroll-rows">
      {rows.map((event) => (
        <EventRow
          key={event.id}
          event={event}
          now={now}
          open={open === event.id}
          active={false}
          {...(marked.has(event.id) ? { mark: 'evidence' } : {})}
          onToggle={() => setOpen(open === event.id ? null : event.id)}
        />
      ))}
    </Paper>
  )
}

/** Its events beyond those listed are asked for; those that the timeline lacks are read one by one. */
function useEvidence(firing: FiringDetail) {
  const { dispatch_id, event_ids, events } = firing
  const more = useQuery({
    queryKey: wkeys.firingEvents(dispatch_id),
    queryFn: () => work.firingEvents(dispatch_id),
    enabled: events > event_ids.length,
  })
  const evidence = more.data ?? event_ids
  const request = aroundRequest(firing)
  const around = useQuery({
    queryKey: ['timeline', 'around', request],
    queryFn: ({ signal }) => api.read(request!, signal),
    enabled: request !== null,
  })
  const shown = around.data?.rows.filter(({ reference }) => !reference) ?? []
  const isRead = request === null || around.data !== undefined
  const others = useQueries({
    queries: (isRead ? othersOf(evidence, shown) : []).map((id) => ({
      queryKey: ['event', id, 'row'],
      queryFn: () => work.event(id),
      staleTime: Number.POSITIVE_INFINITY,
    })),
  })
  return {
    evidence,
    rows: asTimeline(
      shown,
      others.flatMap(({ data }) => data ?? []),
    ),
    error: around.error,
    isPending: (request !== null && around.isPending) || others.some(({ isPending }) => isPending),
    reload: () => void around.refetch(),
  }
}

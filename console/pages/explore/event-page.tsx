/** An event by its id: goes to the timeline it is on, opened there; what is on none is shown by itself. */
import { Paper, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useParams, useSearchParams } from 'react-router'
import type { HistogramRequest } from '../../../schemas/types.ts'
import { api } from '../../client.ts'
import { PAGE_ROWS, parsePair, reachOf } from '../../lib/explore-state.ts'
import { explorePath } from '../../lib/firings.ts'
import { GoOn } from '../../parts/go-on.tsx'
import { PageHead } from '../../parts/page.tsx'
import { Failed, LoadingRows } from '../../parts/states.tsx'
import { useNow } from '../../parts/use-now.ts'
import { work } from '../../trigger-client.ts'
import { EventRow } from './event-row.tsx'

const SPAN_MS = 1_800_000

function windowAfter({ label, value }: { label: string; value: string }, at: string): HistogramRequest {
  const from = Date.parse(at)
  const to = new Date(from + SPAN_MS / 3).toISOString()
  return { selector: { [label]: value }, from: new Date(from).toISOString(), to, buckets: 120 }
}

export default function EventPage() {
  const { id = '' } = useParams()
  const [query] = useSearchParams()
  const now = useNow()
  const [open, setOpen] = useState(true)
  const { data, error, isPending, refetch } = useQuery({
    queryKey: ['event', id, 'row'],
    queryFn: () => work.event(id),
    staleTime: 60_000,
  })
  const [label, value] = parsePair(query.get('l') ?? '') ?? []
  const isAsked = label !== undefined && value !== undefined && String(data?.labels[label]) === value
  const entity = isAsked ? { label, value } : data?.entity
  // Explore lists the newest first: its window ends where the event is still among them.
  const after = useQuery({
    queryKey: ['event', id, 'after', entity],
    queryFn: () => api.histogram(windowAfter(entity!, data!.event_time)),
    enabled: entity !== undefined && entity !== null,
    staleTime: 60_000,
  })
  if (isPending || (entity && after.isPending)) return <LoadingRows />
  if (error)
    return (
      <>
        <PageHead title={`Event ${id}`} />
        <Failed what="the event" error={error} onRetry={() => void refetch()} />
      </>
    )
  if (entity) {
    const to = after.data && reachOf(after.data, PAGE_ROWS / 2)
    return (
      <GoOn to={`${explorePath(entity, data.event_time, SPAN_MS, to)}&event=${encodeURIComponent(id)}`} />
    )
  }
  return (
    <>
      <PageHead title={`Event ${id}`} />
      <Text size="sm" c="dimmed" mb="sm">
        No label puts this event on a timeline.
      </Text>
      <Paper withBorder radius="md">
        <EventRow event={data} now={now} open={open} active={false} onToggle={() => setOpen(!open)} />
      </Paper>
    </>
  )
}

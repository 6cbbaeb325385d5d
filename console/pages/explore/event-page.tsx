/** An event by its id: goes to the timeline it is on, opened there; what is on none is shown by itself. */
import { Paper, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useParams, useSearchParams } from 'react-router'
import { parsePair } from '../../lib/explore-state.ts'
import { explorePath } from '../../lib/firings.ts'
import { GoOn } from '../../parts/go-on.tsx'
import { PageHead } from '../../parts/page.tsx'
import { Failed, LoadingRows } from '../../parts/states.tsx'
import { useNow } from '../../parts/use-now.ts'
import { work } from '../../trigger-client.ts'
import { EventRow } from './event-row.tsx'

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
  if (isPending) return <LoadingRows />
  if (error)
    return (
      <>
        <PageHead title={`Event ${id}`} />
        <Failed what="the event" error={error} onRetry={() => void refetch()} />
      </>
    )
  const [label, value] = parsePair(query.get('l') ?? '') ?? []
  const isAsked = label !== undefined && value !== undefined && String(data.labels[label]) === value
  const entity = isAsked ? { label, value } : data.entity
  if (entity) return <GoOn to={`${explorePath(entity, data.event_time)}&event=${encodeURIComponent(id)}`} />
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

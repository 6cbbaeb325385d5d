/** The newest events of a source, with the payload on demand. */
import { Paper, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api, keys } from '../../client.ts'
import { Empty, Failed, LoadingRows } from '../../parts/states.tsx'
import { useNow } from '../../parts/use-now.ts'
import { EventRow } from '../explore/event-row.tsx'

/** Explore, which draws only rows in view, has the rest. */
const SHOWN = 80

export function SourceEvents({ name }: { name: string }) {
  const { data, error, isPending, refetch } = useQuery({
    queryKey: keys.sourceEvents(name),
    queryFn: () => api.sourceEvents(name, SHOWN),
    refetchInterval: 3_000,
  })
  const [open, setOpen] = useState<string | null>(null)
  const now = useNow()
  if (isPending) return <LoadingRows />
  if (error) return <Failed what="events" error={error} onRetry={() => void refetch()} />
  if (data.length === 0)
    return (
      <Empty title="No events yet">
        <Text c="dimmed">
          Send one to its ingest URL; the command is on the Overview tab. It shows here by itself.
        </Text>
      </Empty>
    )
  return (
    <Paper withBorder radius="md" style={{ overflow: 'hidden' }}>
      {data.map((event) => (
        <EventRow
          key={event.id}
          event={event}
          now={now}
          open={open === event.id}
          active={false}
          onToggle={() => setOpen(open === event.id ? null : event.id)}
        />
      ))}
    </Paper>
  )
}

/** The timeline of the entity as the agent could read it, or as it was stored by the instant. */
import { Paper, Stack, Text } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Link } from 'react-router'
import type { ReadRequest, Replay } from '../../../schemas/types.ts'
import { type ApiEvent, api } from '../../client.ts'
import { explorePath } from '../../lib/firings.ts'
import { EventRow } from '../../pages/explore/event-row.tsx'
import { Failed, LoadingRows } from '../../parts/states.tsx'
import { rkeys, runs } from '../../run-client.ts'
import type { Frame } from '../frame.ts'
import { clockOf } from '../words.ts'

const ROWS = 100
const BACK_MS = 7 * 86_400_000
/** A read for each moment of a fast replay would be for nothing. */
const SETTLE_MS = 350

export function TimelinePanel({ replay, frame }: { replay: Replay; frame: Frame }) {
  const run = useQuery({
    queryKey: rkeys.one(frame.run ?? ''),
    queryFn: () => runs.one(frame.run ?? ''),
    enabled: frame.run !== null,
    staleTime: 60_000,
  })
  const isAgents = run.data?.as_of != null && run.data.key === frame.entity?.value
  const asOf = isAgents ? run.data!.as_of! : new Date(frame.instant).toISOString()
  const [at] = useDebouncedValue(asOf, SETTLE_MS)
  if (!frame.entity)
    return (
      <Text size="sm" c="dimmed">
        Nothing that happened so far is about one entity.
      </Text>
    )
  const { label, value } = frame.entity
  const whose = isAgents ? `as ${run.data!.agent} could read it` : 'as it was stored by then'
  return (
    <Stack gap="xs">
      <Text size="sm">
        <b>
          {label}={value}
        </b>{' '}
        {whose}, at {clockOf(Date.parse(at), true)}.{' '}
        <Link to={explorePath(frame.entity, at)}>Open in Explore</Link>
      </Text>
      <Rows
        key={`${label}=${value} ${at}`}
        request={{
          selector: { [label]: value },
          from: new Date(Date.parse(at) - BACK_MS).toISOString(),
          to: at,
          as_of: at,
          order: 'desc',
          limit: ROWS,
          project: replay.project.id,
        }}
        current={frame.moment?.event_id ?? null}
        isPurged={replay.gaps.some(({ kind }) => kind === 'purged')}
      />
    </Stack>
  )
}

function Rows({
  request,
  current,
  isPurged,
}: {
  request: ReadRequest
  /** Event of the moment. */
  current: string | null
  isPurged: boolean
}) {
  const [open, setOpen] = useState<string | null>(null)
  const { data, error, isPending, refetch } = useQuery({
    queryKey: ['replay', 'timeline', request],
    queryFn: ({ signal }) => api.read(request, signal),
    staleTime: 60_000,
  })
  if (isPending) return <LoadingRows rows={4} />
  if (error) return <Failed what="the timeline" error={error} onRetry={() => void refetch()} />
  if (data.rows.length === 0)
    return (
      <Text size="sm" c="dimmed">
        {isPurged ? 'Its events of that time were removed.' : 'Nothing was stored in the seven days before.'}
      </Text>
    )
  const now = Date.parse(request.to ?? '')
  return (
    <Paper withBorder radius="md" style={{ overflow: 'hidden' }} className="replay-timeline">
      {data.rows.map((event: ApiEvent) => (
        <EventRow
          key={event.id}
          event={event}
          now={now}
          open={open === event.id}
          active={event.id === current}
          onToggle={() => setOpen(open === event.id ? null : event.id)}
        />
      ))}
      {data.next_cursor && (
        <Text size="xs" c="dimmed" p="xs">
          The newest {ROWS}; Explore has the others.
        </Text>
      )}
    </Paper>
  )
}

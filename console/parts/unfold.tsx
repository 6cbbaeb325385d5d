/** Folds of a text, each with the events it stands for on demand. */
import { Button, Group, Stack, Text } from '@mantine/core'
import { useInfiniteQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Link } from 'react-router'
import type { FoldInText } from '../../schemas/event-line.ts'
import type { ReadRequest } from '../../schemas/types.ts'
import { api } from '../client.ts'
import { eventPath } from '../lib/explore-state.ts'
import { count, countEvents } from '../lib/time.ts'
import { Fold } from './fold.tsx'
import { Failed } from './states.tsx'
import { When } from './when.tsx'

const LISTED = 20
const PAGE = 50

interface Props {
  folds: readonly FoldInText[]
  /** What the text was read with. */
  request: ReadRequest
  /** Whose timeline an event is opened in; absent: its own. */
  entity?: { label: string; value: string }
}

/** Nothing where there is no fold. */
export function Unfold({ folds, request, entity }: Props) {
  const [all, setAll] = useState(false)
  if (folds.length === 0) return null
  const listed = all ? folds : folds.slice(0, LISTED)
  return (
    <Fold
      title="Folds in it"
      hint={`${count(folds.length)} ${folds.length === 1 ? 'line stands' : 'lines stand'} for several events`}
    >
      <Stack gap={4}>
        {listed.map((fold) => (
          <Unfolded key={fold.cursor} fold={fold} request={request} {...(entity ? { entity } : {})} />
        ))}
        {folds.length > listed.length && (
          <Group>
            <Button size="compact-xs" variant="default" onClick={() => setAll(true)}>
              Show {count(folds.length - listed.length)} more
            </Button>
          </Group>
        )}
      </Stack>
    </Fold>
  )
}

function Unfolded({ fold, request, entity }: Pick<Props, 'request' | 'entity'> & { fold: FoldInText }) {
  return (
    <Fold title={countEvents(fold.count)} hint={fold.cursor}>
      <Events cursor={fold.cursor} request={request} {...(entity ? { entity } : {})} />
    </Fold>
  )
}

function Events({ cursor, request, entity }: Pick<Props, 'request' | 'entity'> & { cursor: string }) {
  const { data, error, isFetching, hasNextPage, fetchNextPage, refetch } = useInfiniteQuery({
    queryKey: ['unfold', cursor, request],
    initialPageParam: cursor,
    queryFn: ({ pageParam, signal }) => api.read({ ...request, cursor: pageParam, limit: PAGE }, signal),
    getNextPageParam: (page) => page.next_cursor ?? undefined,
    // What was stored is never changed.
    staleTime: Number.POSITIVE_INFINITY,
  })
  if (error) return <Failed what="events" error={error} onRetry={() => void refetch()} />
  const rows = data?.pages.flatMap((page) => page.rows) ?? []
  return (
    <Stack gap={2}>
      {rows.map((row) => (
        <Text key={row.id} size="sm" style={{ overflowWrap: 'anywhere' }}>
          <Link to={eventPath(row.id, entity)} className="mono">
            {row.id}
          </Link>{' '}
          <When at={row.event_time} only="absolute" /> {row.text}
        </Text>
      ))}
      <Text size="sm" c="dimmed" role="status">
        {isFetching ? 'Reading…' : `${count(rows.length)} shown`}
      </Text>
      {hasNextPage && (
        <Group>
          <Button size="compact-xs" variant="default" onClick={() => void fetchNextPage()}>
            Show more
          </Button>
        </Group>
      )}
    </Stack>
  )
}

/**
 * A search that looked at as many events as one page may: how far it came, and how it goes on. As long as it has found
 * nothing it goes on by itself.
 */
import { Alert, Button, Group, Text } from '@mantine/core'
import { useEffect, useState } from 'react'
import { SCANNED_MAX } from '../../../schemas/read-bounds.ts'
import { count, moment } from '../../lib/time.ts'
import { useNow } from '../../parts/use-now.ts'
import type { Timeline } from './use-timeline.ts'

/** Pages that are asked for without being told to: a million events. */
const BY_ITSELF = 10

export function SearchStopped({
  timeline: { rows, searchedTo, stops, isFetchingMore, loadMore },
}: {
  timeline: Timeline
}) {
  const now = useNow()
  const [isStopped, setStopped] = useState(false)
  const goesOn = searchedTo !== null && rows.length === 0 && stops < BY_ITSELF && !isStopped
  useEffect(() => {
    if (goesOn && !isFetchingMore) loadMore()
  }, [goesOn, isFetchingMore, loadMore])
  if (searchedTo === null) return null
  return (
    <Alert
      color={goesOn ? 'blue' : 'yellow'}
      title={goesOn ? 'Searching further back' : 'The search stopped before the start of the window'}
      style={{ flex: 'none' }}
    >
      <Group gap="sm">
        <Text size="sm" role="status">
          Searched {count(stops * SCANNED_MAX)} events, back to {moment(Date.parse(searchedTo), now)}.
        </Text>
        {goesOn ? (
          <Button size="compact-xs" variant="default" onClick={() => setStopped(true)}>
            Stop
          </Button>
        ) : (
          <Button size="compact-xs" variant="default" loading={isFetchingMore} onClick={loadMore}>
            Search further back
          </Button>
        )}
      </Group>
    </Alert>
  )
}

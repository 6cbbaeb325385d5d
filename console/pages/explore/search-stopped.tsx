/** A search that looked at as many events as one page may: how far it came, and how it goes on. */
import { Alert, Button, Group, Text } from '@mantine/core'
import { moment } from '../../lib/time.ts'
import { useNow } from '../../parts/use-now.ts'
import type { Timeline } from './use-timeline.ts'

export function SearchStopped({
  timeline: { searchedTo, isFetchingMore, loadMore },
}: {
  timeline: Timeline
}) {
  const now = useNow()
  if (searchedTo === null) return null
  return (
    <Alert color="yellow" title="The search stopped before the start of the window" style={{ flex: 'none' }}>
      <Group gap="sm">
        <Text size="sm" role="status">
          Searched 100,000 events, back to {moment(Date.parse(searchedTo), now)}.
        </Text>
        <Button size="compact-xs" variant="default" loading={isFetchingMore} onClick={loadMore}>
          Search further back
        </Button>
      </Group>
    </Alert>
  )
}

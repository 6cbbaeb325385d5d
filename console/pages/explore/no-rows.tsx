/** What a timeline without rows says: how far a search came, or when there were events. */
import { Text } from '@mantine/core'
import { type ExploreState, emptyWords } from '../../lib/explore-state.ts'
import { Empty } from '../../parts/states.tsx'
import { When } from '../../parts/when.tsx'
import type { Timeline } from './use-timeline.ts'

export function NoRows({ state, timeline }: { state: ExploreState; timeline: Timeline }) {
  if (timeline.searchedTo !== null) return <Empty title="Nothing found so far" />
  // The notice above says it.
  if (timeline.notice !== null) return null
  return (
    <Empty title="No events in this window">
      <Text c="dimmed">
        {emptyWords(state)}
        {timeline.lastSeen !== null && (
          <>
            {' '}
            The newest {Object.keys(state.selector).length > 0 ? 'with these labels' : 'of these sources'} was{' '}
            <When at={timeline.lastSeen} />.
          </>
        )}
      </Text>
    </Empty>
  )
}

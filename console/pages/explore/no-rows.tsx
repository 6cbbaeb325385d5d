/** What a timeline without rows says: how far a search came, or when there were events. */
import { Text } from '@mantine/core'
import type { ExploreState } from '../../lib/explore-state.ts'
import { Empty } from '../../parts/states.tsx'
import { When } from '../../parts/when.tsx'
import type { Timeline } from './use-timeline.ts'

export function NoRows({ state, timeline }: { state: ExploreState; timeline: Timeline }) {
  if (timeline.searchedTo !== null) return <Empty title="Nothing found so far" />
  // The notice above says it.
  if (timeline.notice !== null) return null
  const isFiltered = state.text !== '' || state.types.length > 0 || state.sources.length > 0
  return (
    <Empty title="No events in this window">
      <Text c="dimmed">
        {isFiltered
          ? 'Nothing matches these filters; remove one'
          : 'Nothing with these labels happened then; choose a longer range'}
        {state.live ? ', or wait: new events appear here.' : '.'}
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

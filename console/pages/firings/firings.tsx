/** All firings, narrowed by trigger, project, state, key and time; the address holds the filters. */
import { Stack } from '@mantine/core'
import { useSearchParams } from 'react-router'
import { FIRING_STATES, readFiringFilter, timesFor } from '../../lib/work-filters.ts'
import { FilterBar } from '../../parts/filter-bar.tsx'
import { PROJECTS, TRIGGERS } from '../../parts/words-read.ts'
import { FiringList } from './firing-list.tsx'

/** Where no incident is opened, too. */
export function Firings() {
  const [address] = useSearchParams()
  const { query, since } = readFiringFilter(address)
  const isNarrowed = since !== '' || Object.keys(query).length > 0
  return (
    <Stack gap="sm">
      <FilterBar
        filters={[
          { name: 'trigger', label: 'Trigger', all: 'All triggers', data: TRIGGERS },
          { name: 'project', label: 'Project', all: 'All projects', data: PROJECTS },
          { name: 'state', label: 'State', all: 'Any state', data: FIRING_STATES },
          { name: 'key', label: 'Entity', placeholder: 'Whole value: checkout', width: 200 },
          { name: 'since', label: 'Time', data: timesFor(since, Date.now()), always: '' },
        ]}
        values={{ ...query, since }}
        isNarrowed={isNarrowed}
        keeps={['tab']}
      />
      <FiringList query={query} since={since} isNarrowed={isNarrowed} />
    </Stack>
  )
}

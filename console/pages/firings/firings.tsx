/** All firings, narrowed by trigger, project, state, key and time; the address holds the filters. */
import { Stack } from '@mantine/core'
import { useSearchParams } from 'react-router'
import { FIRING_STATES, readFiringFilter, SINCE } from '../../lib/work-filters.ts'
import { FilterBar } from '../../parts/filter-bar.tsx'
import { PROJECTS, TRIGGERS } from '../../parts/words-read.ts'
import { FiringList } from './firing-list.tsx'

const SINCE_WORDS: Record<string, string> = {
  '1h': 'the last hour',
  '24h': 'the last 24 hours',
  '7d': 'the last 7 days',
  '30d': 'the last 30 days',
}

const TIMES = [{ value: '', label: 'all' }, ...SINCE.map((value) => ({ value, label: SINCE_WORDS[value]! }))]

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
          { name: 'since', label: 'Time', data: TIMES, always: '' },
        ]}
        values={{ ...query, since }}
        isNarrowed={isNarrowed}
        keeps={['tab']}
      />
      <FiringList query={query} since={since} isNarrowed={isNarrowed} />
    </Stack>
  )
}

/** Every run of an agent, narrowed by status, agent, project and entity; the address holds the filters. */
import { Button, Stack, Switch } from '@mantine/core'
import { Link, useSearchParams } from 'react-router'
import { RUN_OUTCOMES, RUN_STATUSES, readRunFilter, withFilter } from '../../lib/run-filters.ts'
import { timesFor } from '../../lib/work-filters.ts'
import { FilterBar } from '../../parts/filter-bar.tsx'
import { PageHead } from '../../parts/page.tsx'
import { AGENTS, PROJECTS } from '../../parts/words-read.ts'
import { RunList } from './run-list.tsx'

export default function RunsPage() {
  const [address, setAddress] = useSearchParams()
  const { query, offset, isNarrowed } = readRunFilter(address)
  const set = (name: string, value: string | null) =>
    setAddress((now) => withFilter(now, name, value), { replace: true })
  return (
    <>
      <PageHead title="Runs">
        <Button component={Link} to="/evals" variant="default" size="xs">
          Evals
        </Button>
      </PageHead>
      <Stack gap="sm">
        <FilterBar
          filters={[
            { name: 'status', label: 'Status', all: 'Any status', data: RUN_STATUSES },
            { name: 'outcome', label: 'Outcome', all: 'Any outcome', data: RUN_OUTCOMES },
            { name: 'agent', label: 'Agent', all: 'All agents', data: AGENTS },
            { name: 'project', label: 'Project', all: 'All projects', data: PROJECTS },
            { name: 'entity', label: 'Entity', placeholder: 'Whole value: checkout', width: 200 },
            { name: 'since', label: 'Ended', data: timesFor(query.since ?? '', Date.now()), always: '' },
          ]}
          values={query}
          isNarrowed={isNarrowed}
          after={
            <Switch
              size="sm"
              mb={6}
              label="Practice runs too"
              checked={query.practice !== false}
              onChange={(event) => set('practice', event.currentTarget.checked ? '1' : null)}
            />
          }
        />
        <RunList
          query={query}
          offset={offset}
          onOffset={(to) => set('offset', String(to))}
          isNarrowed={isNarrowed}
        />
      </Stack>
    </>
  )
}

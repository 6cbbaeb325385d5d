/** Every run of an agent, narrowed by status, agent, project and entity; the address holds the filters. */
import { Button, Group, Stack, Switch, TextInput } from '@mantine/core'
import { useDebouncedCallback } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { Search } from 'lucide-react'
import { useEffect, useState } from 'react'
import { Link, useSearchParams } from 'react-router'
import { declared, dkeys } from '../../declared-client.ts'
import { RUN_STATUSES, readRunFilter, withFilter } from '../../lib/run-filters.ts'
import { useStillHere } from '../../lib/use-still-here.ts'
import { PageHead } from '../../parts/page.tsx'
import { WordSelect } from '../../parts/word-select.tsx'
import { RunList } from './run-list.tsx'

export default function RunsPage() {
  const [address, setAddress] = useSearchParams()
  const { query, offset, isNarrowed } = readRunFilter(address)
  const agents = useQuery({ queryKey: dkeys.agents, queryFn: () => declared.agents() })
  const projects = useQuery({ queryKey: dkeys.projects, queryFn: declared.projects })
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
        <Group gap="sm" align="flex-end">
          <WordSelect
            label="Status"
            all="Any status"
            data={RUN_STATUSES}
            value={query.status}
            onChange={(value) => set('status', value)}
          />
          <WordSelect
            label="Agent"
            all="All agents"
            data={(agents.data?.agents ?? []).map(({ name }) => name)}
            value={query.agent}
            onChange={(value) => set('agent', value)}
          />
          <WordSelect
            label="Project"
            all="All projects"
            data={(projects.data ?? []).map(({ id, name }) => ({ value: id, label: name }))}
            value={query.project}
            onChange={(value) => set('project', value)}
          />
          <Entity value={address.get('entity') ?? ''} onChange={(value) => set('entity', value)} />
          <Switch
            size="sm"
            mb={6}
            label="Practice runs too"
            checked={query.practice !== false}
            onChange={(event) => set('practice', event.currentTarget.checked ? '1' : null)}
          />
          {isNarrowed && (
            <Button size="xs" variant="default" onClick={() => setAddress({}, { replace: true })}>
              Clear filters
            </Button>
          )}
        </Group>
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

/** The address follows when the typing pauses. */
function Entity({ value, onChange }: { value: string; onChange: (value: string) => void }) {
  const [text, setText] = useState(value)
  useEffect(() => setText(value), [value])
  const isHere = useStillHere()
  const settle = useDebouncedCallback((value: string) => {
    if (isHere()) onChange(value)
  }, 300)
  return (
    <TextInput
      size="xs"
      label="Entity"
      placeholder="Whole value: checkout"
      leftSection={<Search size={13} aria-hidden />}
      value={text}
      onChange={(event) => {
        setText(event.currentTarget.value)
        settle(event.currentTarget.value)
      }}
      w={200}
    />
  )
}

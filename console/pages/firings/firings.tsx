/** All firings, narrowed by trigger, project, state, key and time; the address holds the filters. */
import { Button, Group, Select, Stack, TextInput } from '@mantine/core'
import { useDebouncedCallback } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { Search } from 'lucide-react'
import { useEffect, useState } from 'react'
import { useSearchParams } from 'react-router'
import { declared, dkeys } from '../../declared-client.ts'
import { useStillHere } from '../../lib/use-still-here.ts'
import { FIRING_STATES, readFiringFilter, SINCE, withWord } from '../../lib/work-filters.ts'
import { WordSelect } from '../../parts/word-select.tsx'
import { FiringList } from './firing-list.tsx'

const SINCE_WORDS: Record<string, string> = {
  '1h': 'the last hour',
  '24h': 'the last 24 hours',
  '7d': 'the last 7 days',
  '30d': 'the last 30 days',
}

/** Where no incident is opened, too. */
export function Firings() {
  const [address, setAddress] = useSearchParams()
  const { query, since } = readFiringFilter(address)
  const triggers = useQuery({ queryKey: dkeys.triggers, queryFn: declared.triggers })
  const projects = useQuery({ queryKey: dkeys.projects, queryFn: declared.projects })
  const set = (name: string, value: string | null) =>
    setAddress((now) => withWord(now, name, value), { replace: true })
  const isNarrowed = since !== '' || Object.keys(query).length > 0
  return (
    <Stack gap="sm">
      <Group gap="sm" align="flex-end">
        <WordSelect
          label="Trigger"
          all="All triggers"
          data={(triggers.data ?? []).map(({ name }) => name)}
          value={query.trigger}
          onChange={(value) => set('trigger', value)}
        />
        <WordSelect
          label="Project"
          all="All projects"
          data={(projects.data ?? []).map(({ id, name }) => ({ value: id, label: name }))}
          value={query.project}
          onChange={(value) => set('project', value)}
        />
        <WordSelect
          label="State"
          all="Any state"
          data={FIRING_STATES}
          value={query.state}
          onChange={(value) => set('state', value)}
        />
        <Key value={address.get('key') ?? ''} onChange={(value) => set('key', value)} />
        <Select
          size="xs"
          label="Time"
          data={[
            { value: '', label: 'all' },
            ...SINCE.map((value) => ({ value, label: SINCE_WORDS[value]! })),
          ]}
          value={since}
          onChange={(value) => set('since', value)}
          allowDeselect={false}
          w={150}
        />
        {isNarrowed && (
          <Button
            size="xs"
            variant="default"
            onClick={() => setAddress({ tab: 'firings' }, { replace: true })}
          >
            Clear filters
          </Button>
        )}
      </Group>
      <FiringList query={query} since={since} isNarrowed={isNarrowed} />
    </Stack>
  )
}

/** The address follows when the typing pauses. */
function Key({ value, onChange }: { value: string; onChange: (value: string) => void }) {
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

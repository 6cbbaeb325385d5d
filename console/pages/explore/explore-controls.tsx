/** What of a timeline is shown: its text, time, sources, types and grouping. In a small window all but the time is behind a button. */
import { Button, Group, MultiSelect, SegmentedControl, Switch, TextInput } from '@mantine/core'
import { useDebouncedCallback, useMediaQuery } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { Search, SlidersHorizontal } from 'lucide-react'
import { useEffect, useMemo, useState } from 'react'
import { api, keys } from '../../client.ts'
import { compareNames } from '../../lib/by-name.ts'
import { type ExploreState, type Group as Grouping, RANGES, shownSpan } from '../../lib/explore-state.ts'
import { fromLocalInput, toLocalInput } from '../../lib/time.ts'
import { useStillHere } from '../../lib/use-still-here.ts'
import { cutWords, SOURCES_MAX } from './pick-one.tsx'
import type { Timeline } from './use-timeline.ts'

interface Asked {
  state: ExploreState
  change: (next: Partial<ExploreState>) => void
}

/** A phone, or a window that is enlarged to twice its size: there the filters would leave no room for what they show. */
const SMALL = '(max-width: 700px), (max-height: 600px)'

export function Controls({ state, change, timeline }: Asked & { timeline: Timeline }) {
  const isSmall = useMediaQuery(SMALL, undefined, { getInitialValueInEffect: false }) ?? false
  const set = setOf(state)
  const [isOpen, setOpen] = useState(false)
  const filters = <Filters state={state} change={change} timeline={timeline} />
  return (
    <Group gap="sm" align="flex-end">
      <TimeRange state={state} change={change} />
      {isSmall && (
        <Button
          size="xs"
          variant="default"
          leftSection={<SlidersHorizontal size={14} aria-hidden />}
          aria-expanded={isOpen}
          onClick={() => setOpen(!isOpen)}
        >
          {set > 0 ? `Filters: ${set}` : 'Filters'}
        </Button>
      )}
      {/* Beside the button, the chosen sources would push it down. */}
      {isSmall
        ? isOpen && (
            <Group gap="sm" align="flex-end" w="100%">
              {filters}
            </Group>
          )
        : filters}
    </Group>
  )
}

/** How many of the filters say another thing than at first: a folded one must not hide that rows are left out. */
const setOf = ({ sources, types, group, live, asOf }: ExploreState): number =>
  [sources.length > 0, types.length > 0, group !== 'none', live, asOf !== null].filter(Boolean).length

function Filters({ state, change, timeline }: Asked & { timeline: Timeline }) {
  return (
    <>
      <Picked state={state} change={change} timeline={timeline} />
      <SegmentedControl
        size="xs"
        aria-label="Group by"
        value={state.group}
        onChange={(value) => change({ group: value as Grouping })}
        data={[
          { value: 'none', label: 'Flat' },
          { value: 'source', label: 'Source' },
          { value: 'type', label: 'Type' },
          { value: 'minute', label: 'Minute' },
        ]}
      />
      <Switch
        size="sm"
        label="Live"
        checked={state.live}
        disabled={state.asOf !== null || state.from !== null}
        onChange={(event) => change({ live: event.currentTarget.checked })}
      />
      <TextInput
        size="xs"
        type="datetime-local"
        step={1}
        label="As of"
        title="As of: ignore events stored later"
        value={state.asOf ? toLocalInput(state.asOf) : ''}
        onChange={(event) => change({ asOf: fromLocalInput(event.currentTarget.value), live: false })}
      />
    </>
  )
}

/** Of the entity, or of all events where none is chosen. */
export function TextSearch({ state, change }: Asked) {
  const [text, setText] = useState(state.text)
  const isHere = useStillHere()
  const search = useDebouncedCallback((value: string) => {
    if (isHere()) change({ text: value })
  }, 300)
  useEffect(() => {
    setText(state.text)
    if (!state.text) search.cancel()
  }, [state.text, search])
  return (
    <TextInput
      label="Text"
      description="In the events of all entities, or of the chosen one"
      aria-label="Text"
      placeholder="Text contains"
      leftSection={<Search size={14} aria-hidden />}
      value={text}
      onChange={(event) => {
        setText(event.currentTarget.value)
        search(event.currentTarget.value)
      }}
    />
  )
}

/** The sources and types of what is shown. */
function Picked({ state, change, timeline }: Asked & { timeline: Timeline }) {
  const types = useMemo(
    () =>
      [...new Set([...state.types, ...timeline.rows.slice(0, 5_000).map((row) => row.event_type)])].sort(
        compareNames,
      ),
    [state.types, timeline.rows],
  )
  const sources = useQuery({ queryKey: keys.sources, queryFn: api.sources })
  const names = [...new Set([...state.sources, ...(sources.data ?? []).map((source) => source.name)])]
  return (
    <>
      <MultiSelect
        size="xs"
        aria-label="Sources"
        // A read of all of them would be refused.
        maxValues={SOURCES_MAX}
        description={cutWords(state.sources.length, names.length)}
        placeholder={state.sources.length ? '' : 'All sources'}
        data={names}
        value={state.sources}
        onChange={(value) => change({ sources: value })}
        clearable
        searchable
        w={180}
        // Long names are cut there.
        wrapperProps={{ title: state.sources.join(', ') }}
        clearButtonProps={{ 'aria-label': 'Clear sources' }}
      />
      <MultiSelect
        size="xs"
        aria-label="Event types"
        placeholder={state.types.length ? '' : 'All types'}
        data={types}
        value={state.types}
        onChange={(value) => change({ types: value })}
        clearable
        searchable
        w={180}
        wrapperProps={{ title: state.types.join(', ') }}
        clearButtonProps={{ 'aria-label': 'Clear types' }}
      />
    </>
  )
}

function TimeRange({ state, change }: Asked) {
  return (
    <>
      <SegmentedControl
        size="xs"
        aria-label="Time range"
        value={state.from ? 'custom' : (state.window ?? '1h')}
        onChange={(value) =>
          value === 'custom'
            ? change({ ...shownSpan(state, Date.now()), window: null, live: false })
            : change({ window: value, from: null, to: null })
        }
        data={[...RANGES, { value: 'custom', label: 'Custom' }]}
      />
      {state.from && (
        <>
          <TextInput
            size="xs"
            type="datetime-local"
            step={1}
            label="From"
            value={toLocalInput(state.from)}
            onChange={(event) => change({ from: fromLocalInput(event.currentTarget.value) ?? state.from })}
          />
          <TextInput
            size="xs"
            type="datetime-local"
            step={1}
            label="To"
            value={state.to ? toLocalInput(state.to) : ''}
            onChange={(event) => change({ to: fromLocalInput(event.currentTarget.value) })}
          />
        </>
      )}
    </>
  )
}

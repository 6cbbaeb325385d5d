/** One entity's timeline, merged across sources. The address holds the whole view. */
import {
  Alert,
  Button,
  Group,
  Kbd,
  Modal,
  MultiSelect,
  Paper,
  SegmentedControl,
  Stack,
  Switch,
  Table,
  Text,
  TextInput,
} from '@mantine/core'
import { useDebouncedCallback } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { Search } from 'lucide-react'
import { useEffect, useMemo, useRef, useState } from 'react'
import { Link, useSearchParams } from 'react-router'
import { api, keys } from '../../client.ts'
import { compareNames } from '../../lib/by-name.ts'
import {
  type ExploreState,
  type Group as Grouping,
  isChosen,
  RANGES,
  readState,
  shownSpan,
  writeState,
} from '../../lib/explore-state.ts'
import { usePageKeys } from '../../lib/page-keys.ts'
import { count, fromLocalInput, toLocalInput } from '../../lib/time.ts'
import { useStillHere } from '../../lib/use-still-here.ts'
import { AskAbout } from '../../parts/ask-about.tsx'
import { CopyIcon } from '../../parts/copy.tsx'
import { PageHead } from '../../parts/page.tsx'
import { Failed, LoadingRows } from '../../parts/states.tsx'
import { useNow } from '../../parts/use-now.ts'
import { DensityStrip } from './density-strip.tsx'
import { EntityPicker } from './entity-picker.tsx'
import { EventRow } from './event-row.tsx'
import { NoRows } from './no-rows.tsx'
import { cutWords, PickOne, SOURCES_MAX } from './pick-one.tsx'
import { SearchStopped } from './search-stopped.tsx'
import { TimelineList } from './timeline-list.tsx'
import { questionOf, type Timeline, useTimeline } from './use-timeline.ts'

const SHORTCUTS: [string, string][] = [
  ['/', 'Search an entity'],
  ['j, k', 'Next and previous event'],
  ['Enter', 'Open or close the payload'],
  ['l', 'Live on and off'],
  ['?', 'This help'],
]

export default function ExplorePage() {
  const [query, setQuery] = useSearchParams()
  const state = useMemo(() => readState(query), [query])
  const change = (next: Partial<ExploreState>, replace = true) =>
    setQuery(writeState({ ...state, ...next }), { replace })
  const timeline = useTimeline(state)
  const [help, setHelp] = useState(false)
  /** The span that was shown before one was brushed. */
  const before = useRef<Pick<ExploreState, 'from' | 'to' | 'window'> | null>(null)
  // A window that was chosen since is not given up for an older one.
  if (state.from === null) before.current = null
  const chosen = isChosen(state)
  usePageKeys([
    ['/', () => document.querySelector<HTMLElement>('[data-entity-search]')?.focus()],
    ['l', () => change({ live: !state.live })],
    ['shift+?', () => setHelp(true)],
  ])
  // Back leads to what it was chosen from.
  const addLabel = (name: string, value: string) =>
    change({ selector: { ...state.selector, [name]: value } }, false)
  return (
    <Stack
      gap="sm"
      style={{
        height: 'calc(100dvh - 52px - 2 * var(--mantine-spacing-md) - var(--banner, 0px))',
        minHeight: 560,
      }}
    >
      <PageHead title="Explore">
        {chosen && <AskAbout size="xs" question={questionOf(state)} />}
        <Button component={Link} to="/traces" size="xs" variant="default">
          Traces
        </Button>
        <CopyIcon value={window.location.href} label="Copy a link to this view" isHidden />
        <Button
          size="xs"
          variant="default"
          onClick={() => setHelp(true)}
          rightSection={<Kbd size="xs">?</Kbd>}
        >
          Shortcuts
        </Button>
      </PageHead>
      <div className="explore-asked">
        <EntityPicker value={state.selector} onChange={(selector) => change({ selector })} />
        <TextSearch state={state} change={change} />
      </div>
      {chosen ? (
        <>
          <Controls state={state} change={change} timeline={timeline} />
          <DensityStrip
            state={state}
            stamp={timeline.stamp}
            onZoom={(from, to) => {
              before.current ??= { from: state.from, to: state.to, window: state.window }
              change({ from, to, window: null, live: false })
            }}
            onReset={
              state.from === null
                ? undefined
                : () => {
                    change(before.current ?? { from: null, to: null, window: '1h' })
                    before.current = null
                  }
            }
          />
          <Rows state={state} timeline={timeline} onLabel={addLabel} />
        </>
      ) : (
        <PickOne
          allSince={query.get('all') && (state.from ?? '1970')}
          onPick={addLabel}
          onSources={(sources, isFound) => change({ sources }, isFound)}
        />
      )}
      <Modal opened={help} onClose={() => setHelp(false)} title="Shortcuts" centered>
        <Table>
          <Table.Tbody>
            {SHORTCUTS.map(([key, what]) => (
              <Table.Tr key={key}>
                <Table.Td>
                  <Kbd>{key}</Kbd>
                </Table.Td>
                <Table.Td>{what}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Modal>
    </Stack>
  )
}

function Controls({
  state,
  change,
  timeline,
}: {
  state: ExploreState
  change: (next: Partial<ExploreState>) => void
  timeline: Timeline
}) {
  return (
    <Group gap="sm" align="flex-end">
      <TimeRange state={state} change={change} />
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
    </Group>
  )
}

/** Of the entity, or of all events where none is chosen. */
function TextSearch({
  state,
  change,
}: {
  state: ExploreState
  change: (next: Partial<ExploreState>) => void
}) {
  const [text, setText] = useState(state.text)
  useEffect(() => setText(state.text), [state.text])
  const isHere = useStillHere()
  const search = useDebouncedCallback((value: string) => {
    if (isHere()) change({ text: value })
  }, 300)
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
function Picked({
  state,
  change,
  timeline,
}: {
  state: ExploreState
  change: (next: Partial<ExploreState>) => void
  timeline: Timeline
}) {
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

function TimeRange({
  state,
  change,
}: {
  state: ExploreState
  change: (next: Partial<ExploreState>) => void
}) {
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

function Rows({
  state,
  timeline,
  onLabel,
}: {
  state: ExploreState
  timeline: Timeline
  onLabel: (name: string, value: string) => void
}) {
  const now = useNow()
  const [open, setOpen] = useState<string | null>(null)
  if (timeline.isPending) return <LoadingRows rows={10} />
  if (timeline.error) return <Failed what="the timeline" error={timeline.error} onRetry={timeline.reload} />
  return (
    <>
      {timeline.missed > 0 && (
        <Alert
          color="yellow"
          title={`${count(timeline.missed)} live events were skipped`}
          style={{ flex: 'none' }}
        >
          They are stored; this view was too slow to show them as they came.{' '}
          <Button size="compact-xs" variant="default" onClick={timeline.reload}>
            Read them
          </Button>
        </Alert>
      )}
      <ReadTogether timeline={timeline} />
      {timeline.notice !== null && timeline.searchedTo === null && <Notice said={timeline.notice} />}
      {timeline.references.length > 0 && (
        <Paper
          withBorder
          radius="md"
          style={{ overflow: 'hidden', flex: 'none', maxHeight: 180, overflowY: 'auto' }}
          aria-label="Reference documents"
          role="group"
        >
          {timeline.references.map((row) => (
            <EventRow
              key={row.id}
              event={row}
              now={now}
              open={open === row.id}
              active={false}
              onToggle={() => setOpen(open === row.id ? null : row.id)}
            />
          ))}
        </Paper>
      )}
      <SearchStopped key={state.text} timeline={timeline} />
      {timeline.rows.length === 0 ? (
        <NoRows state={state} timeline={timeline} />
      ) : (
        <TimelineList first={state.event} timeline={timeline} group={state.group} onLabel={onLabel} />
      )}
    </>
  )
}

/** Other names of the same thing, whose events are among the rows. */
const ReadTogether = ({ timeline: { joined } }: { timeline: Timeline }) =>
  joined
    .filter(({ names }) => names.length > 1)
    .map(({ entity, names }) => (
      <Text key={entity} size="sm" c="dimmed" style={{ flex: 'none' }}>
        Names of <Link to={`/entities/${encodeURIComponent(entity)}`}>{entity}</Link>, read together:{' '}
        <span className="mono">{names.join(', ')}</span>
      </Text>
    ))

/** A label that no event has looks like silence otherwise. */
const Notice = ({ said }: { said: string }) => (
  <Alert color="yellow" role="status" style={{ flex: 'none' }}>
    {said.charAt(0).toUpperCase() + said.slice(1)}.
  </Alert>
)

/** One entity's timeline, merged across sources. The address holds the whole view. */
import { Alert, Button, Kbd, Modal, Paper, Stack, Table, Text } from '@mantine/core'
import { useMemo, useRef, useState } from 'react'
import { Link, useSearchParams } from 'react-router'
import { type ExploreState, isChosen, readState, writeState } from '../../lib/explore-state.ts'
import { usePageKeys } from '../../lib/page-keys.ts'
import { count } from '../../lib/time.ts'
import { useIsPhone } from '../../lib/use-is-phone.ts'
import { AskAbout } from '../../parts/ask-about.tsx'
import { CopyIcon } from '../../parts/copy.tsx'
import { PageHead } from '../../parts/page.tsx'
import { Failed, LoadingRows } from '../../parts/states.tsx'
import { useNow } from '../../parts/use-now.ts'
import { DensityStrip } from './density-strip.tsx'
import { EntityPicker } from './entity-picker.tsx'
import { EventRow } from './event-row.tsx'
import { Controls, TextSearch } from './explore-controls.tsx'
import { NoRows } from './no-rows.tsx'
import { PickOne } from './pick-one.tsx'
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
  const isPhone = useIsPhone()
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
        {!isPhone && (
          <Button
            size="xs"
            variant="default"
            onClick={() => setHelp(true)}
            rightSection={<Kbd size="xs">?</Kbd>}
          >
            Shortcuts
          </Button>
        )}
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

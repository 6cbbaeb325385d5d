/** Incidents: those to be worked, those handled, all firings, and maintenance; the address holds tab and filters. */
import { Button, Group, Select, Stack, Text, TextInput } from '@mantine/core'
import { useDebouncedCallback } from '@mantine/hooks'
import { Search } from 'lucide-react'
import { type KeyboardEvent, Suspense, useEffect, useState } from 'react'
import { Link, useSearchParams } from 'react-router'
import type { Incident } from '../../../schemas/types.ts'
import { ACTED_MAX, type IncidentQuery, ikeys, incidents, SELECTED_MAX } from '../../incident-client.ts'
import { lazyFrom } from '../../lib/chunks.ts'
import { isOutermost } from '../../lib/escape.ts'
import { count } from '../../lib/time.ts'
import { useFilters } from '../../lib/use-filters.ts'
import { useStillHere } from '../../lib/use-still-here.ts'
import { instantOf, readSince, timesFor } from '../../lib/work-filters.ts'
import { IncidentList } from '../../parts/incident-list.tsx'
import { HANDLED_KEYS, KeysHelp, KeysHint, SELECTION_KEYS } from '../../parts/keys-help.tsx'
import { useMay } from '../../parts/may.tsx'
import { Older } from '../../parts/older.tsx'
import { PageHead } from '../../parts/page.tsx'
import { PageTabs } from '../../parts/page-tabs.tsx'
import { RowCheckbox } from '../../parts/row-checkbox.tsx'
import { Empty, Failed, LoadingRows } from '../../parts/states.tsx'
import { usePages } from '../../parts/use-pages.ts'
import { useSelection } from '../../parts/use-selection.ts'
import { WordSelect } from '../../parts/word-select.tsx'
import { Firings } from '../firings/firings.tsx'
import { InMaintenance } from './in-maintenance.tsx'

const MaintenanceTab = lazyFrom(() => import('../maintenance/maintenance-tab.tsx'))('MaintenanceTab')
const SelectionBar = lazyFrom(() => import('../../parts/selection-bar.tsx'))('SelectionBar')

const TABS = [
  { value: 'open', label: 'Open', content: <Listed isHandled={false} /> },
  { value: 'handled', label: 'Handled', content: <Listed isHandled /> },
  { value: 'firings', label: 'All firings', content: <Firings /> },
  {
    value: 'maintenance',
    label: 'Maintenance',
    content: (
      <Suspense fallback={<LoadingRows />}>
        <MaintenanceTab />
      </Suspense>
    ),
  },
]
const STATES = [
  ...(['open', 'acknowledged', 'snoozed'] as const).map((value) => ({ value, label: value })),
  { value: 'all' as const, label: 'any, handled too' },
]
const SEVERITIES = ['critical', 'warning', 'info'] as const

/** What the address asks for; since when, as `readSince` gives it: the same for as long as the address is. */
type Asked = IncidentQuery & { since?: string }

const sentOf = ({ since = '', ...query }: Asked): IncidentQuery => ({
  ...query,
  ...(since ? { opened_since: instantOf(since, Date.now()) } : {}),
})

export default function IncidentsPage() {
  const [address] = useSearchParams()
  const tab = address.get('tab')
  return (
    <>
      <PageHead title="Incidents" />
      <PageTabs tabs={TABS} />
      {tab !== 'firings' && tab !== 'maintenance' && (
        <KeysHelp keys={tab === 'handled' ? HANDLED_KEYS : SELECTION_KEYS} />
      )}
    </>
  )
}

function Listed({ isHandled }: { isHandled: boolean }) {
  const may = useMay('respond')
  const [address, set] = useFilters()
  const state = STATES.find(({ value }) => value === address.get('state'))?.value
  const severity = SEVERITIES.find((value) => value === address.get('severity'))
  const q = address.get('q') ?? ''
  const since = isHandled ? '' : readSince(address)
  const query: Asked = {
    state: isHandled ? 'handled' : (state ?? 'active'),
    ...(severity ? { severity } : {}),
    ...(q ? { q } : {}),
    ...(since ? { since } : {}),
  }
  const list = usePages(ikeys.list(query), (before) => incidents.list(sentOf(query), before))
  const rows = list.pages?.flatMap((page) => page.incidents)
  const counts = list.pages?.[0]?.counts
  return (
    <Stack gap="sm" maw={1400}>
      {!isHandled && <InMaintenance />}
      <Group gap="sm" align="flex-end">
        <Words value={q} onChange={(value) => set('q', value)} />
        {!isHandled && (
          <WordSelect
            label="State"
            all="Not handled"
            data={STATES}
            value={state}
            onChange={(value) => set('state', value)}
          />
        )}
        <WordSelect
          label="Severity"
          all="Any severity"
          data={[...SEVERITIES]}
          value={severity}
          onChange={(value) => set('severity', value)}
        />
        {!isHandled && (
          <Select
            size="xs"
            label="Opened"
            data={timesFor(since, Date.now())}
            value={since}
            onChange={(value) => set('since', value)}
            allowDeselect={false}
            w={150}
          />
        )}
        {counts && !isHandled && (
          <Text size="sm" c="dimmed" role="status">
            {count(counts.open.critical + counts.open.warning + counts.open.info)} open,{' '}
            {count(counts.acknowledged)} acknowledged, {count(counts.snoozed)} snoozed
          </Text>
        )}
      </Group>
      {list.error && !rows ? (
        <Failed what="incidents" error={list.error} onRetry={list.reload} />
      ) : !rows ? (
        <LoadingRows />
      ) : rows.length === 0 ? (
        <None isHandled={isHandled} isNarrowed={Boolean(q || state || severity || since)} />
      ) : state === 'all' || !may ? (
        // Those that are handled take other acts than the rest: one at a time. Who may not act selects none.
        <section className="card" aria-label="Incidents">
          <IncidentList incidents={rows} label="Incidents" />
        </section>
      ) : (
        <Selectable
          // What is selected is of what is asked for.
          key={JSON.stringify(query)}
          rows={rows}
          query={query}
          hasMore={list.older !== null}
          isHandled={isHandled}
        />
      )}
      <Older list={list} label="Show more incidents" />
    </Stack>
  )
}

interface SelectableProps {
  rows: readonly Incident[]
  query: Asked
  hasMore: boolean
  isHandled: boolean
}

/** The list with what is done to those of it that are selected. */
function Selectable({ rows, query, hasMore, isHandled }: SelectableProps) {
  const selection = useSelection(rows)
  const { selected, isOn, add, remove, clear } = selection
  const areAllOn = rows.every(({ id }) => isOn(id))
  const leave = (event: KeyboardEvent) => {
    if (event.key === 'Escape' && isOutermost(event)) clear()
  }
  return (
    <section
      className="card"
      aria-label={isHandled ? 'Handled incidents' : 'Open incidents'}
      onKeyDown={leave}
    >
      <div className="card-head">
        <RowCheckbox
          label="Select all shown"
          checked={areAllOn || (selected.length > 0 && 'mixed')}
          onToggle={() => (areAllOn ? clear() : add(rows))}
        />
        {selected.length > 0 && (
          <Suspense fallback={null}>
            <SelectionBar
              selected={selected}
              isHandled={isHandled}
              onAll={hasMore ? async () => add(await readAll(query)) : null}
              onActed={remove}
              onClear={clear}
            />
          </Suspense>
        )}
        <KeysHint canSelect canAct={!isHandled} />
      </div>
      <IncidentList incidents={rows} label="Incidents" selection={selection} />
    </section>
  )
}

/** All that match, as far as many are acted on together. */
async function readAll(query: Asked): Promise<Incident[]> {
  const all: Incident[] = []
  let before: string | undefined
  do {
    const page = await incidents.list(sentOf(query), before, ACTED_MAX)
    all.push(...page.incidents)
    before = page.next_before ?? undefined
  } while (before !== undefined && all.length < SELECTED_MAX)
  return all.slice(0, SELECTED_MAX)
}

/** The address follows when the typing pauses. */
function Words({ value, onChange }: { value: string; onChange: (value: string) => void }) {
  const [text, setText] = useState(value)
  const isHere = useStillHere()
  const settle = useDebouncedCallback((next: string) => {
    if (isHere()) onChange(next)
  }, 300)
  useEffect(() => {
    setText(value)
    if (!value) settle.cancel()
  }, [value, settle])
  return (
    <TextInput
      size="xs"
      label="Search"
      placeholder="Headline, trigger, entity or #128"
      leftSection={<Search size={13} aria-hidden />}
      value={text}
      onChange={(event) => {
        setText(event.currentTarget.value)
        settle(event.currentTarget.value)
      }}
      w={260}
    />
  )
}

function None({ isHandled, isNarrowed }: { isHandled: boolean; isNarrowed: boolean }) {
  const title = isNarrowed
    ? 'No incidents match'
    : isHandled
      ? 'Nothing was handled yet'
      : 'No open incidents'
  return (
    <Empty title={title}>
      <Text c="dimmed" maw={540}>
        {isNarrowed
          ? 'Remove a filter to see more.'
          : isHandled
            ? 'Incidents that somebody handled, or that ended by themselves, are listed here.'
            : 'A firing of a trigger with a severity opens one.'}
      </Text>
      {!isNarrowed && !isHandled && (
        <Button component={Link} to="/triggers" variant="default">
          See triggers
        </Button>
      )}
    </Empty>
  )
}

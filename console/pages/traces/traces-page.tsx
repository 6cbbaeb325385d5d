/** Traces of a window, by what one of their spans is. The address holds the filters. */
import { Button, Group, Stack, Text } from '@mantine/core'
import { useInfiniteQuery } from '@tanstack/react-query'
import { Link, useSearchParams } from 'react-router'
import type { TraceSummary } from '../../../schemas/types.ts'
import { count } from '../../lib/time.ts'
import { readTraceQuery, TRACE_STATUSES, type TraceQuery, tookExactly, tracePath } from '../../lib/traces.ts'
import { useTab } from '../../lib/use-tab.ts'
import { withWord } from '../../lib/work-filters.ts'
import { Mark } from '../../parts/mark.tsx'
import { PageHead } from '../../parts/page.tsx'
import { PageTabs } from '../../parts/page-tabs.tsx'
import { Cell, Row, RowLink, Rows } from '../../parts/rows.tsx'
import { Empty, Failed, LoadingRows } from '../../parts/states.tsx'
import { When } from '../../parts/when.tsx'
import { WordSelect } from '../../parts/word-select.tsx'
import { tkeys, traces } from '../../trace-client.ts'
import { AgentsTab } from './agents-tab.tsx'
import { WindowSelect, Written } from './filters.tsx'
import { MetricsTab } from './metrics-tab.tsx'

const TABS = [
  { value: 'traces', label: 'Traces', content: <TracesTab /> },
  { value: 'metrics', label: 'Metrics', content: <MetricsTab /> },
  { value: 'agents', label: 'Agents in telemetry', content: <AgentsTab /> },
]

/** What OpenTelemetry sends: traces, metrics, and the agents of others; runs of svc are traces, too. */
export default function TracesPage() {
  const [tab] = useTab(TABS)
  return (
    <>
      <PageHead title={TABS.find(({ value }) => value === tab)!.label}>
        <Button component={Link} to="/explore" variant="default" size="xs">
          Explore
        </Button>
      </PageHead>
      <PageTabs tabs={TABS} />
    </>
  )
}

function TracesTab() {
  const [address, setAddress] = useSearchParams()
  const query = readTraceQuery(address)
  const set = (name: string, value: string | null) =>
    setAddress((now) => withWord(now, name, value), { replace: true })
  const isNarrowed = Object.keys(query).some((name) => name !== 'window')
  return (
    <Stack gap="sm">
      <Group gap="sm" align="flex-end">
        <Written label="Service" placeholder="checkout" name="service" query={query} onChange={set} />
        <Written label="Span name" placeholder="Part of it: /pay" name="name" query={query} onChange={set} />
        <WordSelect
          label="Failures"
          all="Any"
          data={TRACE_STATUSES}
          value={query.status}
          onChange={(value) => set('status', value)}
        />
        <Written
          label="At least"
          placeholder="250ms"
          name="min_duration"
          query={query}
          onChange={set}
          width={110}
        />
        <Written
          label="Attribute"
          placeholder="http.route=/pay"
          name="attribute"
          query={query}
          onChange={set}
        />
        <WindowSelect value={query.window ?? '1h'} onChange={(value) => set('window', value)} />
        {isNarrowed && (
          <Button
            size="xs"
            variant="default"
            onClick={() => setAddress(query.window ? { window: query.window } : {}, { replace: true })}
          >
            Clear filters
          </Button>
        )}
      </Group>
      <TraceList query={query} isNarrowed={isNarrowed} />
    </Stack>
  )
}

function TraceList({ query, isNarrowed }: { query: TraceQuery; isNarrowed: boolean }) {
  const { data, error, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } = useInfiniteQuery({
    queryKey: tkeys.list(query),
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam }) => traces.list(query, pageParam),
    getNextPageParam: (page) => page.next_to ?? undefined,
  })
  if (error) return <Failed what="traces" error={error} onRetry={() => void refetch()} />
  if (!data) return <LoadingRows />
  const rows = data.pages.flatMap((page) => page.traces)
  const lookedAt = data.pages.reduce((sum, page) => sum + page.looked_at, 0)
  const older = hasNextPage && (
    <Group>
      <Button variant="default" loading={isFetchingNextPage} onClick={() => void fetchNextPage()}>
        Older traces
      </Button>
    </Group>
  )
  if (rows.length === 0)
    return (
      <Empty title={isNarrowed ? 'No trace fits' : 'No traces in this window'}>
        <Text c="dimmed" maw={540}>
          {isNarrowed
            ? `${count(lookedAt)} ${lookedAt === 1 ? 'trace was' : 'traces were'} looked at. One span has to fit all that is asked for.`
            : 'A trace is made of the spans that OpenTelemetry sends, or is the run of an agent. Look further back, or add a source of OpenTelemetry.'}
        </Text>
        {isNarrowed ? (
          older
        ) : (
          <Button component={Link} to="/sources/new?connector=otlp" variant="default">
            Add OpenTelemetry
          </Button>
        )}
      </Empty>
    )
  return (
    <Stack gap="sm">
      <Rows
        label="Traces"
        columns={[
          { name: 'Trace', isHead: true },
          'Began',
          'Services',
          { name: 'Spans', isNumber: true },
          'Failed',
          { name: 'Duration', isNumber: true },
        ]}
      >
        {rows.map((trace) => (
          <TraceLine key={trace.id} trace={trace} />
        ))}
      </Rows>
      {older}
    </Stack>
  )
}

/** Services named in a list. */
const NAMED = 3

function TraceLine({ trace }: { trace: TraceSummary }) {
  const { id, name, service, services, spans, failed, duration_ms, began_at, run } = trace
  const more = services.length - NAMED
  return (
    <Row>
      <Cell>
        <RowLink
          to={tracePath(id)}
          label={run ? `${name}, run ${run.id}` : `${name}${service ? ` of ${service}` : ''}, trace ${id}`}
        >
          {name}
        </RowLink>{' '}
        {run && (
          <Mark tone={run.is_open ? 'busy' : 'quiet'}>
            {run.is_open ? 'Run of svc, at work' : 'Run of svc'}
          </Mark>
        )}
      </Cell>
      <Cell isWhole>
        <When at={began_at} />
      </Cell>
      <Cell>
        {services.slice(0, NAMED).join(', ')}
        {more > 0 && ` and ${more} more`}
      </Cell>
      <Cell>{count(spans)}</Cell>
      <Cell>{failed > 0 ? <Mark tone="bad">{`${count(failed)} failed`}</Mark> : '—'}</Cell>
      <Cell isWhole>{tookExactly(duration_ms)}</Cell>
    </Row>
  )
}

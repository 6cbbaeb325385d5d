/** Traces of a window, by what one of their spans is. The address holds the filters. */
import { Button, Group, Stack, Text } from '@mantine/core'
import { useInfiniteQuery } from '@tanstack/react-query'
import { Link, useSearchParams } from 'react-router'
import type { TraceSummary } from '../../../schemas/types.ts'
import { count } from '../../lib/time.ts'
import {
  readTraceQuery,
  TRACE_STATUSES,
  TRACE_WINDOWS,
  type TraceQuery,
  tookExactly,
  tracePath,
} from '../../lib/traces.ts'
import { useTab } from '../../lib/use-tab.ts'
import { FilterBar } from '../../parts/filter-bar.tsx'
import { Mark } from '../../parts/mark.tsx'
import { Acts } from '../../parts/may.tsx'
import { PageHead } from '../../parts/page.tsx'
import { PageTabs } from '../../parts/page-tabs.tsx'
import { Cell, Row, RowLink, Rows } from '../../parts/rows.tsx'
import { Empty, Failed, LoadingRows } from '../../parts/states.tsx'
import { When } from '../../parts/when.tsx'
import { tkeys, traces } from '../../trace-client.ts'
import { AgentsTab } from './agents-tab.tsx'
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
  const [address] = useSearchParams()
  const query = readTraceQuery(address)
  const isNarrowed = Object.keys(query).some((name) => name !== 'window')
  return (
    <Stack gap="sm">
      <FilterBar
        filters={[
          { name: 'service', label: 'Service', placeholder: 'checkout', isWhole: true },
          { name: 'name', label: 'Span name', placeholder: 'Part of it: /pay', isWhole: true },
          { name: 'status', label: 'Failures', all: 'Any', data: TRACE_STATUSES },
          { name: 'min_duration', label: 'At least', placeholder: '250ms', isWhole: true, width: 110 },
          { name: 'attribute', label: 'Attribute', placeholder: 'http.route=/pay', isWhole: true },
          { name: 'window', label: 'Window', data: TRACE_WINDOWS, always: '1h', width: 90 },
        ]}
        values={query}
        isNarrowed={isNarrowed}
        keeps={['tab', 'window']}
      />
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
      <Empty title={isNarrowed ? 'No matching traces' : 'No traces in this window'}>
        <Text c="dimmed" maw={540}>
          {isNarrowed
            ? `${count(lookedAt)} ${lookedAt === 1 ? 'trace was' : 'traces were'} looked at. One span has to match all filters.`
            : 'A trace is made of the spans that OpenTelemetry sends, or is the run of an agent. Look further back, or add a source of OpenTelemetry.'}
        </Text>
        {isNarrowed ? (
          older
        ) : (
          <Acts>
            <Button component={Link} to="/sources/new?connector=otlp" variant="default">
              Add OpenTelemetry
            </Button>
          </Acts>
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

/** Metrics as series by name and labels: what each did in a window, drawn, and told in a table. */
import { Alert, Box, Button, Group, SimpleGrid, Stack, Table, Text, VisuallyHidden } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { ChevronDown, ChevronRight } from 'lucide-react'
import { useId, useState } from 'react'
import { Link, useSearchParams } from 'react-router'
import type { MetricSeries, MetricSeriesResult } from '../../../schemas/types.ts'
import { clock, count } from '../../lib/time.ts'
import { figure, linePaths, type MetricQuery, readTraceQuery, TRACE_WINDOWS } from '../../lib/traces.ts'
import { Fact } from '../../parts/fact.tsx'
import { FilterBar } from '../../parts/filter-bar.tsx'
import { Acts } from '../../parts/may.tsx'
import { Below, Cell, Row, Rows } from '../../parts/rows.tsx'
import { Empty, Failed, LoadingRows } from '../../parts/states.tsx'
import { useNow } from '../../parts/use-now.ts'
import { tkeys, traces } from '../../trace-client.ts'

export function MetricsTab() {
  const [address] = useSearchParams()
  const { service, name, window } = readTraceQuery(address)
  const query: MetricQuery = {
    ...(service ? { service } : {}),
    ...(name ? { name } : {}),
    ...(window ? { window } : {}),
  }
  const isNarrowed = service !== undefined || name !== undefined
  return (
    <Stack gap="sm">
      <FilterBar
        filters={[
          { name: 'name', label: 'Metric', placeholder: 'Part of its name', isWhole: true, width: 220 },
          { name: 'service', label: 'Service', placeholder: 'checkout', isWhole: true },
          { name: 'window', label: 'Window', data: TRACE_WINDOWS, always: '1h', width: 90 },
        ]}
        values={query}
        isNarrowed={isNarrowed}
        keeps={['tab', 'window']}
      />
      <SeriesList query={query} isNarrowed={isNarrowed} />
    </Stack>
  )
}

function SeriesList({ query, isNarrowed }: { query: MetricQuery; isNarrowed: boolean }) {
  const { data, error, refetch } = useQuery({
    queryKey: tkeys.metrics(query),
    queryFn: () => traces.metrics(query),
  })
  if (error) return <Failed what="metrics" error={error} onRetry={() => void refetch()} />
  if (!data) return <LoadingRows />
  const { series, found, looked_at, is_cut } = data
  if (series.length === 0)
    return (
      <Empty title={isNarrowed ? 'No matching metrics' : 'No metrics in this window'}>
        <Text c="dimmed" maw={540}>
          {isNarrowed
            ? `${count(looked_at)} ${looked_at === 1 ? 'point was' : 'points were'} looked at.`
            : 'Metrics are points that OpenTelemetry sends. Look further back, or add a source of OpenTelemetry.'}
        </Text>
        {!isNarrowed && (
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
      {is_cut && (
        <Alert color="yellow" title="Not all points were checked">
          The newest {count(looked_at)} were. Give a name, a service or a shorter window.
        </Alert>
      )}
      <Rows
        label="Metrics"
        columns={[
          { name: 'Metric', isHead: true },
          'Service',
          'Over the window',
          { name: 'Latest', isNumber: true },
          { name: 'A second', isNumber: true },
          { name: 'Increase', isNumber: true },
          { name: 'Median', isNumber: true },
          { name: '95th percentile', isNumber: true },
        ]}
      >
        {series.map((one) => (
          <SeriesRows key={keyOf(one)} series={one} whole={data} isOpen={series.length === 1} />
        ))}
      </Rows>
      {found > series.length && (
        <Text size="sm" c="dimmed">
          {count(series.length)} of {count(found)} series are shown. Give a name or a service for others.
        </Text>
      )}
    </Stack>
  )
}

const keyOf = ({ name, service, instance, labels, kind }: MetricSeries): string =>
  JSON.stringify([name, service, instance, labels, kind])

const labelWords = ({ labels }: MetricSeries): string =>
  labels.map(({ name, value }) => `${name}=${value}`).join(' ')

interface SeriesProps {
  series: MetricSeries
  whole: MetricSeriesResult
  isOpen: boolean
}

function SeriesRows({ series, whole, isOpen: isOpenAtFirst }: SeriesProps) {
  const [isOpen, setOpen] = useState(isOpenAtFirst)
  const { name, service, instance, unit, latest, rate, increase, p50, p95 } = series
  const Chevron = isOpen ? ChevronDown : ChevronRight
  const labels = labelWords(series)
  return (
    <>
      <Row>
        <Cell>
          <button
            type="button"
            className="text-button metric-name"
            aria-expanded={isOpen}
            onClick={() => setOpen(!isOpen)}
          >
            <Chevron size={14} aria-hidden /> {name}
          </button>
          {labels && (
            <Text size="xs" c="dimmed" className="mono">
              {labels}
            </Text>
          )}
        </Cell>
        <Cell>
          {service ?? '—'}
          {instance && (
            <Text size="xs" c="dimmed">
              {instance}
            </Text>
          )}
        </Cell>
        <Cell>
          <Line series={series} width={120} height={24} />
        </Cell>
        <Cell isWhole>{latest === null ? '—' : `${figure(latest)}${unitWord(series, unit)}`}</Cell>
        <Cell isWhole>{figure(rate)}</Cell>
        <Cell isWhole>{figure(increase)}</Cell>
        <Cell isWhole>{figure(p50)}</Cell>
        <Cell isWhole>{figure(p95)}</Cell>
      </Row>
      {isOpen && (
        <Below>
          <Drawn series={series} whole={whole} />
        </Below>
      )}
    </>
  )
}

/** Of a histogram the latest is a count, which has no unit of its values. */
const unitWord = ({ type }: MetricSeries, unit: string | null): string =>
  unit === null || unit === '1' || type === 'histogram' ? '' : ` ${unit.replace(/^\{(.*)\}$/, '$1')}`

const WHAT = { gauge: 'mean', counter: 'a second', histogram: 'counted a second' } as const

function Line({ series, width, height }: { series: MetricSeries; width: number; height: number }) {
  const { paths, points } = linePaths(series.line, { width, height: height - 4 })
  const known = series.line.filter((one) => one !== null)
  const words =
    known.length === 0
      ? 'Nothing to draw'
      : `${WHAT[series.type]}: ${figure(Math.min(...known))} to ${figure(Math.max(...known))}`
  return (
    <svg
      className="metric-line"
      role="img"
      aria-label={words}
      viewBox={`-2 -2 ${width + 4} ${height}`}
      preserveAspectRatio="none"
      style={{ width: '100%', maxWidth: width < 200 ? width : undefined, height }}
    >
      <title>{words}</title>
      {paths.map((d) => (
        <path key={d} d={d} vectorEffect="non-scaling-stroke" />
      ))}
      {points.map(({ x, y }) => (
        <path key={`${x} ${y}`} d={`M${x - 1} ${y}L${x + 1} ${y}`} vectorEffect="non-scaling-stroke" />
      ))}
    </svg>
  )
}

const TALL = 120
const WIDE = 900

function Drawn({ series, whole }: { series: MetricSeries; whole: MetricSeriesResult }) {
  const id = useId()
  const now = useNow()
  const { line, type, unit, min, max, avg, points, p90, p99, kind } = series
  const from = Date.parse(whole.from)
  const part = (Date.parse(whole.to) - from) / line.length
  const known = line.flatMap((value, i) => (value === null ? [] : [{ at: from + i * part, value }]))
  const what = type === 'gauge' ? 'Mean' : type === 'counter' ? 'Counted a second' : 'Observations a second'
  return (
    <Stack gap="xs" py="xs">
      <Text size="sm" id={id}>
        {what}
        {unit && type !== 'histogram' && ` (${unit})`}, {count(line.length)} parts of the window, the highest{' '}
        {figure(known.length ? Math.max(...known.map(({ value }) => value)) : null)}
      </Text>
      <Line series={series} width={WIDE} height={TALL} />
      <Group justify="space-between">
        <Text size="xs" c="dimmed">
          {clock(whole.from, now)}
        </Text>
        <Text size="xs" c="dimmed">
          {clock(whole.to, now)}
        </Text>
      </Group>
      <SimpleGrid cols={{ base: 2, sm: 4, lg: 7 }}>
        <Fact title="Kind">{kind}</Fact>
        <Fact title="Points">{count(points)}</Fact>
        <Fact title="Lowest">{figure(min)}</Fact>
        <Fact title="Highest">{figure(max)}</Fact>
        <Fact title="Mean">{figure(avg)}</Fact>
        {type === 'histogram' && <Fact title="90th percentile">{figure(p90)}</Fact>}
        {type === 'histogram' && <Fact title="99th percentile">{figure(p99)}</Fact>}
      </SimpleGrid>
      {/* What is drawn, for who does not see it. */}
      <VisuallyHidden>
        <Box component="div">
          <Table aria-labelledby={id}>
            <Table.Thead>
              <Table.Tr>
                <Table.Th>When</Table.Th>
                <Table.Th>{what}</Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {known.map(({ at, value }) => (
                <Table.Tr key={at}>
                  <Table.Td>{new Date(at).toISOString()}</Table.Td>
                  <Table.Td>{figure(value)}</Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </Box>
      </VisuallyHidden>
    </Stack>
  )
}

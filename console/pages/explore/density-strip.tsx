/** Events over time by source; a span of it is brushed to look closer, and given back by a button. */
import { Button, Group, Paper, Text, VisuallyHidden } from '@mantine/core'
import { useElementSize } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { Suspense } from 'react'
import type { HistogramResult, SourceGap } from '../../../schemas/types.ts'
import { api } from '../../client.ts'
import { lazyFrom } from '../../lib/chunks.ts'
import { stackBars } from '../../lib/density.ts'
import { type ExploreState, histogramRequest } from '../../lib/explore-state.ts'
import { countEvents, moment } from '../../lib/time.ts'
import { Brush } from '../../parts/brush.tsx'

/** Seldom there. */
const gaps = lazyFrom(() => import('../../parts/source-gaps.tsx'))
const GapLines = gaps('GapLines')
const HatchedGaps = gaps('HatchedGaps')

const HEIGHT = 64
/** While the list runs. */
const LIVE_MS = 5_000

export function DensityStrip({
  state,
  stamp,
  onZoom,
  onReset,
}: {
  state: ExploreState
  stamp: number
  onZoom: (from: string, to: string) => void
  /** Shows what was shown before a span was brushed; absent: none was. */
  onReset: (() => void) | undefined
}) {
  const { ref, width } = useElementSize()
  const asked = histogramRequest(state, 80)
  const { data, error, isPlaceholderData } = useQuery({
    queryKey: ['histogram', asked, stamp],
    queryFn: ({ signal }) => api.histogram(asked, signal),
    placeholderData: (before) => before,
    refetchInterval: state.live ? LIVE_MS : false,
  })
  return (
    <Paper withBorder radius="md" p="xs" pb={4} ref={ref}>
      {data && width > 0 ? (
        <div style={isPlaceholderData ? { opacity: 0.4 } : undefined}>
          <Strip data={data} width={width} onZoom={onZoom} />
        </div>
      ) : (
        <div style={{ height: HEIGHT }} />
      )}
      <Group justify="space-between">
        <Text size="xs" c="dimmed">
          {data ? moment(Date.parse(data.from), Date.now(), true) : ' '}
        </Text>
        <Text size="xs" c="dimmed">
          {totalWords(data, isPlaceholderData, error)}
          {onReset && (
            <Button size="compact-xs" variant="subtle" ml={6} onClick={onReset}>
              Reset span
            </Button>
          )}
        </Text>
        <Text size="xs" c="dimmed">
          {data ? moment(Date.parse(data.to), Date.now(), true) : ' '}
        </Text>
      </Group>
      <Suspense>
        {data?.gaps && !isPlaceholderData && <GapLines gaps={data.gaps} now={Date.now()} />}
      </Suspense>
    </Paper>
  )
}

/** What another question came to is not told as the answer of this one. */
function totalWords(data: HistogramResult | undefined, isBefore: boolean, error: Error | null): string {
  if (data) return isBefore ? 'Counting…' : countEvents(data.total)
  return error ? `Not counted: ${error.message}` : ' '
}

/** A step of it: when, how many, and which sources took nothing in. */
function stepWords({ buckets, bucket_ms, gaps = [] }: HistogramResult, i: number): string {
  const { at, count } = buckets[i]!
  const from = Date.parse(at)
  const isIn = (gap: SourceGap): boolean =>
    Date.parse(gap.from) < from + bucket_ms && (gap.to === null || Date.parse(gap.to) > from)
  const still = new Set(gaps.filter(isIn).map(({ source }) => source))
  const gap = still.size > 0 ? `; ${[...still].join(', ')} took nothing in` : ''
  return `${moment(from, Date.now(), true)}: ${countEvents(count)}${gap}`
}

function Strip({
  data,
  width,
  onZoom,
}: {
  data: HistogramResult
  width: number
  onZoom: (from: string, to: string) => void
}) {
  const n = data.buckets.length
  const start = Date.parse(data.from)
  return (
    <>
      <svg className="density" aria-hidden viewBox={`0 0 ${width} ${HEIGHT}`}>
        <Suspense>
          {data.gaps && (
            <HatchedGaps
              gaps={data.gaps}
              span={{ from: start, to: Date.parse(data.to) }}
              box={{ x: 0, width, height: HEIGHT }}
            />
          )}
        </Suspense>
        {stackBars(data, width, HEIGHT).map((bar) => (
          <rect
            key={`${bar.x}-${bar.source}`}
            x={bar.x}
            y={bar.y}
            width={bar.width}
            height={bar.height}
            className="density-bar"
          />
        ))}
        <line
          x1={0}
          x2={width}
          y1={HEIGHT - 0.5}
          y2={HEIGHT - 0.5}
          stroke="var(--mantine-color-default-border)"
        />
      </svg>
      <Brush
        label="Events over time"
        style={{ marginTop: -HEIGHT, height: HEIGHT }}
        from={start}
        stepMs={data.bucket_ms}
        steps={n}
        sayStep={(i) => stepWords(data, i)}
        onPick={({ from, to }) => onZoom(from, to)}
      />
      <VisuallyHidden>
        <table>
          <caption>Events over time</caption>
          <tbody>
            {data.buckets
              .filter((bucket) => bucket.count > 0)
              .map((bucket) => (
                <tr key={bucket.at}>
                  <th scope="row">{moment(Date.parse(bucket.at), Date.now(), true)}</th>
                  <td>{bucket.count}</td>
                </tr>
              ))}
          </tbody>
        </table>
      </VisuallyHidden>
    </>
  )
}

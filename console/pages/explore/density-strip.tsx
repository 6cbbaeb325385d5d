/** Events over time by source; a span of it is brushed to look closer, and given back by a button. */
import { Button, Group, Paper, Text, VisuallyHidden } from '@mantine/core'
import { useElementSize } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import type { HistogramResult } from '../../../schemas/types.ts'
import { api } from '../../client.ts'
import { stackBars } from '../../lib/density.ts'
import { type ExploreState, histogramRequest } from '../../lib/explore-state.ts'
import { countEvents, moment } from '../../lib/time.ts'
import { Brush } from '../../parts/brush.tsx'

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
    </Paper>
  )
}

/** What another question came to is not told as the answer of this one. */
function totalWords(data: HistogramResult | undefined, isBefore: boolean, error: Error | null): string {
  if (data) return isBefore ? 'Counting…' : countEvents(data.total)
  return error ? `Not counted: ${error.message}` : ' '
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
        sayStep={(i) =>
          `${moment(Date.parse(data.buckets[i]!.at), Date.now(), true)}: ${countEvents(data.buckets[i]!.count)}`
        }
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

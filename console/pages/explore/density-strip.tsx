/** Events over time by source; drag or use the arrow keys and Enter to zoom. */
import { Group, Paper, Text, VisuallyHidden } from '@mantine/core'
import { useElementSize } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { type PointerEvent, useState } from 'react'
import type { HistogramResult } from '../../../schemas/types.ts'
import { api } from '../../client.ts'
import { rangeOf, stackBars } from '../../lib/density.ts'
import { type ExploreState, histogramRequest } from '../../lib/explore-state.ts'
import { count, moment } from '../../lib/time.ts'

const HEIGHT = 64

export function DensityStrip({
  state,
  stamp,
  onZoom,
}: {
  state: ExploreState
  stamp: number
  onZoom: (from: string, to: string) => void
}) {
  const { ref, width } = useElementSize()
  const { data } = useQuery({
    queryKey: [
      'histogram',
      state.selector,
      state.window,
      state.from,
      state.to,
      state.sources,
      state.types,
      stamp,
    ],
    queryFn: ({ signal }) => api.histogram(histogramRequest(state, 80), signal),
    placeholderData: (before) => before,
  })
  return (
    <Paper withBorder radius="md" p="xs" pb={4} ref={ref}>
      {data && width > 0 ? (
        <Strip data={data} width={width} onZoom={onZoom} />
      ) : (
        <div style={{ height: HEIGHT }} />
      )}
      <Group justify="space-between">
        <Text size="xs" c="dimmed">
          {data ? moment(Date.parse(data.from), Date.now(), true) : ' '}
        </Text>
        <Text size="xs" c="dimmed">
          {data ? `${count(data.total)} events` : ' '}
        </Text>
        <Text size="xs" c="dimmed">
          {data ? moment(Date.parse(data.to), Date.now(), true) : ' '}
        </Text>
      </Group>
    </Paper>
  )
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
  const [drag, setDrag] = useState<[number, number] | null>(null)
  const [cursor, setCursor] = useState<number | null>(null)
  const n = data.buckets.length
  const step = width / Math.max(1, n)
  const bucketAt = (event: PointerEvent<SVGSVGElement>) =>
    Math.floor((event.clientX - event.currentTarget.getBoundingClientRect().left) / step)
  const zoom = (a: number, b: number) => {
    const { from, to } = rangeOf(data, a, b)
    onZoom(from, to)
  }
  const marked = drag ? [Math.min(...drag), Math.max(...drag)] : cursor === null ? null : [cursor, cursor]
  const shown = cursor === null ? null : data.buckets[cursor]
  return (
    <>
      <div
        role="slider"
        tabIndex={0}
        aria-label="Events over time. Arrow keys move, Enter zooms in."
        aria-valuemin={0}
        aria-valuemax={Math.max(0, n - 1)}
        aria-valuenow={cursor ?? 0}
        aria-valuetext={
          shown
            ? `${moment(Date.parse(shown.at), Date.now(), true)}: ${shown.count} events`
            : `${data.total} events in ${n} steps`
        }
        onKeyDown={(event) => {
          const at = cursor ?? n - 1
          if (event.key === 'ArrowLeft') setCursor(Math.max(0, at - 1))
          else if (event.key === 'ArrowRight') setCursor(Math.min(n - 1, at + 1))
          else if (event.key === 'Enter' && cursor !== null) zoom(cursor - 2, cursor + 2)
          else return
          event.preventDefault()
        }}
      >
        <svg
          className="density"
          aria-hidden
          viewBox={`0 0 ${width} ${HEIGHT}`}
          onPointerDown={(event) => {
            event.currentTarget.setPointerCapture(event.pointerId)
            setDrag([bucketAt(event), bucketAt(event)])
          }}
          onPointerMove={(event) =>
            drag
              ? setDrag([drag[0], bucketAt(event)])
              : setCursor(Math.min(n - 1, Math.max(0, bucketAt(event))))
          }
          onPointerUp={() => {
            if (drag && drag[0] !== drag[1]) zoom(...drag)
            setDrag(null)
          }}
          onPointerLeave={() => setCursor(null)}
        >
          {marked && (
            <rect
              x={marked[0]! * step}
              y={0}
              width={(marked[1]! - marked[0]! + 1) * step}
              height={HEIGHT}
              fill="var(--mantine-primary-color-light)"
            />
          )}
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
      </div>
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

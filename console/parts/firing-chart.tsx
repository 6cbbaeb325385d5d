/**
 * Firings over time: bars, with the events that matched behind them. Each has a scale of its own,
 * since a thousand events may be one firing. Screen readers get the same as a table.
 */
import { Group, Text, VisuallyHidden } from '@mantine/core'
import { useElementSize } from '@mantine/hooks'
import { useState } from 'react'
import type { ChartBucket } from '../lib/backtest.ts'
import { count, day, moment } from '../lib/time.ts'

const HEIGHT = 132
const PAD = 4

export function FiringChart({
  buckets,
  label,
  lengthMs,
}: {
  buckets: readonly ChartBucket[]
  label: string
  lengthMs: number
}) {
  const { ref, width } = useElementSize()
  const [over, setOver] = useState<number | null>(null)
  const compares = buckets.some(({ before }) => before !== null)
  const topFirings = Math.max(1, ...buckets.map(({ firings, before }) => Math.max(firings, before ?? 0)))
  const topMatched = Math.max(1, ...buckets.map(({ matched }) => matched))
  const step = width / Math.max(1, buckets.length)
  const shown = over === null ? undefined : buckets[over]
  return (
    <div ref={ref}>
      <div role="img" aria-label={label} style={{ height: HEIGHT }}>
        {width > 0 && (
          <svg
            aria-hidden
            width={width}
            height={HEIGHT}
            viewBox={`0 0 ${width} ${HEIGHT}`}
            style={{ display: 'block' }}
            onPointerMove={(event) => {
              const x = event.clientX - event.currentTarget.getBoundingClientRect().left
              setOver(Math.min(buckets.length - 1, Math.max(0, Math.floor(x / step))))
            }}
            onPointerLeave={() => setOver(null)}
          >
            {buckets.map((bucket, i) => (
              <Bars
                key={bucket.at}
                bucket={bucket}
                x={i * step}
                step={step}
                topFirings={topFirings}
                topMatched={topMatched}
                isOver={i === over}
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
        )}
      </div>
      <Group justify="space-between" gap="xs" wrap="nowrap">
        <Text size="xs" c="dimmed">
          {buckets[0] ? stamp(buckets[0].at, lengthMs) : ' '}
        </Text>
        <Text size="xs" ta="center" style={{ minHeight: 18 }}>
          {shown ? `${stamp(shown.at, lengthMs)}: ${wordsOf(shown)}` : ' '}
        </Text>
        <Text size="xs" c="dimmed" ta="right">
          now
        </Text>
      </Group>
      <Group gap="md" mt={2}>
        <Legend className="bar-now" text={`firings, up to ${count(topFirings)} a bar`} />
        {compares && <Legend className="bar-before" text="as stored" />}
        <Legend className="bar-matched" text={`matching events, up to ${count(topMatched)} a bar`} />
      </Group>
      <VisuallyHidden>
        <table>
          <caption>{label}</caption>
          <thead>
            <tr>
              <th scope="col">From</th>
              <th scope="col">Firings</th>
              {compares && <th scope="col">Firings as stored</th>}
              <th scope="col">Matching events</th>
            </tr>
          </thead>
          <tbody>
            {buckets
              .filter(({ firings, before, matched }) => firings || before || matched)
              .map((bucket) => (
                <tr key={bucket.at}>
                  <th scope="row">{moment(bucket.at, Date.now(), true)}</th>
                  <td>{bucket.firings}</td>
                  {compares && <td>{bucket.before}</td>}
                  <td>{bucket.matched}</td>
                </tr>
              ))}
          </tbody>
        </table>
      </VisuallyHidden>
    </div>
  )
}

function Bars({
  bucket,
  x,
  step,
  topFirings,
  topMatched,
  isOver,
}: {
  bucket: ChartBucket
  x: number
  step: number
  topFirings: number
  topMatched: number
  isOver: boolean
}) {
  const gap = step > 4 ? 1 : 0
  const wide = Math.max(1, step - gap)
  // Root-scaled behind, so that one burst does not flatten the rest; firings are few, and true to scale.
  const behind = Math.sqrt(bucket.matched / topMatched) * (HEIGHT - PAD)
  const tall = (n: number): number => (n / topFirings) * (HEIGHT - PAD)
  const half = bucket.before === null ? wide * 0.7 : wide * 0.42
  const inset = bucket.before === null ? wide * 0.15 : wide * 0.06
  return (
    <g>
      {isOver && <rect x={x} y={0} width={step} height={HEIGHT} fill="var(--mantine-primary-color-light)" />}
      <rect className="bar-matched" x={x} y={HEIGHT - behind} width={wide} height={behind} />
      {bucket.before ? (
        <rect
          className="bar-before"
          x={x + inset}
          y={HEIGHT - tall(bucket.before)}
          width={Math.max(1.5, half)}
          height={tall(bucket.before)}
        />
      ) : null}
      {bucket.firings > 0 && (
        <rect
          className="bar-now"
          data-firings={bucket.firings}
          x={x + (bucket.before === null ? inset : wide * 0.52)}
          y={HEIGHT - tall(bucket.firings)}
          width={Math.max(1.5, half)}
          height={tall(bucket.firings)}
        />
      )}
    </g>
  )
}

function Legend({ className, text }: { className: string; text: string }) {
  return (
    <Group gap={5} wrap="nowrap">
      <svg width={10} height={10} aria-hidden>
        <rect className={className} x={0.5} y={0.5} width={9} height={9} />
      </svg>
      <Text size="xs" c="dimmed">
        {text}
      </Text>
    </Group>
  )
}

function wordsOf({ firings, before, matched }: ChartBucket): string {
  const was = before === null ? '' : `, ${count(before)} as stored`
  return `${count(firings)} ${firings === 1 ? 'firing' : 'firings'}${was}, ${count(matched)} matched`
}

/** The time of a bucket, with the day when buckets are long. */
function stamp(at: number, lengthMs: number): string {
  if (lengthMs >= 86_400_000) return day(at, Date.now())
  return moment(at, Date.now())
}

/** Times in which sources took nothing in, where people look at events: that none are there says nothing of then. */
import { Text } from '@mantine/core'
import { useId } from 'react'
import { Link } from 'react-router'
import type { SourceGap } from '../../schemas/types.ts'
import { gapWords, stretchesOf } from '../lib/source-gaps.ts'
import { count } from '../lib/time.ts'

/** Lines of a list of them; the newest matter most. */
const LISTED = 3

/** One of them, as a line. @param now epoch ms */
export const GapLine = ({ gap, now }: { gap: SourceGap; now: number }) => (
  <>
    <span className="hatched" aria-hidden />{' '}
    <Link to={`/sources/${encodeURIComponent(gap.source)}`}>{gap.source}</Link> {gapWords(gap, now)}: events
    may be missing
  </>
)

/** The newest of them, as lines. */
export function GapLines({ gaps = [], now }: { gaps: readonly SourceGap[] | undefined; now: number }) {
  const newest = gaps.toSorted((a, b) => Date.parse(b.from) - Date.parse(a.from))
  const left = gaps.length - LISTED
  return (
    <div role="status">
      {newest.slice(0, LISTED).map((gap) => (
        <Text key={`${gap.source} ${gap.why} ${gap.from}`} size="sm">
          <GapLine gap={gap} now={now} />
        </Text>
      ))}
      {left > 0 && (
        <Text size="sm" c="dimmed">
          and so it was {count(left)} more {left === 1 ? 'time' : 'times'}
        </Text>
      )}
    </div>
  )
}

/**
 * The same in a chart, hatched, behind what it draws.
 * @param span of the chart, epoch ms @param box where it is drawn, pixels
 */
export function HatchedGaps({
  gaps = [],
  span: { from, to },
  box: { x, width, height },
}: {
  gaps: readonly SourceGap[] | undefined
  span: { from: number; to: number }
  box: { x: number; width: number; height: number }
}) {
  const hatch = useId()
  const each = stretchesOf(gaps, from, to)
  if (each.length === 0) return null
  const scale = width / Math.max(1, to - from)
  return (
    <>
      <pattern id={hatch} width={8} height={8} patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
        <line x1={0} y1={0} x2={0} y2={8} className="hatch" />
      </pattern>
      {each.map((one) => (
        <rect
          key={one.from}
          data-gap
          x={x + (one.from - from) * scale}
          width={Math.max(2, (one.to - one.from) * scale)}
          height={height}
          fill={`url(#${hatch})`}
        />
      ))}
    </>
  )
}

/** Why it fired: what was asked for and what there was, as a line against its threshold where events are counted. */
import { Skeleton, VisuallyHidden } from '@mantine/core'
import { useElementSize } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { Suspense } from 'react'
import { Link } from 'react-router'
import { durationWords } from '../../../schemas/duration-words.ts'
import type { Firing, FiringDetail, IncidentDetail, SourceGap } from '../../../schemas/types.ts'
import { predicateWords } from '../../../schemas/words.ts'
import { api } from '../../client.ts'
import { lazyFrom } from '../../lib/chunks.ts'
import { valueWords } from '../../lib/firings.ts'
import { momentOf, thresholdOf, type ValueLine, valueLine } from '../../lib/incident-evidence.ts'
import { middle } from '../../lib/middle.ts'
import { triggerPath } from '../../lib/paths.ts'
import { clock, durationMs, moment } from '../../lib/time.ts'
import { Brush, type Span } from '../../parts/brush.tsx'
import { Acts } from '../../parts/may.tsx'
import { useChanges, useTypes } from './use-evidence.ts'

/** Seldom there. */
const HatchedGaps = lazyFrom(() => import('../../parts/source-gaps.tsx'))('HatchedGaps')
const AlsoList = lazyFrom(() => import('../../parts/also-list.tsx'))('AlsoList')

const HEIGHT = 84
const MARGIN = '0 14px 8px'
const LEFT = 30
const BELOW = 14
const BUCKETS = 120
/** Of "fired 07:58:39", with room about it. */
const FIRED_WIDTH = 110
/** Of the name of a change: letters at most, and about how many pixels one is wide. */
const NAME_MOST = 56
const LETTER = 6.6
/** Of the time around the moment, how much is shown before it. */
const BEFORE_MS = 10 * 60_000
const AFTER_MS = 25 * 60_000

export function WhyCard({
  firing,
  incident,
  onSpan,
}: {
  firing: FiringDetail
  incident: IncidentDetail
  /** A span of the line was chosen: the evidence of it is shown. */
  onSpan: (span: Span) => void
}) {
  const { trigger, sentence } = firing
  const { line, gaps, isReading } = useLine(firing)
  return (
    <section className="card" aria-labelledby="incident-why">
      <div className="card-head">
        <h2 id="incident-why">Why it fired</h2>
        <span style={{ fontSize: 13, color: 'var(--text-2)', overflowWrap: 'anywhere' }}>
          {valueWords(firing) ?? firing.reason}
        </span>
        <span className="push" style={{ display: 'flex', gap: 12, fontSize: 13.5 }}>
          <Acts>
            <Link to={triggerPath(trigger, 'edit')}>Edit trigger</Link>
          </Acts>
          <Link to={triggerPath(trigger, 'why')}>Why not?</Link>
        </span>
      </div>
      {isReading ? (
        <Skeleton h={HEIGHT} m={MARGIN} w="auto" role="status" aria-label="Loading" />
      ) : line && line.points.length > 1 ? (
        <Chart line={line} gaps={gaps} firing={firing} firings={incident.firings} onSpan={onSpan} />
      ) : (
        <div style={{ padding: '0 14px 10px', fontSize: 13.5, overflowWrap: 'anywhere' }}>{sentence}.</div>
      )}
      <Suspense>
        {incident.also.length + incident.alerts.length > 0 && <AlsoList incident={incident} />}
      </Suspense>
    </section>
  )
}

/** Line null: it counts no events of an entity, so that nothing read here is its value, or they cannot be read. */
function useLine(firing: FiringDetail): {
  line: ValueLine | null
  gaps: readonly SourceGap[]
  isReading: boolean
} {
  const { entity, window, aggregate, predicate, sources } = firing
  const windowMs = durationMs(window ?? '')
  const isCount = entity !== null && windowMs > 0 && aggregate === 'count'
  const at = Date.parse(momentOf(firing))
  const from = at - BEFORE_MS - windowMs
  // What is to come is not asked for.
  const to = Math.min(Date.now(), at + AFTER_MS)
  const { types, hasFailed } = useTypes(firing)
  const { data, isError } = useQuery({
    queryKey: ['timeline', 'why', firing.dispatch_id, types],
    queryFn: ({ signal }) =>
      api.histogram(
        {
          selector: { [entity!.label]: entity!.value },
          sources,
          ...(types!.length ? { event_types: types! } : {}),
          from: new Date(from).toISOString(),
          to: new Date(to).toISOString(),
          buckets: BUCKETS,
        },
        signal,
      ),
    enabled: isCount && types !== undefined,
    staleTime: 60_000,
  })
  if (!data) return { line: null, gaps: [], isReading: isCount && !hasFailed && !isError }
  const counts = data.buckets.map((bucket) => ({ at: Date.parse(bucket.at), count: bucket.count }))
  const line = valueLine(counts, { windowMs, bucketMs: data.bucket_ms, threshold: thresholdOf(predicate) })
  return { line, gaps: data.gaps ?? [], isReading: false }
}

function Chart({
  line: { points, threshold },
  gaps,
  firing,
  firings,
  onSpan,
}: {
  line: ValueLine
  gaps: readonly SourceGap[]
  firing: FiringDetail
  firings: readonly Firing[]
  onSpan: (span: Span) => void
}) {
  const { ref, width } = useElementSize()
  const [from, to] = [points[0]!.at, points.at(-1)!.at]
  const top = Math.max(1, threshold ?? 0, ...points.map(({ value }) => value)) * 1.15
  const wide = Math.max(0, width - LEFT)
  const x = (at: number): number => LEFT + ((at - from) / Math.max(1, to - from)) * wide
  const y = (value: number): number => (HEIGHT - BELOW) * (1 - value / top)
  const at = Date.parse(momentOf(firing))
  // Its name stands where there is room: on a phone a fifth of the chart is less than it takes.
  const isLate = x(at) > LEFT + Math.min(wide * 0.8, wide - FIRED_WIDTH)
  /** Left of its line stands the name of the moment: what changed right before is named one line below. */
  const isTaken = (one: number): boolean => isLate && x(at) - one < FIRED_WIDTH
  const path = points.map((point, i) => `${i ? 'L' : 'M'}${x(point.at)} ${y(point.value)}`).join('')
  const changes = useChangesIn(firing, from, to)
  const named = changes.filter((one) => one.at <= at).toSorted((a, b) => b.at - a.at)[0]
  const words = wordsOf({ points, threshold }, firing, changes, gaps)
  return (
    <div ref={ref} style={{ margin: MARGIN }}>
      <div role="img" aria-label={words} style={{ height: HEIGHT, position: 'relative' }}>
        {wide > 0 && (
          <svg width={width} height={HEIGHT} aria-hidden fontSize={11} fill="var(--text-2)">
            <Gaps gaps={gaps} span={{ from, to }} width={wide} />
            <Axis y={y(0)} width={width} top={top} />
            <path d={path} fill="none" stroke="var(--mantine-color-text)" strokeWidth={1.5} />
            {threshold !== null && (
              <Threshold y={y(threshold)} width={width} words={predicateWords(firing.predicate ?? '')} />
            )}
            <Repeats
              at={firings
                .map((one) => Date.parse(momentOf(one)))
                .filter((one) => one !== at && one >= from && one <= to)}
              x={x}
              y={y(0)}
            />
            {changes.map((one) => (
              <ChangeMark
                key={one.event.id}
                text={one.event.text}
                x={x(one.at)}
                y={y(0)}
                width={width}
                isNamed={one === named}
                isBelow={isTaken(x(one.at))}
              />
            ))}
            <FiredMark
              x={x(at)}
              y={y(0)}
              isLate={isLate}
              words={clock(firing.fired_at ?? firing.opened_at, at).slice(0, 8)}
            />
            <text x={LEFT} y={HEIGHT - 2}>
              {moment(from, at)}
            </text>
            <text x={width} y={HEIGHT - 2} textAnchor="end">
              {moment(to, at)}
            </text>
          </svg>
        )}
      </div>
      <Brush
        label="Span of the value over time"
        style={{ marginTop: -HEIGHT, marginLeft: LEFT, height: HEIGHT }}
        from={from}
        stepMs={(to - from) / points.length}
        steps={points.length}
        sayStep={(i) => `${moment(points[i]!.at, at, true)}: ${points[i]!.value}`}
        onPick={onSpan}
      />
      <VisuallyHidden>{words}</VisuallyHidden>
    </div>
  )
}

/** The chart as a sentence. */
function wordsOf(
  { points, threshold }: ValueLine,
  firing: FiringDetail,
  changes: ReturnType<typeof useChangesIn>,
  gaps: readonly SourceGap[],
): string {
  const now = Date.parse(momentOf(firing))
  const peak = points.reduce((most, point) => (point.value > most.value ? point : most))
  return [
    `At most ${peak.value} within ${durationWords(firing.window ?? '')}, at ${moment(peak.at, now, true)}`,
    ...(threshold === null ? [] : [`it fires ${predicateWords(firing.predicate ?? '')}`]),
    ...changes.map(({ event, at }) => `${event.text} at ${moment(at, now, true)}`),
    ...new Set(gaps.map(({ source }) => `${source} took nothing in for a part of it`)),
  ].join('; ')
}

/** Changes of its entity in a span, epoch ms. */
const useChangesIn = (firing: FiringDetail, from: number, to: number) =>
  useChanges(firing)
    .map((event) => ({ event, at: Date.parse(event.event_time) }))
    .filter((one) => one.at >= from && one.at <= to)

function Gaps({
  gaps,
  span,
  width,
}: {
  gaps: readonly SourceGap[]
  span: { from: number; to: number }
  width: number
}) {
  const box = { x: LEFT, width, height: HEIGHT - BELOW }
  return <Suspense>{gaps.length > 0 && <HatchedGaps gaps={gaps} span={span} box={box} />}</Suspense>
}

function Axis({ y, width, top }: { y: number; width: number; top: number }) {
  return (
    <>
      <text x={LEFT - 6} y={y} textAnchor="end">
        0
      </text>
      <text x={LEFT - 6} y={10} textAnchor="end">
        {Math.round(top)}
      </text>
      <line x1={LEFT} x2={width} y1={y} y2={y} stroke="var(--mantine-color-default-border)" />
    </>
  )
}

function Threshold({ y, width, words }: { y: number; width: number; words: string }) {
  return (
    <>
      <line x1={LEFT} x2={width} y1={y} y2={y} stroke="var(--critical)" strokeDasharray="3 3" />
      <text x={LEFT + 4} y={y - 3} fill="var(--critical)" fontWeight={600}>
        fires {words}
      </text>
    </>
  )
}

function FiredMark({ x, y, isLate, words }: { x: number; y: number; isLate: boolean; words: string }) {
  return (
    <>
      <line className="fired-line" x1={x} x2={x} y1={0} y2={y} />
      <text
        className="fired-name"
        x={x + (isLate ? -5 : 5)}
        y={10}
        textAnchor={isLate ? 'end' : 'start'}
        fill="var(--critical)"
        fontWeight={600}
      >
        fired {words}
      </text>
    </>
  )
}

function ChangeMark({
  text,
  x,
  y,
  width,
  isNamed,
  isBelow,
}: {
  text: string
  x: number
  y: number
  width: number
  isNamed: boolean
  isBelow: boolean
}) {
  return (
    <g className="change-mark">
      <title>{text}</title>
      <line x1={x} x2={x} y1={0} y2={y} />
      {isNamed && <ChangeName text={text} x={x} width={width} isBelow={isBelow} />}
    </g>
  )
}

/** It fired again, later or before. */
const Repeats = ({ at, x, y }: { at: readonly number[]; x: (at: number) => number; y: number }) =>
  at.map((one) => (
    <g key={one} className="severity" data-role="critical" transform={`translate(${x(one) - 4} ${y - 9})`}>
      <path d="M4 0 8 4 4 8 0 4Z" />
    </g>
  ))

/** Left of its mark where there is room, else where there is more: its end, which says what is new, is never cut. */
function ChangeName({
  text,
  x,
  width,
  isBelow,
}: {
  text: string
  x: number
  width: number
  isBelow: boolean
}) {
  const whole = middle(text, NAME_MOST)
  const lettersIn = (room: number) => Math.floor((room - 5) / LETTER)
  const [before, after] = [lettersIn(x - LEFT), lettersIn(width - x)]
  const isLeft = before >= Math.min(whole.length, after + 1)
  const shown = middle(whole, Math.max(5, isLeft ? before : after))
  return (
    <text
      x={x + (isLeft ? -5 : 5)}
      y={isLeft && !isBelow ? 10 : 24}
      textAnchor={isLeft ? 'end' : 'start'}
      fontWeight={600}
    >
      {shown}
    </text>
  )
}

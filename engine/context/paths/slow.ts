/** Where requests take longer: own time of spans, and pauses between neighbouring lines of a request. */
import { ascending, listAt, quantile, ratioUp, spreadAround, valueAt } from '../measures.ts'
import type { Timed } from '../types.ts'
import type { SlowStep } from './findings.ts'
import type { Occurrences } from './occurrences.ts'
import { BEFORE_MIN, NOW_MIN } from './sides.ts'
import type { Call } from './spans.ts'

const SHOWN_FROM = 1.5
/** From here on a pair of entities counts as slow. */
const HOT = 2.2
const PAUSE_PENALTY = 1.5
/** Milliseconds: smaller pauses are no finding, and clocks of lines are that coarse. */
const PAUSE_MIN = 5
const PAUSE_UNIT = 3

interface Duration {
  /** Milliseconds by itself, and of the whole span. */
  own: number
  whole: number
  /** When its request began, and when it did itself; seconds before now. */
  begin: number
  t: number
  line: Timed
}

interface Place {
  at: string
  operation: string
  calls: string
  isPause: boolean
  durations: Duration[]
}

export function slowSteps(
  calls: ReadonlyMap<string, readonly Call[]>,
  occurrences: Occurrences,
  windows: readonly number[],
): SlowStep[] {
  const pairs = new Map<string, { slow: number; all: number }>()
  const slow: SlowStep[] = []
  for (const place of [...spanPlaces(calls), ...pausePlaces(occurrences)]) {
    if (place.durations.length < BEFORE_MIN + NOW_MIN) continue
    const { found, isComparable } = strongest(place, windows)
    if (!isComparable) continue
    if (place.calls)
      for (const entity of [place.at, place.calls]) {
        const pair = pairs.get(entity) ?? { slow: 0, all: 0 }
        pairs.set(entity, pair)
        pair.all++
        if (found && found.score > HOT) pair.slow++
      }
    if (found && found.score > SHOWN_FROM) slow.push(found)
  }
  for (const one of slow) if (one.calls) attribute(one, pairs)
  return slow
}

/** A slow call is of that end that has more of its other calls slow. */
function attribute(found: SlowStep, pairs: ReadonlyMap<string, { slow: number; all: number }>): void {
  const weight = (entity: string) => {
    const { slow, all } = pairs.get(entity)!
    return ((slow + 0.3) / (all + 1)) * Math.sqrt(slow)
  }
  if (weight(found.calls) > weight(found.at)) found.entity = found.calls
  const { slow, all } = pairs.get(found.entity)!
  found.slowPairs = `${slow} of ${all}`
}

function spanPlaces(calls: ReadonlyMap<string, readonly Call[]>): Iterable<Place> {
  const places = new Map<string, Place>()
  for (const all of calls.values())
    for (const { span, begin } of all) {
      const { entity: at, operation, calls: to, own, whole, start: t, line } = span
      const key = `${at}\0${operation}\0${to}`
      const place = valueAt(
        places,
        key,
        (): Place => ({ at, operation, calls: to, isPause: false, durations: [] }),
      )
      place.durations.push({ own, whole, begin, t, line })
    }
  return places.values()
}

function pausePlaces({ byStep }: Occurrences): Iterable<Place> {
  const places: Place[] = []
  for (const all of byStep.values()) {
    const byNext = new Map<string, Duration[]>()
    for (const { step, trace, inTrace } of all) {
      if (!inTrace) continue
      const own = (inTrace.t - step.t) * 1000
      listAt(byNext, inTrace.key).push({ own, whole: own, begin: trace.begin, t: step.t, line: inTrace.line })
    }
    const { entity, place } = all[0]!.step
    for (const [next, durations] of byNext) {
      const cut = next.indexOf('\0')
      const to = next.slice(0, cut)
      places.push({
        ...{ at: entity, operation: `${place} → ${next.slice(cut + 1)}`, isPause: true, durations },
        calls: to === entity ? '' : to,
      })
    }
  }
  return places
}

function strongest(
  place: Place,
  windows: readonly number[],
): { found: SlowStep | null; isComparable: boolean } {
  let found: SlowStep | null = null
  let isComparable = false
  for (const window of windows) {
    const before = place.durations.filter(({ begin }) => begin < -window)
    const now = place.durations.filter(({ begin }) => begin >= -window)
    if (before.length < BEFORE_MIN || now.length < NOW_MIN) continue
    isComparable = true
    const one = compared(place, before, now)
    if (one && (!found || one.score > found.score + 0.2)) found = one
  }
  return { found, isComparable }
}

function compared(
  { at, operation, calls, isPause }: Place,
  before: readonly Duration[],
  now: readonly Duration[],
): SlowStep | null {
  const was = ascending(before.map(({ own }) => own))
  const is = ascending(now.map(({ own }) => own))
  const usual = quantile(was, 0.5)
  const low = quantile(was, 0.05)
  const high = quantile(was, 0.95)
  const median = quantile(is, 0.5)
  let above = 0
  let sumAbove = 0
  for (const value of is)
    if (value > high) {
      above++
      sumAbove += value - high
    }
  const ratio = ratioUp(above, 0.05 * is.length + 0.3)
  const excess = sumAbove / is.length
  if (ratio < 2 || (isPause && excess < PAUSE_MIN)) return null
  const spread = spreadAround(
    before.map(({ own }) => own),
    usual,
  )
  const unit = spread + 0.05 * usual + 0.1 * (high - low) + (isPause ? PAUSE_UNIT : 0.2)
  const p90Before = quantile(was, 0.9)
  const p90 = quantile(is, 0.9)
  const shift = Math.max(0, (median - usual) / unit, (0.4 * (p90 - p90Before)) / unit)
  const hasMoved = median >= 1.25 * usual
  const score =
    (isPause ? -PAUSE_PENALTY : 0) +
    0.6 * Math.log1p(ratio) +
    0.6 * Math.log1p(Math.min(60, shift)) +
    0.55 * Math.log1p(excess) +
    1.5 * (above / is.length - 0.5) -
    (p90 < 1.5 * p90Before && !hasMoved ? 1.5 : 0) -
    (!hasMoved && above / is.length < 0.5 ? 1 : 0)
  const whole = ascending(now.map((one) => one.whole))
  return {
    ...{ kind: 'slow', entity: at, at, operation, calls, isPause, score, usual, low, high, above, p90 },
    ...{ now: median, nowCount: now.length, slowPairs: null, peak: whole.at(-1)! },
    wholeUsual: quantile(ascending(before.map((one) => one.whole)), 0.5),
    wholeNow: quantile(whole, 0.5),
    since: now.find(({ own }) => own > high)?.t ?? now[0]!.t,
    normal: before.at(-1)!.line,
    example: now.reduce((most, one) => (one.own > most.own ? one : most)).line,
  }
}

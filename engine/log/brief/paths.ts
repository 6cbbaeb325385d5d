/**
 * Paths of one request: requests of now against those before, step by step. What is compared is the order of
 * log lines and spans, as Nezha does against a fault-free time (Yu et al. 2023); here the time before serves.
 */

import {
  BEFORE_MIN,
  type BrokenPath,
  brokenCalls,
  type Call,
  type Context,
  callsOf,
  type FailingCall,
  type Fresh,
  GONE_SHARE,
  type Gone,
  NOW_MIN,
  namesOf,
  type Occurrence,
  type Occurrences,
  occurrencesOf,
  type PathFinding,
  type SlowStep,
  type Step,
  type Trace,
  tracesOf,
  USUAL_SHARE,
  windowsOf,
} from './traces.ts'
import { addTo, ascending, listAt, quantile, ratioUp, spreadAround, surprise, type Timed } from './types.ts'

/** Fewer requests say nothing. */
export const REQUESTS_MIN = 20
/** A second finding of an entity counts this much. */
const SECOND = 0.15

export interface Paths {
  requests: number
  /** The strongest first. */
  findings: PathFinding[]
  /** Entities by their findings, the strongest first. */
  entities: Map<string, number>
}

/** @param lines in order of time. @param wordingOf the template of a line; null: it has none */
export function pathsOf(lines: readonly Timed[], wordingOf: (line: Timed) => string | null): Paths {
  const traces = tracesOf(lines, wordingOf)
  if (traces.length < REQUESTS_MIN) return { requests: traces.length, findings: [], entities: new Map() }
  const windows = windowsOf(traces)
  const occurrences = occurrencesOf(traces)
  const calls = callsOf(traces)
  const findings = [
    ...brokenPaths(occurrences, windows),
    ...brokenCalls(calls, windows),
    ...failingCalls(calls, windows),
    ...slowSteps(calls, occurrences, windows),
  ].sort((a, b) => b.score - a.score)
  const told = withoutRepeats(findings)
  return { requests: traces.length, findings: told, entities: rankOf(told) }
}

/** A step that is gone is gone after each step that it followed; the strongest is told. */
function withoutRepeats(findings: readonly PathFinding[]): PathFinding[] {
  const told = new Set<string>()
  return findings.filter((finding) => {
    if (finding.kind !== 'path') return true
    const { gone, fresh } = finding
    const keys = [gone && `gone ${gone.key}`, fresh?.key && `new ${fresh.key}`].filter(
      (key) => !!key,
    ) as string[]
    if (keys.length > 0 && keys.every((key) => told.has(key))) return false
    for (const key of keys) told.add(key)
    return true
  })
}

function rankOf(findings: readonly PathFinding[]): Map<string, number> {
  const scores = new Map<string, { sum: number; count: number }>()
  for (const { entity, score } of findings) {
    const known = scores.get(entity)
    if (!known) scores.set(entity, { sum: score, count: 1 })
    else if (known.count++ === 1) known.sum += SECOND * score
  }
  return new Map(
    [...scores].map(([entity, { sum }]): [string, number] => [entity, sum]).sort((a, b) => b[1] - a[1]),
  )
}

/*
 * What is expected after a step, by how requests came to it: less traffic, or another mix of requests, is
 * not a step that is gone.
 */

/** Weight of the share over all kinds, as so many requests. */
const PRIOR = 2
/** A kind with fewer before tells nothing. */
const KIND_MIN = 2
/** What is still on its way, seconds. */
const UNFINISHED = 2

interface Side {
  before: number
  now: number
  nextBefore: Map<string, number>
  nextNow: Map<string, number>
}

interface Expectation {
  before: number
  now: number
  nextBefore: Map<string, number>
  nextNow: Map<string, number>
  kinds: ReadonlyMap<string, Side>
  /** Share of the recent side that is expected to go on with a step. */
  share(next: string): number
}

const nextKey = (occurrence: Occurrence, context: Context): string => occurrence[context]?.key ?? ''

/** @param window seconds of the recent side. */
function expectationOf(occurrences: readonly Occurrence[], context: Context, window: number): Expectation {
  const kinds = new Map<string, Side>()
  const nextBefore = new Map<string, number>()
  let before = 0
  for (let i = 0; i < occurrences.length; i++) {
    const occurrence = occurrences[i]!
    const next = nextKey(occurrence, context)
    let kind = kinds.get(occurrence.kind)
    if (!kind) {
      kind = { before: 0, now: 0, nextBefore: new Map(), nextNow: new Map() }
      kinds.set(occurrence.kind, kind)
    }
    if (occurrence.trace.begin < -window) {
      before++
      kind.before++
      addTo(nextBefore, next)
      addTo(kind.nextBefore, next)
    } else if (occurrence.step.t < -UNFINISHED || next) {
      kind.now++
      addTo(kind.nextNow, next)
    }
  }
  const nextNow = new Map<string, number>()
  let now = 0
  for (const [name, kind] of kinds) {
    if (kind.before < KIND_MIN) {
      kinds.delete(name)
      continue
    }
    now += kind.now
    for (const [next, count] of kind.nextNow) addTo(nextNow, next, count)
  }
  const share = (next: string): number => {
    const overall = ((nextBefore.get(next) ?? 0) + 0.5) / (before + 1)
    let expected = 0
    for (const kind of kinds.values())
      if (kind.now)
        expected += (kind.now * ((kind.nextBefore.get(next) ?? 0) + PRIOR * overall)) / (kind.before + PRIOR)
    return Math.min(0.995, Math.max(0.002, expected / now))
  }
  return { before, now, nextBefore, nextNow, kinds, share }
}

/* Spans that fail more often than before, and in whose service a request fails first. */

const SURPRISE_MIN = 1.5
/** Failures of the recent side that are more than chance, and by how many times their share must have risen. */
const FAILED_MIN = 2
const RISEN = 3

/** @param calls by entity and operation, with their children set. @param windows lengths of the recent side, seconds */
function failingCalls(
  calls: ReadonlyMap<string, readonly Call[]>,
  windows: readonly number[],
): FailingCall[] {
  const found: FailingCall[] = []
  for (const [of, all] of calls) {
    if (all.length < BEFORE_MIN + NOW_MIN || !all.some(({ span }) => span.failed)) continue
    let best: FailingCall | null = null
    for (const window of windows) {
      const one = failingSince(of, all, window)
      if (one && (!best || one.score > best.score + 0.2)) best = one
    }
    if (best) found.push(best)
  }
  return found
}

function failingSince(of: string, all: readonly Call[], window: number): FailingCall | null {
  const before = all.filter(({ begin }) => begin < -window)
  const now = all.filter(({ begin }) => begin >= -window)
  if (before.length < BEFORE_MIN || now.length < NOW_MIN) return null
  const beforeFailed = before.filter(hasFailed).length
  const failed = now.filter(hasFailed)
  const share = (beforeFailed + 0.5) / (before.length + 1)
  if (failed.length < FAILED_MIN || failed.length / now.length < RISEN * share) return null
  const surprising = surprise(failed.length, now.length, share)
  // Where each failure comes from a call that failed, that call is told.
  const own = failed.filter(({ span }) => !span.children?.some((child) => child.failed))
  if (surprising <= SURPRISE_MIN || own.length === 0) return null
  const first = own.length / failed.length
  return {
    ...{ kind: 'failing', of, beforeFailed, beforeCount: before.length, first: own.length },
    entity: namesOf(of).entity,
    score: Math.log1p(surprising) + 1.5 * first + 1.5 * (0.4 + 0.6 * first),
    ...{ nowCount: now.length, nowFailed: failed.length, since: failed[0]!.span.start },
    normal: (before.findLast((call) => !hasFailed(call)) ?? before.at(-1)!).span.line,
    example: own.at(-1)!.span.line,
  }
}

const hasFailed = ({ span }: Call): boolean => span.failed

/* Where requests take longer: own time of spans, and pauses between neighbouring lines of a request. */

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

function slowSteps(
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

/** @param calls by entity and operation */
function spanPlaces(calls: ReadonlyMap<string, readonly Call[]>): Iterable<Place> {
  const places: Place[] = []
  for (const all of calls.values()) {
    const byCalled = new Map<string, Place>()
    for (let i = 0; i < all.length; i++) {
      const { span, begin } = all[i]!
      const { entity: at, operation, calls: to, own, whole, start: t, line } = span
      let place = byCalled.get(to)
      if (!place) {
        place = { at, operation, calls: to, isPause: false, durations: [] }
        byCalled.set(to, place)
        places.push(place)
      }
      place.durations.push({ own, whole, begin, t, line })
    }
  }
  return places
}

function pausePlaces({ byStep }: Occurrences): Iterable<Place> {
  const places: Place[] = []
  for (const all of byStep.values()) {
    const byNext = new Map<string, Duration[]>()
    for (let i = 0; i < all.length; i++) {
      const { step, trace, inTrace } = all[i]!
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
    const before = countBefore(place.durations, -window)
    if (before < BEFORE_MIN || place.durations.length - before < NOW_MIN) continue
    isComparable = true
    const one = compared(place, before)
    if (one && (!found || one.score > found.score + 0.2)) found = one
  }
  return { found, isComparable }
}

/** How many began before a time: requests come in the order in which they began. */
function countBefore(durations: readonly Duration[], t: number): number {
  let count = durations.length
  while (count > 0 && !(durations[count - 1]!.begin < t)) count--
  return count
}

/** @param count of durations before the recent side */
function compared({ at, operation, calls, isPause, durations }: Place, count: number): SlowStep | null {
  const was = new Float64Array(count)
  for (let i = 0; i < count; i++) was[i] = durations[i]!.own
  was.sort()
  const is = new Float64Array(durations.length - count)
  for (let i = 0; i < is.length; i++) is[i] = durations[count + i]!.own
  is.sort()
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
  const before = durations.slice(0, count)
  const now = durations.slice(count)
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

/* Steps that no longer follow, and steps that follow now: where requests leave their usual path. */

/** A step that only some requests take surprises less by staying away. */
const OFTEN = 0.8
/** Steps this close, seconds, are at the same time. */
const TIE = 0.002
const LATELY = 600

interface Candidate {
  context: Context
  after: string
  window: number
  expected: Expectation
  gone: Gone | null
  fresh: Fresh | null
  surprise: number
  occurrences: readonly Occurrence[]
  hits: number
  first: number
  example: Occurrence | null
}

function brokenPaths({ byStep, example }: Occurrences, windows: readonly number[]): BrokenPath[] {
  const candidates: Candidate[] = []
  for (const context of ['inSpan', 'inTrace'] as const)
    for (const [after, occurrences] of byStep) {
      if (occurrences.length < BEFORE_MIN + NOW_MIN) continue
      const found = strongestTransition(after, context, occurrences, windows, example)
      if (found) candidates.push(found)
    }
  countFirst(candidates)
  return candidates.filter(({ hits }) => hits > 0).map((one) => told(one, example))
}

function strongestTransition(
  after: string,
  context: Context,
  occurrences: readonly Occurrence[],
  windows: readonly number[],
  steps: ReadonlyMap<string, Step>,
): Candidate | null {
  let best: Candidate | null = null
  for (const window of windows) {
    const expected = expectationOf(occurrences, context, window)
    if (expected.before < BEFORE_MIN || expected.now < NOW_MIN) continue
    const gone = goneFrom(expected, steps)
    let fresh = freshIn(expected, after, steps)
    if (fresh && !gone && goesAfterErrors(occurrences, window, expected.before, fresh, steps)) fresh = null
    if (!gone && !fresh) continue
    const most = Math.max(gone?.surprise ?? 0, fresh?.surprise ?? 0)
    if (!best || most > best.surprise + 0.5)
      best = {
        ...{ context, after, window, expected, gone, fresh, occurrences },
        ...{ surprise: most, hits: 0, first: 0, example: null },
      }
  }
  return best
}

/** An error that no longer comes is no finding. */
function goneFrom(expected: Expectation, steps: ReadonlyMap<string, Step>): Gone | null {
  const { before, now, nextBefore, nextNow } = expected
  let gone: Gone | null = null
  for (const [key, count] of nextBefore) {
    if (key === '' || count / before < USUAL_SHARE || steps.get(key)?.isError) continue
    const share = expected.share(key)
    const found = nextNow.get(key) ?? 0
    if (found > GONE_SHARE * share * now) continue
    const s = surprise(found, now, share) * (share < OFTEN ? 0.6 : 1)
    if (s > (gone?.surprise ?? SURPRISE_MIN)) gone = { key, surprise: s, now: found, share, before: count }
  }
  return gone
}

function freshIn(expected: Expectation, after: string, steps: ReadonlyMap<string, Step>): Fresh | null {
  const { now, nextBefore, nextNow } = expected
  let fresh: Fresh | null = null
  for (const [key, count] of nextNow) {
    const share = expected.share(key)
    const isError = steps.get(key)?.isError === true
    if (count < 2 || count / now < 3 * share || (key === after && !isError)) continue
    const isFirstSeen = !nextBefore.has(key) && !isError && key !== ''
    const s = surprise(count, now, share) * (key === '' ? 0.6 : isFirstSeen ? 0.8 : 1)
    if (s > (fresh?.surprise ?? SURPRISE_MIN))
      fresh = { key, surprise: s, now: count, before: nextBefore.get(key) ?? 0 }
  }
  return fresh
}

/** Where an error came after the step in many requests before, another line after it is its end. */
function goesAfterErrors(
  occurrences: readonly Occurrence[],
  window: number,
  before: number,
  { key }: Fresh,
  steps: ReadonlyMap<string, Step>,
): boolean {
  if (key === '' || steps.get(key)?.isError) return false
  const errors = occurrences.filter(({ trace, inTrace }) => trace.begin < -window && inTrace?.isError)
  return errors.length / before >= USUAL_SHARE
}

/** Of each recent request that shows something unexpected: which of it shows first; cascades are not first. */
function countFirst(candidates: readonly Candidate[]): void {
  const perTrace = new Map<Trace, { at: number; t: number; candidate: Candidate }[]>()
  for (const candidate of candidates) {
    const { context, window, expected, gone, fresh } = candidate
    for (const occurrence of candidate.occurrences) {
      const { trace, step, inTrace } = occurrence
      if (trace.begin < -window || !expected.kinds.has(occurrence.kind)) continue
      const next = nextKey(occurrence, context)
      const isHit = (fresh && next === fresh.key) || (gone && gone.share >= 0.7 && next !== gone.key)
      if (!isHit) continue
      candidate.hits++
      candidate.example ??= occurrence
      const at = occurrence[context]?.t ?? inTrace?.t ?? trace.end
      listAt(perTrace, trace).push({ at, t: step.t, candidate })
    }
  }
  for (const shown of perTrace.values()) {
    shown.sort((a, b) => a.at - b.at || b.t - a.t)
    const first = new Set(
      shown.filter(({ at }) => at <= shown[0]!.at + TIE).map(({ candidate }) => candidate),
    )
    for (const candidate of first) candidate.first++
  }
}

function told(candidate: Candidate, steps: ReadonlyMap<string, Step>): BrokenPath {
  const { context, after, window, expected, gone, fresh, occurrences, hits, first } = candidate
  const isError = fresh !== null && steps.get(fresh.key)?.isError === true
  const share = first / hits
  const example = candidate.example!
  const normal = occurrences.findLast(
    (one) => one.trace.begin < -window && (gone === null || nextKey(one, context) === gone.key),
  )
  const lastNormal = gone && occurrences.findLast((one) => nextKey(one, context) === gone.key)
  return {
    ...{ kind: 'path', after, gone, fresh, hits, first },
    entity: whose(candidate, isError),
    score:
      Math.log1p(candidate.surprise) +
      1.5 * share +
      (isError ? 1.5 * (0.4 + 0.6 * share) : 0) +
      (gone?.now === 0 ? 0.3 : 0),
    since: sinceOf(candidate),
    beforeCount: expected.before,
    nowCount: expected.now,
    normal: (normal ? (gone ? normal[context]! : normal.step) : occurrences[0]!.step).line,
    example: (example[context] ?? example.step).line,
    lastNormal: lastNormal?.[context]?.t ?? null,
  }
}

/** Within a span the fault is of who wrote the step; across, of who fails, or did not answer. */
function whose({ context, after, gone, fresh }: Candidate, isError: boolean): string {
  if (context === 'inSpan') return namesOf(after).entity
  if (fresh && isError) return namesOf(fresh.key).entity
  if (gone) return namesOf(gone.key).entity
  return namesOf(fresh?.key || after).entity
}

function sinceOf({ context, fresh, occurrences, example }: Candidate): number {
  if (fresh && fresh.before === 0) {
    const first = occurrences.find((one) => one.trace.begin >= -LATELY && nextKey(one, context) === fresh.key)
    if (first) return first.trace.begin
  }
  return example!.trace.begin
}

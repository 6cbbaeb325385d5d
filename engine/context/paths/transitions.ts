/** Steps that no longer follow, and steps that follow now: where requests leave their usual path. */
import { listAt, surprise } from '../measures.ts'
import { type Expectation, expectationOf, nextKey } from './expectation.ts'
import { type BrokenPath, type Context, type Fresh, type Gone, namesOf, type Occurrence } from './findings.ts'
import type { Occurrences } from './occurrences.ts'
import { BEFORE_MIN, GONE_SHARE, NOW_MIN, USUAL_SHARE } from './sides.ts'
import type { Step, Trace } from './traces.ts'

const SURPRISE_MIN = 1.5
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

export function brokenPaths({ byStep, example }: Occurrences, windows: readonly number[]): BrokenPath[] {
  const candidates: Candidate[] = []
  for (const context of ['inSpan', 'inTrace'] as const)
    for (const [after, occurrences] of byStep) {
      if (occurrences.length < BEFORE_MIN + NOW_MIN) continue
      const found = strongest(after, context, occurrences, windows, example)
      if (found) candidates.push(found)
    }
  countFirst(candidates)
  return candidates.filter(({ hits }) => hits > 0).map((one) => told(one, example))
}

function strongest(
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

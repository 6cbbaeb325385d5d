/** Spans that fail more often than before, and in whose service a request fails first. */
import { surprise } from '../measures.ts'
import { type FailingCall, namesOf } from './findings.ts'
import { BEFORE_MIN, NOW_MIN } from './sides.ts'
import type { Call } from './spans.ts'

const SURPRISE_MIN = 1.5
/** Failures of the recent side that are more than chance, and by how many times their share must have risen. */
const FAILED_MIN = 2
const RISEN = 3

/** @param calls by entity and operation, with their children set. @param windows lengths of the recent side, seconds */
export function failingCalls(
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
  const own = failed.filter(({ span }) => !span.children.some((child) => child.failed))
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

/**
 * What is expected after a step, by how requests came to it: less traffic, or another mix of requests, is
 * not a step that is gone.
 */
import { addTo, valueAt } from '../measures.ts'
import type { Context, Occurrence } from './findings.ts'

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

export interface Expectation {
  before: number
  now: number
  nextBefore: Map<string, number>
  nextNow: Map<string, number>
  kinds: ReadonlyMap<string, Side>
  /** Share of the recent side that is expected to go on with a step. */
  share(next: string): number
}

export const nextKey = (occurrence: Occurrence, context: Context): string => occurrence[context]?.key ?? ''

/** @param window seconds of the recent side. */
export function expectationOf(
  occurrences: readonly Occurrence[],
  context: Context,
  window: number,
): Expectation {
  const kinds = new Map<string, Side>()
  const nextBefore = new Map<string, number>()
  let before = 0
  for (const occurrence of occurrences) {
    const next = nextKey(occurrence, context)
    const kind = valueAt(
      kinds,
      occurrence.kind,
      (): Side => ({ before: 0, now: 0, nextBefore: new Map(), nextNow: new Map() }),
    )
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

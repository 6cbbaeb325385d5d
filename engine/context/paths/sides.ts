/** The two sides that requests are compared on: those that began lately, and those before. */
import type { Trace } from './traces.ts'

const WINDOWS = [90, 180, 300]
/** Where all requests began within these seconds, the first parts of them are tried as well. */
const SHORT = 600
const QUANTILES = [0.15, 0.3]
const SHORTEST = 15

/** Occurrences that each side needs. */
export const BEFORE_MIN = 6
export const NOW_MIN = 3
/** Share of the baseline from which on a step belongs to the path. */
export const USUAL_SHARE = 0.3
/** Of what is expected: more than this is not gone. */
export const GONE_SHARE = 0.6

/** Lengths of the recent side, seconds. @param traces by when they began, at least one */
export function windowsOf(traces: readonly Trace[]): number[] {
  if (traces.at(-1)!.begin - traces[0]!.begin >= SHORT) return WINDOWS
  const cuts = QUANTILES.map((q) => Math.max(SHORTEST, -traces[Math.floor(q * traces.length)]!.begin))
  return [...WINDOWS, ...cuts]
}

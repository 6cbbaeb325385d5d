/** Whether the lines of a group come more often than before, or have stopped. */
import { ascending, quantile, ratioDown, ratioUp } from './measures.ts'
import { covered, isYoung } from './streams.ts'
import type { Stream } from './types.ts'
import type { Windows } from './windows.ts'

/** Less covered time, seconds, is no baseline, and no window. */
const COVERED_BEFORE = 40
const COVERED_NOW = 15
const DISPERSION_MAX = 12
/** A group that stopped had this many lines, has under this share of what is expected, and this many gaps of silence. */
const STOPPED = { lines: 5, share: 0.3, gaps: 2.5, score: 2 }

export interface Rate {
  /** Log likelihood ratio, over the group's own dispersion. */
  surprise: number
  isUp: boolean
  /** Seconds. */
  window: number
  found: number
  /** Null: there is no time before to compare with. */
  expected: number | null
  before: number
}

/** An entity that was known for so long before, seconds, had time to write a line that it did not. */
const KNOWN_BEFORE = 1_800

/** Whether errors began with the stream that has them, of an entity that wrote none before. */
export const beganWithStream = (stream: Stream): boolean => isYoung(stream, KNOWN_BEFORE)

/**
 * The window in which the rate moved most.
 * @param times of the group, ascending, seconds before now
 * @param isError where its stream is young, the time before counts, in which its entity wrote no error
 */
export function strongestRate(
  times: readonly number[],
  stream: Stream,
  { focus, baseline, rates }: Windows,
  isError = false,
): Rate {
  const from = isError && beganWithStream(stream) ? Math.max(-baseline - focus, stream.known) : null
  const quiet = -times.at(-1)!
  let best: Rate = { surprise: 0, isUp: true, window: focus, found: 0, expected: 0, before: 0 }
  let before = times.length
  for (const window of rates) {
    while (before > 0 && times[before - 1]! >= -window) before--
    const found = times.length - before
    const now = covered(stream, -window, 0)
    const past = from === null ? covered(stream, -baseline - focus, -window) : Math.max(0, -window - from)
    if (past < COVERED_BEFORE || now < COVERED_NOW) {
      if (found && window === focus && !best.surprise)
        best = { surprise: 0, isUp: true, window, found, expected: null, before: 0 }
      continue
    }
    const expected = ((before + 0.3) / past) * Math.max(now, COVERED_NOW)
    const phi = before >= 4 ? dispersion(times, before, window, past) : 1
    const up = ratioUp(found, expected) / phi
    // The gaps are looked at last: they are to be sorted.
    const isSilent =
      before >= STOPPED.lines && found <= STOPPED.share * expected && quiet > STOPPED.gaps * usualGap(times)
    const down = isSilent ? ratioDown(found, expected) / phi : 0
    const surprise = Math.max(up, down)
    const isFirst = window === focus && !best.found && !best.surprise
    if (surprise > best.surprise + 0.5 || isFirst)
      best = { surprise, isUp: up >= down, window, found, expected, before }
  }
  return best
}

export const hasStopped = ({ isUp, surprise }: Rate): boolean => !isUp && surprise > STOPPED.score

/** 95 % of the gaps between lines, seconds, at least 1. */
function usualGap(times: readonly number[]): number {
  if (times.length <= 4) return Number.POSITIVE_INFINITY
  return Math.max(1, quantile(ascending(times.slice(1).map((t, i) => t - times[i]!)), 0.95))
}

/** Variance over mean of the counts per window before: bursty lines must rise by more to have risen. */
function dispersion(times: readonly number[], before: number, window: number, past: number): number {
  const windows = Math.max(2, Math.round(past / window))
  if (windows < 6) return 1
  const mean = before / windows
  let used = 0
  let variance = 0
  // Times ascend, so that those of one window are neighbours.
  for (let i = 0; i < before; used++) {
    const at = Math.floor((-window - times[i]!) / window)
    const from = i
    while (i < before && Math.floor((-window - times[i]!) / window) === at) i++
    variance += (i - from - mean) ** 2
  }
  variance += Math.max(0, windows - used) * mean * mean
  return Math.min(DISPERSION_MAX, Math.max(1, variance / windows / mean))
}

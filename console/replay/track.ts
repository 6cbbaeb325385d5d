/**
 * The axis of a replay: where on it each moment lies, and which instant is where. In real time its
 * length is the time that passed; compressed, idle time is shortened and moments of one instant stand
 * apart, so that each can be seen. All in milliseconds.
 */
import type { Replay } from '../../schemas/types.ts'

export type Pace = 'real' | 'compressed'

/** Compressed, a moment takes at least this long, and however long nothing happened at most the second. */
const LEAST_MS = 300
const MOST_MS = 1_500

export interface Track {
  length: number
  /** Of each moment; never falls. */
  positions: readonly number[]
  /** Last moment at or before a position; -1: none yet. */
  indexAt(position: number): number
  /** Epoch ms. */
  instantAt(position: number): number
  /** @param instant epoch ms */
  positionAt(instant: number): number
}

export function trackOf({ from, to, moments }: Pick<Replay, 'from' | 'to' | 'moments'>, pace: Pace): Track {
  const start = Date.parse(from)
  const end = Math.max(Date.parse(to), start + 1)
  const instants = moments.map(({ at }) => Math.min(end, Math.max(start, Date.parse(at))))
  const stepOf = (gap: number, isMoment: boolean): number =>
    pace === 'real' ? gap : Math.min(MOST_MS, Math.max(isMoment ? LEAST_MS : 0, gap))
  const positions: number[] = []
  let [at, position] = [start, 0]
  for (const instant of instants) {
    position += stepOf(instant - at, true)
    positions.push(position)
    at = instant
  }
  const length = Math.max(1, position + stepOf(end - at, false))
  // Both ends are corners of the line, too.
  const xs = [0, ...positions, length]
  const ts = [start, ...instants, end]
  return {
    length,
    positions,
    indexAt: (to) => lastAtMost(positions, to),
    instantAt: (to) => between(xs, ts, to),
    positionAt: (instant) => between(ts, xs, instant),
  }
}

/** Index of the last number that is not above a limit, of numbers that never fall; -1: none. */
export function lastAtMost(sorted: readonly number[], limit: number): number {
  let [low, high] = [0, sorted.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (sorted[middle]! <= limit) low = middle + 1
    else high = middle
  }
  return low - 1
}

/** The line through the corners, read at a place. */
function between(from: readonly number[], to: readonly number[], at: number): number {
  const i = lastAtMost(from, at)
  if (i < 0) return to[0]!
  if (i >= from.length - 1) return to.at(-1)!
  const span = from[i + 1]! - from[i]!
  return to[i]! + ((to[i + 1]! - to[i]!) * (at - from[i]!)) / span
}

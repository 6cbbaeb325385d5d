/**
 * The axis of a replay: where on it each moment lies, and which instant is where. In real time its
 * length is the time that passed; compressed, idle time is shortened and moments of one instant stand
 * apart, so that each can be seen. What is not loaded has a place on it, too. All in milliseconds.
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
  /** Between these places what happened is loaded. */
  loaded: { from: number; to: number }
  /** Last moment at or before a position; -1: none yet. */
  indexAt(position: number): number
  /** Epoch ms. */
  instantAt(position: number): number
  /** @param instant epoch ms */
  positionAt(instant: number): number
}

/** What of a span is loaded, epoch ms. */
export interface Loaded {
  from: number
  to: number
  span: { from: number; to: number }
}

/** @param loaded absent: all of it is */
export function trackOf(
  { from, to, moments }: Pick<Replay, 'from' | 'to' | 'moments'>,
  pace: Pace,
  loaded: Loaded = wholeOf(from, to),
): Track {
  const start = loaded.from
  const end = Math.max(loaded.to, start + 1)
  const instants = moments.map(({ at }) => Math.min(end, Math.max(start, Date.parse(at))))
  const stepOf = (gap: number, isMoment: boolean): number =>
    pace === 'real' ? gap : Math.min(MOST_MS, Math.max(isMoment ? LEAST_MS : 0, gap))
  const inner: number[] = []
  let [at, position] = [start, 0]
  for (const instant of instants) {
    position += stepOf(instant - at, true)
    inner.push(position)
    at = instant
  }
  const long = Math.max(1, position + stepOf(end - at, false))
  // Time that is not loaded takes room as the loaded takes it, and never more than that.
  const unloaded = (gap: number): number =>
    gap <= 0 ? 0 : pace === 'real' ? gap : Math.max(MOST_MS, Math.min(long, (long * gap) / (end - start)))
  const before = unloaded(start - loaded.span.from)
  const after = unloaded(loaded.span.to - end)
  const positions = inner.map((one) => one + before)
  const length = before + long + after
  // Both ends are corners of the line, too.
  const xs = [...(before ? [0] : []), before, ...positions, before + long, ...(after ? [length] : [])]
  const ts = [
    ...(before ? [loaded.span.from] : []),
    start,
    ...instants,
    end,
    ...(after ? [loaded.span.to] : []),
  ]
  return {
    length,
    positions,
    loaded: { from: before, to: before + long },
    indexAt: (to) => lastAtMost(positions, to),
    instantAt: (to) => between(xs, ts, to),
    positionAt: (instant) => between(ts, xs, instant),
  }
}

function wholeOf(from: string, to: string): Loaded {
  const [start, end] = [Date.parse(from), Date.parse(to)]
  return { from: start, to: end, span: { from: start, to: end } }
}

/** Whether what is at a place is loaded. */
export const isLoadedAt = ({ loaded, length }: Track, position: number): boolean =>
  position >= loaded.from && (position < loaded.to || loaded.to >= length)

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

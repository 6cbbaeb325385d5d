/**
 * Streams: what one pod or component of an entity writes to one source. A rate is told over the time that
 * its stream covers, so that a pod of five minutes is not seen to have risen from nothing.
 */
import { ascending, quantile } from './measures.ts'
import type { Timed } from './types.ts'

/** A silence longer than this, seconds, or 20 usual gaps, is time that is not covered. */
const SILENCE = 600
const GAPS = 20
/** A stream that ended this long ago, or less, has stopped; one that ended before has only ended. */
const ENDED = 1_800

export interface Stream {
  times: number[]
  /** Covered, from and to, seconds. */
  spans: [number, number][]
  /** Patterns that first came before the focus, lines there, and lines in the focus: the odds of a new one. */
  firsts: number
  before: number
  lately: number
}

export const streamKey = ({ row: { source, entity, labels } }: Timed): string =>
  `${source}\0${entity}\0${labels.pod ?? labels.component ?? ''}`

/** @param lines without samples, in order of time. */
export function streamsOf(lines: readonly Timed[]): Map<string, Stream> {
  const streams = new Map<string, Stream>()
  for (const line of lines) {
    const key = streamKey(line)
    let stream = streams.get(key)
    if (!stream) streams.set(key, (stream = { times: [], spans: [], firsts: 0, before: 0, lately: 0 }))
    stream.times.push(line.t)
  }
  for (const stream of streams.values()) stream.spans = spansOf(stream.times)
  return streams
}

function spansOf(times: readonly number[]): [number, number][] {
  const gaps = ascending(times.slice(1).map((t, i) => t - times[i]!))
  const most = Math.max(SILENCE, GAPS * (quantile(gaps, 0.5) || 0))
  const spans: [number, number][] = []
  for (const t of times) {
    const last = spans.at(-1)
    if (last && t - last[1] <= most) last[1] = t
    else spans.push([t, t])
  }
  const last = spans.at(-1)
  if (last && -last[1] <= Math.max(most, ENDED)) last[1] = 0
  return spans
}

/** Seconds that a stream covers between two times. */
export function covered({ spans }: Stream, from: number, to: number): number {
  let sum = 0
  for (const [a, b] of spans) sum += Math.max(0, Math.min(to, b) - Math.max(from, a))
  return sum
}

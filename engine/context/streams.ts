/**
 * Streams: what one pod or component of an entity writes to one source. A rate is told over the time that
 * its stream covers, so that a pod of five minutes is not seen to have risen from nothing.
 */
import { ascending, mapAt, quantile } from './measures.ts'
import type { Stream, Timed } from './types.ts'

/** A silence longer than this, seconds, or 20 usual gaps, is time that is not covered. */
const SILENCE = 600
const GAPS = 20
/** A stream that ended this long ago, or less, has stopped; one that ended before has only ended. */
const ENDED = 1_800

/** Sets the stream of each. @param lines without samples, in order of time. */
export function setStreams(lines: readonly Timed[]): void {
  const sources = new Map<string, Map<string, Map<string, Stream>>>()
  const known = new Map<Map<string, Stream>, number>()
  const streams: Stream[] = []
  for (const line of lines) {
    const { source, entity, labels } = line.row
    const parts = mapAt(mapAt(sources, source), entity)
    const part = String(labels.pod ?? labels.component ?? '')
    let stream = parts.get(part)
    if (!stream) {
      if (!known.has(parts)) known.set(parts, line.t)
      stream = { times: [], known: known.get(parts)!, spans: [], firsts: 0, before: 0, lately: 0 }
      parts.set(part, stream)
      streams.push(stream)
    }
    stream.times.push(line.t)
    line.stream = stream
  }
  for (const stream of streams) stream.spans = spansOf(stream.times)
}

function spansOf(times: readonly number[]): [number, number][] {
  const most = Math.max(SILENCE, GAPS * usualGap(times))
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

/**
 * Median of the gaps between times, seconds; 0 where it is too short to matter, which most streams are told
 * by without sorting: half of the gaps would have to be longer than SILENCE / GAPS.
 */
function usualGap(times: readonly number[]): number {
  const length = times.at(-1)! - times[0]!
  if (length < (SILENCE / GAPS) * Math.floor((times.length - 1) / 2)) return 0
  return quantile(ascending(times.slice(1).map((t, i) => t - times[i]!)), 0.5) || 0
}

/** Whether a stream began after its entity was known for this long, seconds. */
export const isYoung = ({ spans, known }: Stream, after: number): boolean => spans[0]![0] > known + after

/** Seconds that a stream covers between two times. */
export function covered({ spans }: Stream, from: number, to: number): number {
  let sum = 0
  for (const [a, b] of spans) sum += Math.max(0, Math.min(to, b) - Math.max(from, a))
  return sum
}

/** Geometry of the strip above the slider: how much happened where, of which kind, and what is not shown. */
import type { Replay, ReplayGap } from '../../../schemas/types.ts'
import type { MomentKind } from '../player.ts'
import type { Track } from '../track.ts'
import { KINDS } from '../words.ts'

export interface StripBar {
  /** 0 to 1 from the left, and from the bottom. */
  x: number
  y: number
  width: number
  height: number
  kind: MomentKind
}

export interface StripTick {
  x: number
  kind: MomentKind
}

export interface StripGap {
  x: number
  width: number
  gap: ReplayGap
}

/** Kinds that have a tick each: what one looks for. */
const TICKED: ReadonlySet<MomentKind> = new Set(['firing', 'run', 'finding', 'handoff', 'change', 'state'])

/** Stacked by kind in buckets; square-root scaled, so that one burst does not flatten the rest. */
export function stripBars({ moments }: Pick<Replay, 'moments'>, track: Track, buckets: number): StripBar[] {
  const counts = Array.from({ length: buckets }, () => new Map<MomentKind, number>())
  moments.forEach(({ kind }, i) => {
    const at = counts[bucketOf(track.positions[i]! / track.length, buckets)]!
    at.set(kind, (at.get(kind) ?? 0) + 1)
  })
  const totals = counts.map((one) => [...one.values()].reduce((sum, n) => sum + n, 0))
  const top = Math.max(1, ...totals)
  return counts.flatMap((one, i) => {
    const tall = Math.sqrt(totals[i]! / top)
    let y = 0
    return KINDS.flatMap(({ kind }) => {
      const n = one.get(kind)
      if (!n) return []
      const height = (n / totals[i]!) * tall
      const bar = { x: i / buckets, y, width: 1 / buckets, height, kind }
      y += height
      return [bar]
    })
  })
}

/** One for each place and kind, however many are there. */
export function stripTicks({ moments }: Pick<Replay, 'moments'>, track: Track, places: number): StripTick[] {
  const known = new Map<string, StripTick>()
  moments.forEach(({ kind }, i) => {
    if (!TICKED.has(kind)) return
    const x = track.positions[i]! / track.length
    const name = `${kind} ${bucketOf(x, places)}`
    if (!known.has(name)) known.set(name, { x, kind })
  })
  return [...known.values()]
}

/** Where on the track nothing, or not all, is known. */
export function stripGaps({ gaps }: Pick<Replay, 'gaps'>, track: Track): StripGap[] {
  return gaps.flatMap((gap) => {
    const [from, to] = [gap.from, gap.to].map((at) => track.positionAt(Date.parse(at)) / track.length)
    return to! < from! ? [] : [{ gap, x: from!, width: Math.max(0.004, to! - from!) }]
  })
}

const bucketOf = (x: number, buckets: number): number => Math.min(buckets - 1, Math.floor(x * buckets))

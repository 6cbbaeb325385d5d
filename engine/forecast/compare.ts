/** Firings before and after a change, matched by time and key as they come. */
import type { PlanBacktestTrigger } from '../../schemas/types.ts'
import type { Fired } from './stream.ts'

const KEYS_LISTED = 50
/** Buckets of a chart that still is one. */
const BUCKETS_MAX = 60
const BUCKETS = [
  ['1m', 60_000],
  ['5m', 300_000],
  ['15m', 900_000],
  ['1h', 3_600_000],
  ['6h', 21_600_000],
  ['1d', 86_400_000],
  ['7d', 604_800_000],
  ['30d', 2_592_000_000],
  ['365d', 31_536_000_000],
] as const

/** Buckets of a span. Epoch ms. */
export class Buckets {
  readonly length: string
  private readonly ms: number
  private readonly first: number
  readonly n: number

  constructor(from: number, to: number) {
    const [length, ms] = BUCKETS.find(([, each]) => (to - from) / each <= BUCKETS_MAX) ?? BUCKETS.at(-1)!
    this.length = length
    this.ms = ms
    this.first = Math.floor(from / ms)
    this.n = Math.floor(to / ms) - this.first + 1
  }

  placeOf(at: number): number {
    return Math.floor(at / this.ms) - this.first
  }

  startOf(place: number): string {
    return new Date((this.first + place) * this.ms).toISOString()
  }
}

type Side = 'before' | 'after'
type Listed = PlanBacktestTrigger['list'][number]

interface Waiting extends Fired {
  before: number
  after: number
}

const DAY_MS = 86_400_000

/** Of one trigger. */
export class Comparison {
  added = 0
  gone = 0
  same = 0
  /** Firings that wake agents, of each day of the span. */
  readonly days: Record<Side, number[]>
  private readonly waiting = new Map<string, Waiting>()
  private readonly keys = new Map<string, { before: number; after: number }>()
  private readonly counts: Record<Side, number[]>
  private readonly differing: Listed[] = []
  private readonly alike: Listed[] = []

  /** @param listed firings that are kept of each kind */
  constructor(
    private readonly buckets: Buckets,
    private readonly span: { from: number; to: number },
    private readonly listed: number,
  ) {
    const zeros = (n: number) => new Array<number>(n).fill(0)
    const days = Math.max(1, Math.ceil((span.to - span.from) / DAY_MS))
    this.days = { before: zeros(days), after: zeros(days) }
    this.counts = { before: zeros(buckets.n), after: zeros(buckets.n) }
  }

  add(side: Side, fired: Fired): void {
    const { at, key, resolved } = fired
    const id = `${at} ${resolved} ${key}`
    const waiting = this.waiting.get(id) ?? { ...fired, before: 0, after: 0 }
    waiting[side]++
    if (side === 'after') waiting.value = fired.value
    this.waiting.set(id, waiting)
    const known = this.keys.get(key) ?? { before: 0, after: 0 }
    known[side]++
    this.keys.set(key, known)
    this.counts[side][this.buckets.placeOf(at)]!++
    const days = this.days[side]
    if (!resolved) days[Math.min(days.length - 1, Math.floor((at - this.span.from) / DAY_MS))]!++
  }

  /** Counts those of before an instant: nothing more comes of then, before or after. */
  settle(until: number): void {
    for (const [id, { at, key, value, resolved, before, after }] of this.waiting) {
      if (at >= until) continue
      this.waiting.delete(id)
      const same = Math.min(before, after)
      this.same += same
      this.added += after - same
      this.gone += before - same
      const row = { at: new Date(at).toISOString(), key, value, resolved }
      const is = after > before ? 'added' : 'gone'
      for (let n = same; n < Math.max(before, after); n++) this.list(this.differing, { ...row, is })
      for (let n = 0; n < same; n++) this.list(this.alike, { ...row, is: 'same' })
    }
  }

  result(): Pick<
    PlanBacktestTrigger,
    'added' | 'gone' | 'same' | 'keys' | 'key_count' | 'list' | 'is_cut' | 'buckets'
  > {
    const { added, gone, same, keys, counts, buckets } = this
    const newest = (list: readonly Listed[]) =>
      [...list]
        .sort((a, b) => (a.at < b.at ? 1 : a.at > b.at ? -1 : a.key < b.key ? -1 : 1))
        .slice(0, this.listed)
    const list = [...newest(this.differing), ...newest(this.alike)]
    const size = (key: { before: number; after: number }) => Math.abs(key.after - key.before)
    return {
      ...{ added, gone, same },
      keys: [...keys]
        .map(([key, n]) => ({ key, ...n }))
        .sort((a, b) => size(b) - size(a) || b.after - a.after || (a.key < b.key ? -1 : 1))
        .slice(0, KEYS_LISTED),
      key_count: keys.size,
      list,
      is_cut: list.length < added + gone + same,
      buckets: counts.before.map((before, place) => ({
        at: buckets.startOf(place),
        before,
        after: counts.after[place]!,
      })),
    }
  }

  /** The newest are kept, and no more than twice what is shown. */
  private list(to: Listed[], row: Listed): void {
    to.push(row)
    if (to.length >= this.listed * 2) to.splice(0, to.length - this.listed)
  }
}

/** Firings before and after a change, matched by time and key as they come. */

import type { PlanBacktestSide, PlanBacktestTrigger } from '../../../schemas/types.ts'
import { DAY_MS } from '../../model/units.ts'
import { createEvaluator, MemoryLedger, type TimeBuckets } from '../../triggers/core/index.ts'
import type {
  Decision,
  Evaluator,
  LabelLookup,
  Ledger,
  NoteFilter,
  Seen,
  TriggerDefinition,
} from '../../triggers/types.ts'

const KEYS_LISTED = 50
type Side = 'before' | 'after'
type Listed = PlanBacktestTrigger['list'][number]

interface Waiting extends Fired {
  before: number
  after: number
}

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
    private readonly buckets: TimeBuckets,
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

/* Events through the evaluator, with what it decides kept in memory. */

/** A firing there would have been. `at` in epoch ms. */
interface Fired {
  at: number
  key: string
  value: number | null
  resolved: boolean
}

/** What one definition came to. */
export class FiringTally {
  readonly counts: PlanBacktestSide = {
    ...{ firings: 0, resolved: 0, cooldown: 0, active: 0, folded: 0, held: 0, dropped: 0 },
    ...{ no_key: 0, no_value: 0, late: 0, errors: 0 },
  }
  /** Of the first that could not be evaluated. */
  fault: string | null = null

  /** Takes note of a decision. */
  add(decision: Decision, fired: Fired | null): void {
    const { counts } = this
    if (fired?.resolved) counts.resolved++
    else if (fired) counts.firings++
    if (decision.do === 'drop') counts.dropped++
    if (!('verdict' in decision)) return
    const { reason, text } = decision.verdict
    if (reason === 'error') {
      counts.errors++
      this.fault ??= text
    } else if (COUNTED.has(reason)) counts[reason as Counted]++
  }
}

type Counted = 'cooldown' | 'active' | 'folded' | 'held' | 'no_key' | 'no_value' | 'late'
const COUNTED: ReadonlySet<string> = new Set<Counted>([
  ...(['cooldown', 'active', 'folded', 'held', 'no_key', 'no_value', 'late'] as const),
])

/**
 * Times that memory is given back in a span. As often as live, once a minute, looking through all keys took nine
 * tenths of a backtest of seven days (2026-11-24).
 */
const SWEEPS = 20
const SWEEP_LEAST_MS = 60_000

/** Of what did not fire, what is counted; the rest is most of it, and is not even put into words. */
const wanted: NoteFilter = (_trigger, reason) => reason === 'error' || COUNTED.has(reason)

interface StreamParts {
  definitions: readonly TriggerDefinition[]
  labels: LabelLookup
  sourceName(id: number): string
  /** Decisions at an instant before it only fill windows and cooldowns. Epoch ms, inclusive; so is `to`. */
  from: number
  to: number
  tallies: ReadonlyMap<number, FiringTally>
  fired(triggerId: number, firing: Fired): void
}

/** @example const stream = new Stream(parts); for (const event of events) stream.feed(event); stream.finish() */
export class FiringStream {
  private readonly evaluator: Evaluator
  private readonly ledgers: ReadonlyMap<number, MemoryLedger>

  constructor(private readonly parts: StreamParts) {
    const { definitions, labels, sourceName } = parts
    const ledgers = new Map(definitions.map(({ id }) => [id, new MemoryLedger()]))
    const of = (id: number) => ledgers.get(id)!
    const ledger: Ledger = {
      lastFired: (id, key) => of(id).lastFired(id, key),
      lastRank: (id, key) => of(id).lastRank(id, key),
      firedSince: (id, after) => of(id).firedSince(id, after),
      open: (id) => of(id).open(),
      active: (id) => of(id).active(),
      alerts: (id) => of(id).alerts(),
      handledAt: (id) => of(id).handledAt(),
      watched: (id) => of(id).watched(),
    }
    this.ledgers = ledgers
    const sweepMs = Math.max(SWEEP_LEAST_MS, (parts.to - parts.from) / SWEEPS)
    // The evaluator asks its ledger for keys that are watched at its start alone.
    const ports = { labels, sourceName, history: null, ledger, sweepMs, withoutWatch: true }
    this.evaluator = createEvaluator(ports)
    this.evaluator.define(definitions)
  }

  /** @param event stored after those fed before it; read before this returns. */
  feed(event: Seen): void {
    this.advance(event.ingestedAt)
    this.apply(this.evaluator.judgeSeen(event, wanted))
  }

  /** Does what the clock makes due up to an instant, epoch ms. */
  advance(until: number): void {
    for (let due = this.evaluator.nextDue(); due !== null && due <= until; due = this.evaluator.nextDue())
      this.apply(this.evaluator.tick(due))
  }

  private apply(decisions: readonly Decision[]): void {
    const { from, to, tallies } = this.parts
    for (const decision of decisions) {
      if (isMemory(decision)) continue
      const id = 'verdict' in decision ? decision.verdict.triggerId : decision.triggerId
      const found = this.ledgers.get(id)!.apply(decision)
      const at = instantOf(decision)
      if (at < from || at > to) continue
      const fired = found && { at, key: found.key, value: found.value, resolved: found.resolved }
      tallies.get(id)!.add(decision, fired)
      if (fired) this.parts.fired(id, fired)
    }
  }
}

type Memory = Extract<Decision, { do: 'watch' | 'alert' | 'over' }>

/** What the evaluator remembers of a key, by itself here. */
const isMemory = (decision: Decision): decision is Memory =>
  decision.do === 'watch' || decision.do === 'alert' || decision.do === 'over'

function instantOf(decision: Exclude<Decision, Memory>): number {
  return 'verdict' in decision ? decision.verdict.at : decision.at
}

/** When a trigger would have fired over events in the order they were stored. */
import type { BacktestFiring, BacktestRun } from '../../../schemas/types.ts'
import { eventId } from '../../timeline/present.ts'
import type { Decision, Evaluator, LabelLookup, Seen, TriggerDefinition } from '../types.ts'
import { createEvaluator } from './evaluator.ts'
import { type MemoryFiring, MemoryLedger } from './memory-ledger.ts'

const LISTED = 500
const KEYS_LISTED = 50
const EVENTS_LISTED = 10
const BUCKETS_MAX = 200
const BUCKETS = [
  ['1m', 60_000],
  ['5m', 300_000],
  ['15m', 900_000],
  ['1h', 3_600_000],
  ['6h', 21_600_000],
  ['1d', 86_400_000],
  ['7d', 604_800_000],
  ['30d', 2_592_000_000],
] as const

export interface BacktestParts {
  definition: TriggerDefinition
  /** Firings count from here, epoch ms; events from before it only fill windows. */
  from: number
  to: number
  labels: LabelLookup
  sourceName(id: number): string
}

export interface BacktestAnswer {
  run: BacktestRun
  /** Length of its buckets. */
  bucket: string
}

/** @example const run = new Backtest(parts); for (const event of events) run.feed(event); run.finish() */
export class Backtest {
  private readonly ledger = new MemoryLedger()
  private readonly evaluator: Evaluator
  private readonly firings: MemoryFiring[] = []
  private readonly matchedAt: number[] = []
  private readonly reasons: Record<string, number> = {}
  private peak: number | null = null

  constructor(private readonly parts: BacktestParts) {
    const { labels, sourceName } = parts
    this.evaluator = createEvaluator({ labels, sourceName, history: null, ledger: this.ledger })
    this.evaluator.define([parts.definition])
  }

  /** @param event stored after those fed before it. */
  feed(event: Seen): void {
    this.advance(event.ingestedAt)
    this.apply(this.evaluator.judgeSeen(event, () => true))
  }

  /** What came of it, with what the clock made due up to the end. */
  finish(): BacktestAnswer {
    this.advance(this.parts.to)
    return answerOf(this.firings, this.matchedAt, this.reasons, this.peak, this.parts)
  }

  /** The run of a schedule, whose firings are its slots. @param slots epoch ms, ascending */
  static ofTimes(slots: readonly number[], key: string, from: number, to: number): BacktestAnswer {
    const firings = slots.map(
      (at): MemoryFiring => ({ at, key, value: null, eventIds: [], heldBack: 0, resolved: false }),
    )
    return answerOf(firings, [], {}, null, { from, to })
  }

  private advance(until: number): void {
    for (let due = this.evaluator.nextDue(); due !== null && due <= until; due = this.evaluator.nextDue())
      this.apply(this.evaluator.tick(due))
  }

  private apply(decisions: readonly Decision[]): void {
    const { from, to } = this.parts
    for (const decision of decisions) {
      const firing = this.ledger.apply(decision)
      if (firing && firing.at >= from && firing.at <= to) this.firings.push(firing)
      if (!('verdict' in decision)) continue
      const { at, reason, value, eventId: event, predicate } = decision.verdict
      if (at < from || at > to) continue
      if (event !== null && reason !== 'filter') this.matchedAt.push(at)
      if (predicate !== null && value !== null) this.peak = Math.max(this.peak ?? value, value)
      if (decision.do === 'note') this.reasons[reason] = (this.reasons[reason] ?? 0) + 1
    }
  }
}

function answerOf(
  firings: readonly MemoryFiring[],
  matchedAt: readonly number[],
  reasons: Record<string, number>,
  peak: number | null,
  { from, to }: Pick<BacktestParts, 'from' | 'to'>,
): BacktestAnswer {
  const byKey = new Map<string, number>()
  for (const { key } of firings) byKey.set(key, (byKey.get(key) ?? 0) + 1)
  const [bucket, length] = BUCKETS.find(([, ms]) => (to - from) / ms <= BUCKETS_MAX) ?? BUCKETS.at(-1)!
  const start = Math.floor(from / length)
  const buckets = Array.from({ length: Math.floor(to / length) - start + 1 }, (_, n) => ({
    at: new Date((start + n) * length).toISOString(),
    firings: 0,
    matched: 0,
  }))
  for (const { at } of firings) buckets[Math.floor(at / length) - start]!.firings++
  for (const at of matchedAt) buckets[Math.floor(at / length) - start]!.matched++
  const run: BacktestRun = {
    firings: firings.length,
    list: firings.slice(-LISTED).reverse().map(present),
    by_key: [...byKey]
      .map(([key, n]) => ({ key, firings: n }))
      .sort((a, b) => b.firings - a.firings || (a.key < b.key ? -1 : 1))
      .slice(0, KEYS_LISTED),
    buckets,
    matched: matchedAt.length,
    reasons,
    peak,
  }
  return { run, bucket }
}

function present({ at, key, value, eventIds, heldBack, resolved }: MemoryFiring): BacktestFiring {
  return {
    at: new Date(at).toISOString(),
    key,
    value,
    events: eventIds.length,
    event_ids: eventIds.slice(0, EVENTS_LISTED).map(eventId),
    held_back: heldBack,
    resolved,
  }
}

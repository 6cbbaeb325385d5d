/** When a trigger would have fired over events in the order they were stored. */
import type { BacktestFiring, BacktestRun } from '../../../schemas/types.ts'
import { eventId } from '../../log/timeline/present.ts'
import type {
  ActiveKey,
  Crossing,
  Decision,
  Evaluator,
  KeyAlert,
  LabelLookup,
  Ledger,
  OpenBurst,
  Seen,
  TriggerDefinition,
  Verdict,
  WatchedKey,
} from '../types.ts'
import { createEvaluator } from './evaluator.ts'

const LISTED = 500
const KEYS_LISTED = 50
const EVENTS_LISTED = 10
const BUCKETS_MAX = 200
const HOUR_MS = 3_600_000

interface BacktestParts {
  definition: TriggerDefinition
  /** Firings count from here, epoch ms; events from before it only fill windows. */
  from: number
  to: number
  labels: LabelLookup
  sourceName(id: number): string
}

interface BacktestAnswer {
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

  /** What ends an alert, or none, has passed other filters than those of the trigger. */
  private isEnd(reason: Verdict['reason']): boolean {
    const { condition } = this.parts.definition.spec
    return 'event' in condition && (reason === 'resolved' || reason === 'unchanged')
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
      if (event !== null && reason !== 'filter' && !this.isEnd(reason)) this.matchedAt.push(at)
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
  // What is over fires nothing: it is listed, and not counted.
  const fired = firings.filter(({ resolved }) => !resolved)
  const byKey = new Map<string, number>()
  for (const { key } of fired) byKey.set(key, (byKey.get(key) ?? 0) + 1)
  const span = new TimeBuckets(from, to, BUCKETS_MAX)
  const buckets = Array.from({ length: span.n }, (_, place) => ({
    at: span.startOf(place),
    firings: 0,
    matched: 0,
  }))
  for (const { at } of fired) buckets[span.placeOf(at)]!.firings++
  for (const at of matchedAt) buckets[span.placeOf(at)]!.matched++
  const run: BacktestRun = {
    firings: fired.length,
    list: firings.slice(-LISTED).reverse().map(present),
    by_key: [...byKey]
      .map(([key, n]) => ({ key, firings: n }))
      .sort((a, b) => b.firings - a.firings || (a.key < b.key ? -1 : 1))
      .slice(0, KEYS_LISTED),
    buckets,
    matched: matchedAt.length,
    matched_last_hour: matchedAt.filter((at) => at > to - HOUR_MS).length,
    reasons,
    peak,
  }
  return { run, bucket: span.length }
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

const BUCKET_LENGTHS = [
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

/** Buckets of a span of time, of the shortest length of which there are no more than so many. Epoch ms. */
export class TimeBuckets {
  readonly length: string
  private readonly ms: number
  private readonly first: number
  readonly n: number

  constructor(from: number, to: number, most: number) {
    const [length, ms] =
      BUCKET_LENGTHS.find(([, each]) => (to - from) / each <= most) ?? BUCKET_LENGTHS.at(-1)!
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

/* The ledger of one trigger in memory: what was decided is told again, as its rows would. */

/** A firing there was. */
interface MemoryFiring {
  at: number
  key: string
  value: number | null
  eventIds: number[]
  heldBack: number
  resolved: boolean
}

interface Burst extends Omit<OpenBurst, 'ids' | 'keys' | 'events'> {
  ids: Set<number>
  keys: Set<string>
  first: Crossing
  crossings: number
  heldBack: number
}

export class MemoryLedger implements Ledger {
  private readonly last = new Map<string, number>()
  private readonly ranks = new Map<string, number>()
  private readonly times: number[] = []
  private burst: Burst | null = null
  private readonly lasting = new Map<string, ActiveKey>()
  private readonly on = new Map<string, Map<string, KeyAlert>>()
  private readonly heard = new Map<string, WatchedKey>()

  /** Takes note of what was decided. @returns the firing, where it is one */
  apply(decision: Decision): MemoryFiring | null {
    switch (decision.do) {
      case 'fire': {
        const { key, at, value, eventIds, labels, rank } = decision.crossing
        this.last.set(key, at)
        if (rank !== undefined) this.ranks.set(key, rank)
        this.times.push(at)
        this.lasting.set(key, { key, labels, since: at, lead: 0 })
        return { at, key, value, eventIds, heldBack: 0, resolved: false }
      }
      case 'open': {
        const { crossing, state, dueAt } = decision
        const { at } = crossing
        this.burst = {
          state,
          dueAt,
          openedAt: at,
          lastAt: at,
          ids: new Set(),
          keys: new Set(),
          first: crossing,
          crossings: 0,
          heldBack: 0,
        }
        this.take(this.burst, crossing)
        return null
      }
      case 'fold':
        this.burst!.dueAt = decision.dueAt
        this.take(this.burst!, decision.crossing)
        return null
      case 'hold': {
        const burst = this.burst!
        if (burst.state === 'gathering') burst.heldBack = burst.crossings
        burst.state = 'held'
        burst.dueAt = decision.dueAt
        return null
      }
      case 'release': {
        const { ids, keys, first, heldBack } = this.burst!
        const { at } = decision
        this.burst = null
        for (const key of keys) {
          this.last.set(key, at)
          this.ranks.delete(key)
        }
        this.times.push(at)
        const { key, value } = first
        return { at, key, value, eventIds: [...ids], heldBack, resolved: false }
      }
      case 'drop':
        this.burst = null
        return null
      case 'resolve': {
        const { key, at, value, eventIds } = decision
        this.lasting.delete(key)
        this.on.delete(key)
        return { at, key, value, eventIds, heldBack: 0, resolved: true }
      }
      case 'shift': {
        const { key, at, lead } = decision
        const active = this.lasting.get(key)
        if (active) this.lasting.set(key, { ...active, since: at, lead })
        return null
      }
      case 'watch':
        if (decision.watched.isSilent) this.heard.delete(decision.watched.key)
        else this.heard.set(decision.watched.key, decision.watched)
        return null
      case 'alert':
      case 'over':
        this.takeAlert(decision)
        return null
      case 'note':
        return null
    }
  }

  lastFired(_triggerId: number, key: string): number | null {
    return this.last.get(key) ?? null
  }

  lastRank(_triggerId: number, key: string): number | null {
    return this.ranks.get(key) ?? null
  }

  firedSince(_triggerId: number, after: number): number[] {
    return this.times.filter((time) => time > after)
  }

  open(): OpenBurst | null {
    const { burst } = this
    return burst && { ...burst, events: burst.ids.size, ids: () => burst.ids, keys: () => burst.keys }
  }

  active(): ActiveKey[] {
    return [...this.lasting.values()]
  }

  alerts(): KeyAlert[] {
    return [...this.on.values()].flatMap((alerts) => [...alerts.values()])
  }

  /** No incident is opened. */
  handledAt(): null {
    return null
  }

  watched(): WatchedKey[] {
    return [...this.heard.values()]
  }

  private takeAlert(decision: Extract<Decision, { do: 'alert' | 'over' }>): void {
    if (decision.do === 'over') {
      const { key, alert } = decision
      if (alert === null) this.on.delete(key)
      else this.on.get(key)?.delete(alert)
      return
    }
    const { key, alert } = decision.alert
    const alerts = this.on.get(key) ?? new Map<string, KeyAlert>()
    this.on.set(key, alerts.set(alert, { ...decision.alert }))
  }

  private take(burst: Burst, crossing: Crossing): void {
    for (const id of crossing.eventIds) burst.ids.add(id)
    burst.keys.add(crossing.key)
    burst.lastAt = crossing.at
    burst.crossings++
    if (burst.state === 'held') burst.heldBack++
  }
}

/* What a trigger made of each event of the past, judged anew in the order they were stored. */

interface RecorderParts {
  definition: TriggerDefinition
  labels: LabelLookup
  sourceName(id: number): string
  /** Told each judgement; of events that a filter leaves out there is none. */
  record(verdict: Verdict): void
}

/** @example const recorder = new Recorder(parts); for (const event of events) recorder.feed(event) */
export class Recorder {
  private readonly ledger = new MemoryLedger()
  private readonly evaluator: Evaluator

  constructor(private readonly parts: RecorderParts) {
    const { labels, sourceName, definition } = parts
    this.evaluator = createEvaluator({ labels, sourceName, history: null, ledger: this.ledger })
    this.evaluator.define([definition])
  }

  /** @param event stored after those fed before it. */
  feed(event: Seen): void {
    const { evaluator } = this
    for (let due = evaluator.nextDue(); due !== null && due <= event.ingestedAt; due = evaluator.nextDue())
      this.apply(evaluator.tick(due))
    this.apply(evaluator.judgeSeen(event, (_trigger, reason) => reason !== 'filter'))
  }

  private apply(decisions: readonly Decision[]): void {
    for (const decision of decisions) {
      this.ledger.apply(decision)
      if ('verdict' in decision) this.parts.record(decision.verdict)
    }
  }
}

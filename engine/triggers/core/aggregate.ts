/**
 * Thresholds over a sliding window of event time. The value of the window that ends with the newest
 * event of a key is kept up to date; an event that comes late is judged in its own window and in
 * those of later events that it falls in, of which the first that meets the predicate counts.
 */
import type { AggregateCondition } from '../../../schemas/types.ts'
import { parseDuration } from '../../model/units.ts'
import { EVIDENCE_MAX } from '../types.ts'
import {
  type Compiled,
  type ConditionState,
  type Field,
  fieldOf,
  intakeOf,
  type Met,
  NO_EVENT,
  numberIn,
  type Outcome,
  type Predicate,
  parsePredicate,
  type Unmet,
} from './condition.ts'
import type { Entries, EventCursor, Key } from './entries.ts'
import { ExactSum, FOREVER, type HistoryReader, type Shared, type Window, Windows } from './windows.ts'

/** Beyond, a sum of as many as memory holds could overflow. */
const NUMBER_MAX = 1e290

interface AggregateWindow extends Window {
  /** Of the window that ends with the newest entry. */
  tally: Tally
  /** Its first entry. */
  low: number
}

type KeyLabels = Pick<Key, 'id' | 'labels'>

export class AggregateState implements ConditionState {
  private readonly windowMs: number
  private readonly predicate: Predicate
  private readonly tallied: Aggregate
  private readonly windows: AggregateWindows
  private readonly given = new WeakMap<AggregateWindow, Given>()

  constructor(
    trigger: Compiled,
    private readonly condition: AggregateCondition,
    reader: HistoryReader,
    shared: Shared | null = null,
  ) {
    this.windowMs = parseDuration(condition.window, 'condition.window')
    this.predicate = parsePredicate(condition.predicate)
    const tallied = talliedBy(condition)
    this.tallied = tallied
    const counted = { tallied, field: condition.field ?? '', windowMs: this.windowMs }
    const make = () => new AggregateWindows(trigger, counted, reader, shared !== null)
    // The predicate is each trigger's own.
    this.windows = shared ? shared.get('windows', [intakeOf(trigger.definition), counted], make) : make()
  }

  judge(event: EventCursor, key: Key, beforeId: number): Outcome {
    const entered = this.windows.enter(event, key, beforeId)
    if (entered === null)
      return { why: 'no_value', value: null, text: () => `it has no ${this.valueWords()}` }
    const { window, place, isNewest, value } = entered
    if (!isNewest) return this.judgeLate(window, place, event.ts)
    return this.outcome(window, value, window.low, window.entries.length)
  }

  /** Over (now - window, now]; null: undefined, since nothing is in it. */
  valueAt(key: KeyLabels, now: number): number | null {
    const { entries } = this.windows.at(key, now)
    const tally = createTally(this.tallied)
    tally.enter(entries, entries.after(now - this.windowMs), entries.after(now))
    return this.scaled(tally.value(), this.predicate)
  }

  changesAt(key: KeyLabels, now: number): number | null {
    const { entries } = this.windows.at(key, now)
    const leaving = entries.after(now - this.windowMs)
    const coming = entries.after(now)
    const leaves = leaving < coming ? entries.tsAt(leaving) + this.windowMs : Number.POSITIVE_INFINITY
    const comes = coming < entries.length ? entries.tsAt(coming) : Number.POSITIVE_INFINITY
    const at = Math.min(leaves, comes)
    return at === Number.POSITIVE_INFINITY ? null : at
  }

  sweep(now: number): number {
    return this.windows.sweep(now)
  }

  keys(): Iterable<[number | string, number, number]> {
    return this.windows.keys()
  }

  drop(id: number | string): void {
    this.windows.drop(id)
  }

  private judgeLate(window: AggregateWindow, place: number, ts: number): Outcome {
    const { entries } = window
    this.given.delete(window)
    const tally = createTally(this.tallied)
    let from = entries.after(ts - this.windowMs)
    let to = place + 1
    tally.enter(entries, from, to)
    const own = this.outcome(window, tally.value()!, from, to)
    if ('evidence' in own) return own
    while (to < entries.length && entries.tsAt(to) < ts + this.windowMs) {
      const end = entries.tsAt(to)
      const next = entries.after(end)
      tally.enter(entries, to, next)
      to = next
      const first = entries.after(end - this.windowMs)
      tally.leave(entries, from, first)
      from = first
      const later = this.outcome(window, tally.value()!, from, to)
      if ('evidence' in later) return later
    }
    return own
  }

  private outcome(window: AggregateWindow, tallied: number, from: number, to: number): Met | Unmet {
    const value = this.scaled(tallied, this.predicate)!
    const { predicate } = this
    if (!predicate.holds(value))
      return { why: 'below', value, text: () => `${this.words(value)}, not ${predicate.words}` }
    return {
      value,
      reason: `${this.words(value)}, ${predicate.words}`,
      end: window.entries.tsAt(to - 1),
      evidence: (burst) => {
        if (burst === null) return evidenceOf(window.entries, from, to)
        const before = this.given.get(window)
        const start = before?.burst === burst ? given(before, window.entries, from, to) : from
        // Of one that ends before the newest, what stands behind it may not have been given.
        if (to === window.entries.length)
          this.given.set(window, { burst, from: window.entries.tsAt(from), id: window.entries.idAt(to - 1) })
        return evidenceOf(window.entries, start, to)
      },
    }
  }

  /** A count as a rate. */
  private scaled(value: number | null, { unitMs }: Predicate): number | null {
    return value !== null && this.condition.aggregate === 'rate' ? (value * unitMs) / this.windowMs : value
  }

  private valueWords(): string {
    return this.tallied === 'distinct' ? this.condition.field! : `number ${this.condition.field}`
  }

  /** "7 events in 5m". */
  words(value: number | null): string {
    const { aggregate, field, window } = this.condition
    if (value === null) return `no events in ${window}`
    const n = String(Number(value.toPrecision(12)))
    if (this.tallied === 'distinct') return `${n} distinct ${field} in ${window}`
    if (aggregate === 'rate') return `${n} events a ${UNIT_WORDS[this.predicate.unitMs]} in ${window}`
    if (this.tallied === 'count') return `${n} ${value === 1 ? 'event' : 'events'} in ${window}`
    return `${aggregate === 'any' ? 'max' : aggregate} ${field} ${n} in ${window}`
  }
}

const UNIT_WORDS: Record<number, string> = { 1000: 'second', 60000: 'minute', 3600000: 'hour' }

/* The windows of all keys, which triggers share that count the same of the same events. */

/** What an event came to. */
interface Entered {
  window: AggregateWindow
  /** Of its entry. */
  place: number
  /** Whether none of its key is of a later time. */
  isNewest: boolean
  /** Of the window that ends with the newest. */
  value: number
}

class AggregateWindows {
  private readonly field: Field | null
  private readonly windows: Windows<AggregateWindow>
  private eventId = NO_EVENT
  private entered: Entered | null = null
  private sweptAt = Number.NaN
  private weight = 0

  /** @param isShared whether several triggers enter each event */
  constructor(
    trigger: Compiled,
    private readonly counted: { tallied: Aggregate; field: string; windowMs: number },
    reader: HistoryReader,
    private readonly isShared: boolean,
  ) {
    const { tallied, field, windowMs } = counted
    this.field = tallied === 'count' ? null : fieldOf(field)
    this.windows = new Windows(
      trigger,
      windowMs,
      reader,
      (event) => this.valueOf(event),
      (entries, coversFrom) => this.create(entries, coversFrom),
      (window, by) => this.shift(window, by),
    )
  }

  /** @returns null: it has no value that counts */
  enter(event: EventCursor, key: Key, beforeId: number): Entered | null {
    if (this.isShared && event.id === this.eventId) return this.entered
    this.entered = this.add(event, key, beforeId)
    this.eventId = event.id
    return this.entered
  }

  at(key: KeyLabels, now: number): AggregateWindow {
    return this.windows.at(key, now, FOREVER)
  }

  sweep(now: number): number {
    if (!this.isShared || now !== this.sweptAt) this.weight = this.windows.sweep(now)
    this.sweptAt = now
    return this.weight
  }

  keys(): Iterable<[number | string, number, number]> {
    return this.windows.keys()
  }

  drop(id: number | string): void {
    this.windows.byKey.delete(id)
  }

  private add(event: EventCursor, key: Key, beforeId: number): Entered | null {
    const value = this.valueOf(event)
    if (value === null) return null
    const { ts, id } = event
    const window = this.windows.at(key, ts, beforeId)
    window.used = id
    const { entries, tally } = window
    const isNewest = ts >= entries.lastTs
    const place = entries.insert(ts, id, value)
    if (isNewest) {
      tally.enter(entries, place, place + 1)
      this.advance(window)
    } else if (ts > entries.lastTs - this.counted.windowMs) tally.enter(entries, place, place + 1)
    else window.low++
    return { window, place, isNewest, value: tally.value()! }
  }

  private create(entries: Entries, coversFrom: number): AggregateWindow {
    const low = entries.after(entries.lastTs - this.counted.windowMs)
    const tally = createTally(this.counted.tallied)
    tally.enter(entries, low, entries.length)
    return { entries, coversFrom, used: 0, tally, low }
  }

  /**
   * Entries came or went at the front. What was read for the clock covers the window that ends now, and not all of that
   * of the newest entry: the rest of it comes with what is read for a late event.
   */
  private shift(window: AggregateWindow, by: number): void {
    window.low += by
    if (by <= 0) return
    const { entries, tally } = window
    const first = entries.after(entries.lastTs - this.counted.windowMs)
    if (first >= by) return
    tally.enter(entries, first, by)
    window.low = first
  }

  /** What left the window of the newest entry. */
  private advance(window: AggregateWindow): void {
    const { entries, tally, low } = window
    const horizon = entries.lastTs - this.counted.windowMs
    let until = low
    while (entries.tsAt(until) <= horizon) until++
    tally.leave(entries, low, until)
    window.low = until
  }

  private valueOf(event: EventCursor): number | string | null {
    if (!this.field) return 0
    const text = this.field.text(event)
    if (text === undefined) return null
    if (this.counted.tallied === 'distinct') return text
    const number = numberIn(text)
    return number === undefined || Math.abs(number) > NUMBER_MAX ? null : number
  }
}

function talliedBy({ aggregate, field }: AggregateCondition): Aggregate {
  if (aggregate === 'rate') return 'count'
  if (aggregate === 'any') return field === undefined ? 'count' : 'max'
  return aggregate
}

/* The aggregate of a window, kept up to date as entries enter and leave it. */

interface Tally {
  /** Entries in [from, to) enter. */
  enter(entries: Entries, from: number, to: number): void
  /** Those in [from, to) leave: the first ones of the window. */
  leave(entries: Entries, from: number, to: number): void
  /** Null: the window is empty, and its value undefined. */
  value(): number | null
}

type Aggregate = 'count' | 'sum' | 'avg' | 'min' | 'max' | 'distinct'

function createTally(aggregate: Aggregate): Tally {
  switch (aggregate) {
    case 'count':
      return new CountTally()
    case 'sum':
      return new SumTally(false)
    case 'avg':
      return new SumTally(true)
    case 'min':
      return new ExtremeTally(-1)
    case 'max':
      return new ExtremeTally(1)
    case 'distinct':
      return new DistinctTally()
  }
}

class CountTally implements Tally {
  private n = 0

  enter(_entries: Entries, from: number, to: number): void {
    this.n += to - from
  }

  leave(_entries: Entries, from: number, to: number): void {
    this.n -= to - from
  }

  value(): number {
    return this.n
  }
}

class SumTally implements Tally {
  private n = 0
  private readonly sum = new ExactSum()

  constructor(private readonly average: boolean) {}

  enter(entries: Entries, from: number, to: number): void {
    this.n += to - from
    for (let i = from; i < to; i++) this.sum.add(entries.numberAt(i))
  }

  leave(entries: Entries, from: number, to: number): void {
    this.n -= to - from
    for (let i = from; i < to; i++) this.sum.add(-entries.numberAt(i))
  }

  value(): number | null {
    if (!this.average) return this.sum.value()
    return this.n === 0 ? null : this.sum.value() / this.n
  }
}

/** Largest value, of sign × value, by a queue of those that no later one outdoes. */
class ExtremeTally implements Tally {
  private readonly ts: number[] = []
  private readonly values: number[] = []
  private head = 0

  constructor(private readonly sign: 1 | -1) {}

  enter(entries: Entries, from: number, to: number): void {
    for (let i = from; i < to; i++) this.add(entries.tsAt(i), this.sign * entries.numberAt(i))
  }

  leave(entries: Entries, from: number, to: number): void {
    if (to === from) return
    const until = entries.tsAt(to - 1)
    while (this.head < this.ts.length && this.ts[this.head]! <= until) this.head++
    if (this.head < 64 || this.head * 2 < this.ts.length) return
    this.ts.splice(0, this.head)
    this.values.splice(0, this.head)
    this.head = 0
  }

  value(): number | null {
    return this.head < this.ts.length ? this.sign * this.values[this.head]! : null
  }

  private add(ts: number, value: number): void {
    let at = this.ts.length
    while (at > this.head && this.ts[at - 1]! > ts) at--
    // A late one that a later one outdoes is never the largest.
    if (at < this.ts.length && this.values[at]! >= value) return
    let first = at
    while (first > this.head && this.values[first - 1]! <= value) first--
    this.ts.splice(first, at - first, ts)
    this.values.splice(first, at - first, value)
  }
}

class DistinctTally implements Tally {
  private readonly counts = new Map<string, number>()

  enter(entries: Entries, from: number, to: number): void {
    for (let i = from; i < to; i++) {
      const text = entries.textAt(i)
      this.counts.set(text, (this.counts.get(text) ?? 0) + 1)
    }
  }

  leave(entries: Entries, from: number, to: number): void {
    for (let i = from; i < to; i++) {
      const text = entries.textAt(i)
      const rest = this.counts.get(text)! - 1
      if (rest === 0) this.counts.delete(text)
      else this.counts.set(text, rest)
    }
  }

  value(): number {
    return this.counts.size
  }
}

/* Ids of the events that met a condition. */

/** What a key has given to a burst already, by windows that only moved forward since. */
interface Given {
  burst: object
  /** Event time of the first. */
  from: number
  /** Id of the last. */
  id: number
}

/** Ids of the entries in [from, to), ascending; of too many, the newest. */
function evidenceOf(entries: Entries, from: number, to: number): number[] {
  const ids: number[] = []
  for (let i = Math.max(from, to - EVIDENCE_MAX); i < to; i++) ids.push(entries.idAt(i))
  return ids.sort((a, b) => a - b)
}

/**
 * First entry of [from, to) that was not given yet: without it a burst of n events would hand over
 * n² ids. No late event came between, so all that is new stands at the end.
 */
function given({ from: first, id }: Given, entries: Entries, from: number, to: number): number {
  if (entries.tsAt(from) < first) return from
  let start = to
  while (start > from && entries.idAt(start - 1) > id) start--
  return start
}

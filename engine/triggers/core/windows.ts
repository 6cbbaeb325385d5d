/**
 * Entries of each key, over the span of event time that windows still reach. What is not in memory
 * is read from the history; nothing is forgotten while events are judged, because those of the
 * transaction that is open are in no history yet.
 *
 * A sequence is steps in order of event time. Of each step only the chain that began last matters, since it ends
 * soonest; a late event is judged by the tightest chain that goes through it. A change of a value comes last.
 */

import type { ChangeCondition, SequenceCondition } from '../../../schemas/types.ts'
import { parseDuration } from '../../model/units.ts'
import type { HistoryQuery, Seen } from '../types.ts'
import {
  type Compiled,
  type ConditionState,
  type EvaluatorPorts,
  failing,
  fieldOf,
  intakeOf,
  KEY_WEIGHT,
  NO_EVENT,
  type Outcome,
} from './condition.ts'
import { Entries, EventCursor, type Key } from './entries.ts'

/** How long the entries of an idle key stay, beyond their window. */
const IDLE_MS = 10 * 60_000
/** Kept besides the window for events that come out of order by little, which is common. */
const SLACK_MIN_MS = 60_000
const SLACK_PART = 4

export interface Window {
  entries: Entries
  /** All entries of a later event time are in memory. */
  coversFrom: number
  /** Id of the event that used it last. */
  used: number
}

export class Windows<W extends Window> {
  readonly byKey = new Map<number | string, W>()
  private readonly slackMs: number

  constructor(
    private readonly trigger: Compiled,
    private readonly lengthMs: number,
    private readonly reader: HistoryReader,
    /** What an event counts as; null: it does not. */
    private readonly entryOf: (event: EventCursor) => number | string | null,
    private readonly create: (entries: Entries, coversFrom: number) => W,
    /** Entries came or went at the front. */
    private readonly shifted: (window: W, by: number) => void,
  ) {
    const slack = Math.max(SLACK_MIN_MS, lengthMs / SLACK_PART)
    this.slackMs = reader.exists ? Math.min(trigger.maxLateMs, slack) : trigger.maxLateMs
  }

  /** The window of a key, that covers all after `ts - length`. */
  at(key: Pick<Key, 'id' | 'labels'>, ts: number, beforeId: number): W {
    const needed = ts - this.lengthMs
    let window = this.byKey.get(key.id)
    if (!window) {
      const { exists } = this.reader
      const coversFrom = exists ? needed - this.slackMs : Number.NEGATIVE_INFINITY
      const entries = exists ? this.read(key, coversFrom, FOREVER, beforeId) : new Entries()
      window = this.create(entries, coversFrom)
      this.byKey.set(key.id, window)
    } else if (window.coversFrom > needed) {
      const from = needed - this.slackMs
      if (this.reader.exists) {
        const older = this.read(key, from, window.coversFrom, beforeId)
        const count = older.length
        window.entries.prepend(older)
        this.shifted(window, count)
      }
      window.coversFrom = from
    }
    if (beforeId !== FOREVER) window.used = beforeId
    return window
  }

  sweep(now: number): number {
    let weight = 0
    for (const [id, window] of this.byKey) {
      const { entries } = window
      const horizon = Math.min(entries.lastTs, now) - this.lengthMs - this.slackMs
      if (entries.lastTs <= now - this.lengthMs - this.slackMs - IDLE_MS) {
        this.byKey.delete(id)
        continue
      }
      const gone = entries.after(horizon)
      if (gone > 0) {
        entries.drop(gone)
        this.shifted(window, -gone)
        window.coversFrom = Math.max(window.coversFrom, horizon)
      }
      weight += entries.length + KEY_WEIGHT
    }
    return weight
  }

  *keys(): Iterable<[number | string, number, number]> {
    for (const [id, { used, entries }] of this.byKey) yield [id, used, entries.length + KEY_WEIGHT]
  }

  private read(key: Pick<Key, 'id' | 'labels'>, from: number, to: number, beforeId: number): Entries {
    const entries = new Entries()
    this.reader.forward(this.trigger, key, { from, to, beforeId }, (event) => {
      const value = this.entryOf(event)
      if (value !== null) entries.insert(event.ts, event.id, value)
    })
    return entries
  }
}

/*
 * What triggers that are defined together have in common. Where nothing but the events that are judged counts, those
 * that take the same events and count the same of them have the same windows: a plan is judged before and after, and
 * most of it is alike on both sides.
 */

export class Shared {
  private readonly made = new Map<string, unknown>()

  /** @param what all that it follows from. @returns what was made of that before, else what is made now */
  get<T>(kind: string, what: unknown, make: () => T): T {
    const text = JSON.stringify([kind, what])
    let made = this.made.get(text) as T | undefined
    if (made === undefined) {
      made = make()
      this.made.set(text, made)
    }
    return made
  }
}

/*
 * A sum of floats that is exact, whatever was added and taken away before: the value of a window must
 * not depend on what left it, or a restart would change it. Shewchuk's partial sums, as in Python's
 * math.fsum.
 */

export class ExactSum {
  /** Do not overlap, smallest first; their sum is exact. */
  private readonly partials: number[] = []

  add(value: number): void {
    const { partials } = this
    let x = value
    let kept = 0
    for (let k = 0; k < partials.length; k++) {
      let y = partials[k]!
      if (Math.abs(x) < Math.abs(y)) [x, y] = [y, x]
      const high = x + y
      const low = y - (high - x)
      if (low !== 0) partials[kept++] = low
      x = high
    }
    partials.length = kept
    if (x !== 0) partials.push(x)
  }

  /** Rounded once. */
  value(): number {
    const { partials } = this
    let k = partials.length - 1
    if (k < 0) return 0
    let high = partials[k]!
    let low = 0
    while (k > 0 && low === 0) {
      const x = high
      const y = partials[--k]!
      high = x + y
      low = y - (high - x)
    }
    // Half way between two floats, the partials below decide where to.
    if (k > 0 && Math.sign(low) === Math.sign(partials[k - 1]!)) {
      const twice = low * 2
      const rounded = high + twice
      if (twice === rounded - high) return rounded
    }
    return high
  }
}

/* Reads back what a trigger would have counted, by the same filters and the same key. */

const PAGE = 1_000
const PAGE_MAX = 20_000
/** Of pages that get larger, newest first. */
const FIRST_PAGE = 50

export const FOREVER = Number.MAX_SAFE_INTEGER

export class HistoryReader {
  private readonly cursor: EventCursor

  constructor(private readonly ports: EvaluatorPorts) {
    this.cursor = new EventCursor(ports.labels, ports.sourceName)
  }

  /** As EventCursor.reset. */
  reset(): void {
    this.cursor.reset()
  }

  /** False: what is not in memory cannot be read. */
  get exists(): boolean {
    return this.ports.history !== null
  }

  /** Events of a key that count, by (event time, id). @param from exclusive @param to inclusive */
  forward(
    trigger: Compiled,
    key: Pick<Key, 'id' | 'labels'>,
    { from, to, beforeId }: { from: number; to: number; beforeId: number },
    visit: (event: EventCursor) => void,
  ): void {
    let start = from
    let limit = PAGE
    /** Ids at `start` that were visited already: pages overlap by their last instant. */
    let seenAtStart = new Set<number>()
    for (;;) {
      const page = this.read(trigger, key.labels, { from: start, to, beforeId, order: 'asc', limit })
      for (const seen of page) {
        if (seen.ts > from && !seenAtStart.has(seen.id) && this.counts(trigger, key, seen)) visit(this.cursor)
      }
      if (page.length < limit) return
      const last = page.at(-1)!.ts
      // A page of one instant says nothing of what comes after it.
      if (last === start) limit *= 2
      else limit = PAGE_MAX
      seenAtStart = new Set(page.filter(({ ts }) => ts === last).map(({ id }) => id))
      start = last
    }
  }

  /** The newest event of a key that counts, of the last `most`. @param accept whether this is the one */
  newest(
    trigger: Compiled,
    key: Pick<Key, 'id' | 'labels'>,
    { beforeId, most }: { beforeId: number; most: number },
    accept: (event: EventCursor) => boolean,
  ): void {
    if (!this.exists) return
    for (let limit = FIRST_PAGE; ; limit = Math.min(most, limit * 10)) {
      const page = this.read(trigger, key.labels, {
        from: -FOREVER,
        to: FOREVER,
        beforeId,
        order: 'desc',
        limit,
      })
      for (const seen of page) if (this.counts(trigger, key, seen) && accept(this.cursor)) return
      if (page.length < limit || limit >= most) return
    }
  }

  private counts(trigger: Compiled, key: Pick<Key, 'id'>, seen: Seen): boolean {
    return this.keyOf(trigger, seen)?.id === key.id
  }

  private keyOf(trigger: Compiled, seen: Seen): Key | null {
    const { cursor } = this
    cursor.setSeen(seen)
    if (cursor.ingestedAt - cursor.ts > trigger.maxLateMs || failing(trigger.filters, cursor)) return null
    return trigger.key.read(cursor)
  }

  private read(
    { definition, readsPayload, key }: Compiled,
    labels: readonly number[],
    query: Omit<HistoryQuery, 'sourceIds' | 'labels' | 'withPayload'>,
  ): Seen[] {
    const { sourceIds } = definition
    const alike = key.alike?.(labels, this.ports.labels)
    return this.ports.history!.read({ sourceIds, labels, alike, withPayload: readsPayload, ...query })
  }
}

/** A chain of steps up to one of them. */
interface Chain {
  id: number
  /** Event time of its first step. */
  start: number
  before: Chain | null
}

interface SequenceWindow extends Window {
  /** By step: the chain that began last. */
  chains: (Chain | null)[]
}

export class SequenceState implements ConditionState {
  private readonly withinMs: number
  private readonly windows: Windows<SequenceWindow>
  private readonly last: number
  private readonly steps: Steps

  constructor(
    trigger: Compiled,
    private readonly condition: SequenceCondition,
    reader: HistoryReader,
    shared: Shared | null = null,
  ) {
    const steps = () => new Steps(trigger.steps, shared !== null)
    const what = () => [intakeOf(trigger.definition), condition.sequence.map(({ filters }) => filters)]
    this.steps = shared ? shared.get('steps', what(), steps) : steps()
    this.last = condition.sequence.length - 1
    this.withinMs = parseDuration(condition.within, 'condition.within')
    this.windows = new Windows(
      trigger,
      // A chain of exactly this length counts, and a window leaves its start out.
      this.withinMs + 1,
      reader,
      (event) => this.steps.of(event) || null,
      (entries, coversFrom) => ({ entries, coversFrom, used: 0, chains: this.chainsOf(entries) }),
      () => {},
    )
  }

  judge(event: EventCursor, key: Key, beforeId: number): Outcome {
    const steps = this.steps.of(event)
    if (steps === 0)
      return { why: 'filter', value: null, text: () => 'it is none of the steps of the sequence' }
    const window = this.windows.at(key, event.ts, beforeId)
    window.used = event.id
    const { entries } = window
    const isNewest = event.ts >= entries.lastTs
    const place = entries.insert(event.ts, event.id, steps)
    const chain = isNewest
      ? this.extend(window.chains, event.ts, event.id, steps)
      : this.through(entries, place, steps)
    if (!isNewest) window.chains = this.chainsOf(entries)
    if (chain === null) return { why: 'waiting', value: null, text: () => this.waiting(window) }
    const { within } = this.condition
    return {
      value: null,
      reason: `${this.condition.sequence.map((_, n) => this.nameOf(n)).join(', then ')}, within ${within}`,
      evidence: () => [...chain].sort((a, b) => a - b),
    }
  }

  sweep(now: number): number {
    return this.windows.sweep(now)
  }

  keys(): Iterable<[number | string, number, number]> {
    return this.windows.keys()
  }

  drop(id: number | string): void {
    this.windows.byKey.delete(id)
  }

  /** Adds an event that is the newest. @returns ids of the chain it completes, or null */
  private extend(chains: (Chain | null)[], ts: number, id: number, steps: number): number[] | null {
    let met: number[] | null = null
    // From the last step down: an event is no step after itself.
    for (let step = this.last; step >= 0; step--) {
      if (!(steps & (1 << step))) continue
      const before = step === 0 ? null : chains[step - 1]!
      if (step > 0 && (before === null || ts - before.start > this.withinMs)) continue
      const chain: Chain = { id, start: before?.start ?? ts, before }
      if (step === this.last) met = idsOf(chain)
      chains[step] = chain
    }
    return met
  }

  private chainsOf(entries: Entries): (Chain | null)[] {
    const chains: (Chain | null)[] = this.condition.sequence.map(() => null)
    for (let i = 0; i < entries.length; i++)
      this.extend(chains, entries.tsAt(i), entries.idAt(i), entries.numberAt(i))
    return chains
  }

  /** The tightest chain through an event, as any of the steps it is. */
  private through(entries: Entries, place: number, steps: number): number[] | null {
    for (let step = this.last; step >= 0; step--) {
      if (!(steps & (1 << step))) continue
      const ids = [entries.idAt(place)]
      const first = this.walk(entries, place, step, -1, ids)
      const end = first === null ? null : this.walk(entries, place, step, 1, ids)
      if (first !== null && end !== null && end - first <= this.withinMs) return ids
    }
    return null
  }

  /** The nearest events that are the steps before, or after, one. @returns event time of the outermost */
  private walk(entries: Entries, place: number, step: number, by: 1 | -1, ids: number[]): number | null {
    let wanted = step + by
    let at = place
    while (wanted >= 0 && wanted <= this.last) {
      at += by
      if (at < 0 || at >= entries.length) return null
      if (Math.abs(entries.tsAt(at) - entries.tsAt(place)) > this.withinMs) return null
      if (!(entries.numberAt(at) & (1 << wanted))) continue
      ids.push(entries.idAt(at))
      wanted += by
    }
    return entries.tsAt(at)
  }

  /** A chain that began too long ago waits for nothing any more. */
  private waiting({ chains: all, entries }: SequenceWindow): string {
    const chains = all.map((chain) => (chain && entries.lastTs - chain.start <= this.withinMs ? chain : null))
    let reached = chains.length - 1
    while (reached > 0 && (chains[reached] === null || reached === this.last)) reached--
    if (chains[reached] === null) return `waits for ${this.nameOf(0)}, the first step`
    return `waits for ${this.nameOf(reached + 1)}, step ${reached + 2} of ${this.last + 1}`
  }

  private nameOf(step: number): string {
    return this.condition.sequence[step]!.name || `step ${step + 1}`
  }
}

/** Which steps an event is. */
class Steps {
  private eventId = NO_EVENT
  private steps = 0

  /** @param isShared whether several triggers ask of each event */
  constructor(
    private readonly filters: Compiled['steps'],
    private readonly isShared: boolean,
  ) {}

  /** A bit for each. */
  of(event: EventCursor): number {
    if (this.isShared && event.id === this.eventId) return this.steps
    let steps = 0
    this.filters.forEach((filters, n) => {
      if (!failing(filters, event)) steps |= 1 << n
    })
    this.steps = steps
    this.eventId = event.id
    return steps
  }
}

function idsOf(chain: Chain): number[] {
  const ids: number[] = []
  for (let at: Chain | null = chain; at !== null; at = at.before) ids.push(at.id)
  return ids
}

/*
 * The value of a label or field against that of the key's newest event by event time. An event that
 * comes after a newer one of its key is no news: it is told to be late and changes nothing.
 */

/** Events of a key looked at for the value it had, when none is in memory. */
const LOOK_BACK = 10_000
/** What a sentence tells of a value. */
const SHOWN = 80

interface Known {
  ts: number
  /** Event that used it last. */
  id: number
  /** Null: no event of the key had a value. */
  text: string | null
}

export class ChangeState implements ConditionState {
  private readonly known = new Map<number | string, Known>()
  private readonly field

  constructor(
    private readonly trigger: Compiled,
    private readonly condition: ChangeCondition,
    private readonly reader: HistoryReader,
  ) {
    this.field = fieldOf(condition.change_of)
  }

  judge(event: EventCursor, key: Key, beforeId: number): Outcome {
    const { change_of: name, from, to } = this.condition
    const text = this.field.text(event)
    if (text === undefined) return { why: 'no_value', value: null, text: () => `it has no ${name}` }
    const { id, ts } = event
    const before = this.known.get(key.id) ?? this.read(key, beforeId)
    if (ts < before.ts) {
      before.id = id
      return { why: 'late', value: null, text: () => `a newer event had set ${name} already` }
    }
    this.known.set(key.id, { ts, id, text })
    const was = before.text
    if (was === null || was === text) {
      const words = was === null ? `the first ${name} of its key` : `${name} is ${shown(text)} as before`
      return { why: 'unchanged', value: null, text: () => words }
    }
    const words = `${name} changed from ${shown(was)} to ${shown(text)}`
    if ((from !== undefined && was !== from) || (to !== undefined && text !== to)) {
      const wanted = `${from === undefined ? '' : ` from ${shown(from)}`}${to === undefined ? '' : ` to ${shown(to)}`}`
      return { why: 'unchanged', value: null, text: () => `${words}, not${wanted}` }
    }
    return { value: null, reason: words, evidence: () => [id] }
  }

  sweep(): number {
    return this.known.size * KEY_WEIGHT
  }

  *keys(): Iterable<[number | string, number, number]> {
    for (const [key, { id }] of this.known) yield [key, id, KEY_WEIGHT]
  }

  drop(id: number | string): void {
    this.known.delete(id)
  }

  private read(key: Key, beforeId: number): Known {
    const found: Known = { ts: Number.NEGATIVE_INFINITY, id: beforeId, text: null }
    this.reader.newest(this.trigger, key, { beforeId, most: LOOK_BACK }, (event) => {
      const text = this.field.text(event)
      if (text === undefined) return false
      found.ts = event.ts
      found.text = text
      return true
    })
    return found
  }
}

const shown = (text: string) => (text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text)

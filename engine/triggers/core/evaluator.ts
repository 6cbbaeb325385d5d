/**
 * The evaluator: an event finds the triggers it could match by its labels, each judges it, and what
 * the clock makes due is settled before the next event is looked at, so that what is decided follows
 * from the events and their times of ingest alone.
 */

import { SOURCE_LABEL, TYPE_LABEL } from '../../log/store/labels.ts'
import type {
  Decision,
  Evaluator,
  LabelLookup,
  NoteFilter,
  Seen,
  SeenBatch,
  TriggerDefinition,
} from '../types.ts'
import {
  ANY_LABEL,
  type Compiled,
  type CompiledFilter,
  compile,
  type EvaluatorPorts,
  isEventful,
  verdictOf,
} from './condition.ts'
import { EventCursor } from './entries.ts'
import { Runtime } from './runtime.ts'
import { HistoryReader, Shared } from './windows.ts'

const ENTRIES_MAX = 2_000_000
/** Of the entries, kept when there are too many. */
const KEPT_PART = 0.8
const SWEEP_MS = 60_000

/** A trigger in the index. */
interface Watching {
  definition: TriggerDefinition
  /** Of its definition: another one begins anew. */
  text: string
  /** Null: it cannot be judged, for this reason. */
  runtime: Runtime | null
  fault: string
  sourceIds: readonly number[]
  ways: Compiled['steps']
  /** Event it judged last: several of its labels may lead to it. */
  seen: number
  /** When the clock makes something due, epoch ms. */
  due: number | null
}

/** @param ports read by whenever memory does not know. */
export function createEvaluator(ports: EvaluatorPorts): Evaluator {
  return new LiveEvaluator(ports)
}

class LiveEvaluator implements Evaluator {
  private watching = new Map<number, Watching>()
  private index: MatchIndex<Watching>
  private readonly reader: HistoryReader
  private readonly cursor: EventCursor
  /** Those with something due by the clock. */
  private readonly timed = new Set<Watching>()
  /** The first of it; infinite: nothing. */
  private due = Number.POSITIVE_INFINITY
  private isDueKnown = true
  private sweepAt: number | null = null
  /** Up to when all that was due has been done, epoch ms. */
  private settledAt: number
  private readonly entriesMax: number
  private readonly sweepMs: number

  constructor(private readonly ports: EvaluatorPorts) {
    this.reader = new HistoryReader(ports)
    this.cursor = new EventCursor(ports.labels, ports.sourceName)
    this.index = new MatchIndex([], ports.labels)
    this.sweepMs = ports.sweepMs ?? SWEEP_MS
    this.settledAt = ports.listensSince ?? 0
    this.entriesMax = ports.history ? (ports.entriesMax ?? ENTRIES_MAX) : Number.POSITIVE_INFINITY
  }

  define(definitions: readonly TriggerDefinition[]): void {
    const watching = new Map<number, Watching>()
    const shared = this.share()
    for (const definition of definitions) {
      if (!isEventful(definition.spec)) continue
      const text = JSON.stringify(definition)
      const known = this.watching.get(definition.id)
      watching.set(definition.id, known?.text === text ? known : this.watch(definition, text, shared))
    }
    this.watching = watching
    this.arrange()
  }

  reset(): void {
    this.cursor.reset()
    this.reader.reset()
    const shared = this.share()
    for (const [id, { definition, text }] of this.watching)
      this.watching.set(id, this.watch(definition, text, shared))
    this.arrange()
    this.sweepAt = null
  }

  judge(batch: SeenBatch, notes: NoteFilter): Decision[] {
    const decisions: Decision[] = []
    const { sourceId, ingestedAt, firstId, events, kept, bypass } = batch
    this.settle(ingestedAt, notes, decisions)
    if (!this.index.watches(sourceId)) return decisions
    const { cursor, index } = this
    cursor.sourceId = sourceId
    cursor.ingestedAt = ingestedAt
    cursor.bypass = bypass
    const n = kept ? kept.length : events.n
    for (let k = 0; k < n; k++) {
      const place = kept ? kept[k]! : k
      const from = place === 0 ? 0 : events.labelEnds[place - 1]!
      const numbers = events.numbers?.[place] ?? null
      if (!index.finds(events.labels, from, events.labelEnds[place]!, numbers)) continue
      // What the event before made due at once: where a body ends decides nothing.
      if (k > 0) this.settle(ingestedAt, notes, decisions)
      cursor.setPacked(events, place, firstId + k)
      this.judgeCursor(numbers, notes, decisions)
    }
    return decisions
  }

  judgeSeen(event: Seen, notes: NoteFilter): Decision[] {
    const decisions: Decision[] = []
    this.settle(event.ingestedAt, notes, decisions)
    if (!this.index.watches(event.sourceId)) return decisions
    const { labels } = event
    const numbers = event.numbersText === undefined ? textOf(event.numbers()) : event.numbersText
    if (!this.index.finds(labels, 0, labels.length, numbers)) return decisions
    this.cursor.setSeen(event)
    this.judgeCursor(numbers, notes, decisions)
    return decisions
  }

  tick(now: number): Decision[] {
    const decisions: Decision[] = []
    this.settle(now, () => true, decisions)
    if (this.sweepAt !== null && this.sweepAt <= now) this.sweep(now)
    return decisions
  }

  nextDue(): number | null {
    const due = Math.min(this.firstDue(), this.sweepAt ?? Number.POSITIVE_INFINITY)
    return due === Number.POSITIVE_INFINITY ? null : due
  }

  private arrange(): void {
    const all = [...this.watching.values()]
    this.index = new MatchIndex(all, this.ports.labels)
    this.timed.clear()
    for (const watching of all) {
      // It is in no list of what is due any more, those that are as they were included.
      watching.due = null
      this.time(watching)
    }
    this.isDueKnown = false
  }

  private time(watching: Watching): void {
    const before = watching.due
    watching.due = watching.runtime?.dueAt() ?? null
    if (watching.due === before) return
    if (watching.due === null) this.timed.delete(watching)
    else this.timed.add(watching)
    if (before === this.due) this.isDueKnown = false
    else if (watching.due !== null && watching.due < this.due) this.due = watching.due
  }

  /** Live each trigger keeps its own: it is defined at another time, and its memory is given back by itself. */
  private share(): Shared | null {
    return this.ports.history ? null : new Shared()
  }

  private watch(definition: TriggerDefinition, text: string, shared: Shared | null): Watching {
    const { sourceIds } = definition
    try {
      const compiled = compile(definition)
      const runtime = new Runtime(compiled, this.ports, this.reader, shared, this.settledAt)
      const { filters, steps, over } = compiled
      const ways = steps.length ? steps.map((step) => [...filters, ...step]) : [filters]
      if (over) ways.push([...over.filters])
      return { definition, text, runtime, fault: '', sourceIds, ways, seen: 0, due: null }
    } catch (error) {
      if (isStoreFault(error)) throw error
      // An older version may have let it through; every event of its sources says so.
      return {
        definition,
        text,
        runtime: null,
        fault: words(error),
        sourceIds,
        ways: [[]],
        seen: 0,
        due: null,
      }
    }
  }

  private judgeCursor(numbers: string | null, notes: NoteFilter, decisions: Decision[]): void {
    const { cursor } = this
    const out = (decision: Decision): void => {
      decisions.push(decision)
    }
    const judge = (runtime: Runtime): boolean => runtime.judge(cursor, notes, out)
    this.index.candidates(cursor, numbers, (watching) => {
      if (watching.seen === cursor.id) return
      watching.seen = cursor.id
      this.sweepAt ??= cursor.ingestedAt + this.sweepMs
      this.attempt(watching, cursor.ingestedAt, cursor.id, decisions, judge)
    })
  }

  private settle(now: number, notes: NoteFilter, decisions: Decision[]): void {
    this.settledAt = Math.max(this.settledAt, now)
    while (this.firstDue() <= now) {
      for (const watching of [...this.timed]) {
        if (watching.due! > now) continue
        this.attempt(watching, now, null, decisions, (runtime) => {
          runtime.settle(now, notes, (decision) => decisions.push(decision))
          return true
        })
      }
    }
  }

  /** An exception is a record, never silence; but those of the store are for whoever asked. */
  private attempt(
    watching: Watching,
    at: number,
    eventId: number | null,
    decisions: Decision[],
    /** @returns whether what is due may be another */
    act: (runtime: Runtime) => boolean,
  ): void {
    if (watching.runtime) {
      try {
        if (act(watching.runtime)) this.time(watching)
        return
      } catch (error) {
        if (isStoreFault(error)) throw error
        watching.fault = words(error)
        // By the clock it would fail again at once, for ever.
        if (eventId === null) watching.runtime = null
        this.time(watching)
      }
    }
    const text = `cannot be evaluated: ${watching.fault}`
    const about = { eventId, key: null, at, reason: 'error', text } as const
    decisions.push({ do: 'note', verdict: verdictOf(watching.definition, about) })
  }

  private firstDue(): number {
    if (!this.isDueKnown) {
      this.due = Number.POSITIVE_INFINITY
      for (const { due } of this.timed) this.due = Math.min(this.due, due!)
      this.isDueKnown = true
    }
    return this.due
  }

  /** Gives memory back; never while a transaction is open, whose events are in no history yet. */
  private sweep(now: number): void {
    let entries = 0
    for (const { runtime } of this.watching.values()) entries += runtime?.sweep(now) ?? 0
    if (entries > this.entriesMax) this.evict(entries)
    this.sweepAt = entries > 0 ? now + this.sweepMs : null
  }

  private evict(entries: number): void {
    const keys: { runtime: Runtime; id: number | string; used: number; weight: number }[] = []
    for (const { runtime } of this.watching.values())
      if (runtime)
        for (const [id, used, weight] of runtime.condition.keys()) keys.push({ runtime, id, used, weight })
    keys.sort((a, b) => a.used - b.used)
    let over = entries - this.entriesMax * KEPT_PART
    for (const { runtime, id, weight } of keys) {
      if (over <= 0) break
      runtime.condition.drop(id)
      over -= weight
    }
  }
}

/** Number labels as JSON; null: there are none. */
const textOf = (numbers: Readonly<Record<string, number>>): string | null =>
  Object.keys(numbers).length ? JSON.stringify(numbers) : null

const words = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/** Of SQLite or of the file system: it has a code. */
function isStoreFault(error: unknown): boolean {
  const { code } = (error ?? {}) as { code?: unknown }
  return typeof code === 'string' && /^(SQLITE|E[A-Z]+$)/.test(code)
}

/*
 * Which triggers an event could match, by its labels alone. Each trigger waits at one access: the
 * labels of its most selective filter, or its sources. What a label id leads to is worked out once,
 * when the id first comes by, so that a label which appears later finds the triggers that wait for it.
 */

/** What the index asks of a trigger. */
interface Indexed {
  sourceIds: readonly number[]
  /** Filters that all hold of an event it could match; several: any of these lists. */
  ways: readonly (readonly CompiledFilter[])[]
}

const UNKNOWN = 0
const NONE = 1
const SOME = 2
/** Label ids whose answer is kept in a byte each. */
const BYTES_MAX = 1 << 24
/** Label ids that lead somewhere; then all is worked out anew. */
const HITS_MAX = 100_000

/** Triggers by source. */
type Hits<T> = Map<number, T[]>

/** Triggers that wait at a label name. */
interface Door<T> {
  exact: Map<string, T[]>
  lower: Map<string, T[]>
  tests: { filter: CompiledFilter; trigger: T }[]
}

class MatchIndex<T extends Indexed> {
  private readonly doors = new Map<string, Door<T>>()
  private readonly sources = new Set<number>()
  private answers = new Uint8Array(1024)
  private readonly hits = new Map<number, Hits<T>>()
  /** Finds the names in JSON of number labels that triggers wait at. */
  private readonly numberNames: RegExp | null

  constructor(
    triggers: readonly T[],
    private readonly labels: LabelLookup,
  ) {
    for (const trigger of triggers) this.add(trigger)
    const names = [...this.doors.keys()].filter((name) => name !== ANY_LABEL && !name.startsWith('@'))
    const escaped = names.map((name) => JSON.stringify(name).replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
    this.numberNames = names.length ? new RegExp(`(?:${escaped.join('|')}):`) : null
  }

  /** Whether any trigger watches a source. */
  watches(sourceId: number): boolean {
    return this.sources.has(sourceId)
  }

  /** Calls back with each trigger the event could match; with some more than once. */
  candidates(event: EventCursor, numbers: string | null, visit: (trigger: T) => void): void {
    const { labels, from, to, sourceId } = event
    for (let at = from; at < to; at++) this.visitLabel(labels[at]!, sourceId, visit)
    if (numbers !== null && this.numberNames?.test(numbers)) this.visitNumbers(event, visit)
  }

  /** Whether `candidates` could find any, from the labels in [from, to). */
  finds(labels: Uint32Array, from: number, to: number, numbers: string | null): boolean {
    const { answers } = this
    for (let at = from; at < to; at++) {
      // Beyond the bytes: undefined, which is not NONE either.
      if (answers[labels[at]!] !== NONE && this.answer(labels[at]!) === SOME) return true
    }
    return numbers !== null && (this.numberNames?.test(numbers) ?? false)
  }

  private visitLabel(label: number, sourceId: number, visit: (trigger: T) => void): void {
    if (this.answers[label] === NONE || this.answer(label) === NONE) return
    const found = this.hits.get(label)!.get(sourceId)
    if (found) for (const trigger of found) visit(trigger)
  }

  private answer(label: number): number {
    if (label < BYTES_MAX) {
      if (label >= this.answers.length) {
        const grown = new Uint8Array(Math.min(BYTES_MAX, Math.max(label + 1, this.answers.length * 2)))
        grown.set(this.answers)
        this.answers = grown
      } else if (this.answers[label] !== UNKNOWN) return this.answers[label]!
    } else if (this.hits.has(label)) return SOME
    const { name, value } = this.labels.label(label)
    const found: Hits<T> = new Map()
    const leads = this.collect(name, value, found)
    if (leads) {
      if (this.hits.size >= HITS_MAX) {
        this.hits.clear()
        this.answers.fill(UNKNOWN)
      }
      this.hits.set(label, found)
    }
    if (label < BYTES_MAX) this.answers[label] = leads ? SOME : NONE
    return leads ? SOME : NONE
  }

  private visitNumbers(event: EventCursor, visit: (trigger: T) => void): void {
    for (const name of event.numberNames()) {
      if (!this.doors.has(name)) continue
      const found: Hits<T> = new Map()
      this.collect(name, String(event.number(name)), found, true)
      for (const trigger of found.get(event.sourceId) ?? []) visit(trigger)
    }
  }

  private collect(name: string, value: string, found: Hits<T>, isNumber = false): boolean {
    open(this.doors.get(name), value, found)
    if (!isNumber && !name.startsWith('@')) open(this.doors.get(ANY_LABEL), value, found)
    return found.size > 0
  }

  private add(trigger: T): void {
    for (const sourceId of trigger.sourceIds) this.sources.add(sourceId)
    for (const filters of trigger.ways) {
      const access = accessOf(filters)
      if (!access) {
        for (const id of trigger.sourceIds) addTo(this.door(SOURCE_LABEL).exact, String(id), trigger)
        continue
      }
      const { exact, lower, tests } = this.door(access.field.labelName!)
      if (access.op === 'eq') addTo(exact, access.values![0]!, trigger)
      else if (access.op === 'in') for (const value of new Set(access.values)) addTo(lower, value, trigger)
      else tests.push({ filter: access, trigger })
    }
  }

  private door(name: string): Door<T> {
    let door = this.doors.get(name)
    if (!door) {
      door = { exact: new Map(), lower: new Map(), tests: [] }
      this.doors.set(name, door)
    }
    return door
  }
}

const RANKS: Partial<Record<CompiledFilter['op'], number>> = {
  eq: 0,
  in: 0,
  prefix: 1,
  regex: 1,
  contains: 1,
}

/** The filter that lets the fewest events through, as far as can be told; null: none is of a label. */
function accessOf(filters: readonly CompiledFilter[]): CompiledFilter | null {
  let best: CompiledFilter | null = null
  let bestRank = 3
  for (const filter of filters) {
    const rank = filter.field.labelName === TYPE_LABEL ? 2 : (RANKS[filter.op] ?? 3)
    const isOne = filter.field.labelName !== null && RANKS[filter.op] !== undefined
    if (!isOne || rank >= bestRank) continue
    best = filter
    bestRank = rank
  }
  return best
}

function open<T extends Indexed>(door: Door<T> | undefined, value: string, found: Hits<T>): void {
  if (!door) return
  for (const trigger of door.exact.get(value) ?? []) bySource(trigger, found)
  if (door.lower.size)
    for (const trigger of door.lower.get(value.toLowerCase()) ?? []) bySource(trigger, found)
  for (const { filter, trigger } of door.tests) if (filter.testText(value)) bySource(trigger, found)
}

function bySource<T extends Indexed>(trigger: T, found: Hits<T>): void {
  for (const sourceId of trigger.sourceIds) {
    const there = found.get(sourceId)
    if (there) there.push(trigger)
    else found.set(sourceId, [trigger])
  }
}

function addTo<T>(map: Map<string, T[]>, value: string, trigger: T): void {
  const there = map.get(value)
  if (there) there.push(trigger)
  else map.set(value, [trigger])
}

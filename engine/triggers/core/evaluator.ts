/**
 * The evaluator: an event finds the triggers it could match by its labels, each judges it, and what
 * the clock makes due is settled before the next event is looked at, so that what is decided follows
 * from the events and their times of ingest alone.
 */
import type { Decision, Evaluator, NoteFilter, Seen, SeenBatch, TriggerDefinition } from '../types.ts'
import { type Compiled, compile, isEventful } from './compile.ts'
import { EventCursor } from './cursor.ts'
import { HistoryReader } from './history-reader.ts'
import { MatchIndex } from './match-index.ts'
import type { EvaluatorPorts } from './ports.ts'
import { Runtime } from './runtime.ts'
import { verdictOf } from './verdicts.ts'

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
  private readonly entriesMax: number

  constructor(private readonly ports: EvaluatorPorts) {
    this.reader = new HistoryReader(ports)
    this.cursor = new EventCursor(ports.labels, ports.sourceName)
    this.index = new MatchIndex([], ports.labels)
    this.entriesMax = ports.history ? (ports.entriesMax ?? ENTRIES_MAX) : Number.POSITIVE_INFINITY
  }

  define(definitions: readonly TriggerDefinition[]): void {
    const watching = new Map<number, Watching>()
    for (const definition of definitions) {
      if (!isEventful(definition.spec)) continue
      const text = JSON.stringify(definition)
      const known = this.watching.get(definition.id)
      watching.set(definition.id, known?.text === text ? known : this.watch(definition, text))
    }
    this.watching = watching
    this.arrange()
  }

  reset(): void {
    for (const [id, { definition, text }] of this.watching)
      this.watching.set(id, this.watch(definition, text))
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
    this.cursor.setSeen(event)
    const numbers = event.numbers()
    this.judgeCursor(Object.keys(numbers).length ? JSON.stringify(numbers) : null, notes, decisions)
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

  private watch(definition: TriggerDefinition, text: string): Watching {
    const { sourceIds } = definition
    try {
      const compiled = compile(definition)
      const runtime = new Runtime(compiled, this.ports, this.reader)
      const { filters, steps } = compiled
      const ways = steps.length ? steps.map((step) => [...filters, ...step]) : [filters]
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
    this.index.candidates(cursor, numbers, (watching) => {
      if (watching.seen === cursor.id) return
      watching.seen = cursor.id
      this.sweepAt ??= cursor.ingestedAt + SWEEP_MS
      this.attempt(watching, cursor.ingestedAt, cursor.id, decisions, (runtime) =>
        runtime.judge(cursor, notes, (decision) => decisions.push(decision)),
      )
    })
  }

  private settle(now: number, notes: NoteFilter, decisions: Decision[]): void {
    while (this.firstDue() <= now) {
      for (const watching of [...this.timed]) {
        if (watching.due! > now) continue
        this.attempt(watching, now, null, decisions, (runtime) =>
          runtime.settle(now, notes, (decision) => decisions.push(decision)),
        )
      }
    }
  }

  /** An exception is a record, never silence; but those of the store are for whoever asked. */
  private attempt(
    watching: Watching,
    at: number,
    eventId: number | null,
    decisions: Decision[],
    act: (runtime: Runtime) => void,
  ): void {
    if (watching.runtime) {
      try {
        act(watching.runtime)
        this.time(watching)
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
    this.sweepAt = entries > 0 ? now + SWEEP_MS : null
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

const words = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/** Of SQLite or of the file system: it has a code. */
function isStoreFault(error: unknown): boolean {
  const { code } = (error ?? {}) as { code?: unknown }
  return typeof code === 'string' && /^(SQLITE|E[A-Z]+$)/.test(code)
}

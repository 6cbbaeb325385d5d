/** One trigger as it is judged: its condition's state by key, its bursts, its cooldowns. */
import type { Decision, NoteFilter, Verdict } from '../types.ts'
import { AggregateState } from './aggregate.ts'
import { anyEvent } from './any-event.ts'
import { ChangeState } from './change.ts'
import type { Compiled } from './compile.ts'
import { type ConditionState, isMet } from './condition.ts'
import type { EventCursor } from './cursor.ts'
import { actualOf, failing } from './filters.ts'
import { Gate } from './gate.ts'
import type { HistoryReader } from './history-reader.ts'
import type { Key } from './keys.ts'
import { Lasting } from './lasting.ts'
import type { EvaluatorPorts } from './ports.ts'
import { SequenceState } from './sequence.ts'
import { Silence } from './silence.ts'
import { instantWords, spanWords, verdictOf } from './verdicts.ts'

/** What was due longer ago than this was due while nobody looked: it happens now. */
const OVERDUE_MS = 60_000

type Out = (decision: Decision) => void
type Reason = Verdict['reason']
type Detail = Partial<Pick<Verdict, 'field' | 'expected' | 'actual' | 'value' | 'until'>>

export class Runtime {
  readonly condition: ConditionState
  private readonly gate: Gate
  private readonly lasting: Lasting | null
  private readonly silence: Silence | null

  constructor(
    readonly trigger: Compiled,
    { ledger, listensSince = 0 }: EvaluatorPorts,
    reader: HistoryReader,
  ) {
    const { condition } = trigger
    this.gate = new Gate(trigger, ledger)
    this.condition = stateOf(trigger, reader)
    this.silence = 'absent_for' in condition ? new Silence(trigger, condition, ledger, listensSince) : null
    this.lasting =
      'resolve' in condition && condition.resolve
        ? new Lasting(trigger, condition, this.condition as AggregateState, ledger)
        : null
  }

  get id(): number {
    return this.trigger.definition.id
  }

  /** @throws what the history and the ledger throw. */
  judge(event: EventCursor, notes: NoteFilter, out: Out): void {
    const { filters, maxLateMs, key: keys, definition } = this.trigger
    const failed = failing(filters, event)
    if (failed) {
      this.note(event, null, notes, out, 'filter', () => {
        const actual = actualOf(failed, event)
        const text = `filter ${failed.field.name} ${failed.expected} does not hold: it ${actual === null ? 'is missing' : `is ${actual}`}`
        return [text, { field: failed.field.name, expected: failed.expected, actual }]
      })
      return
    }
    const late = event.ingestedAt - event.ts
    if (late > maxLateMs) {
      const text = () => `stored ${spanWords(late)} after its time, later than ${spanWords(maxLateMs)}`
      this.note(event, null, notes, out, 'late', () => [text()])
      return
    }
    const key = keys.read(event)
    if (!key) {
      this.note(event, null, notes, out, 'no_key', () => [`it lacks ${keys.names}, which is the key`])
      return
    }
    if (this.silence) {
      this.hear(this.silence, event, key, notes, out)
      return
    }
    if (definition.paused) {
      this.note(event, key, notes, out, 'paused', () => ['the trigger is paused'])
      return
    }
    this.judgeCondition(event, key, notes, out)
  }

  private judgeCondition(event: EventCursor, key: Key, notes: NoteFilter, out: Out): void {
    const outcome = this.condition.judge(event, key, event.id)
    const value = outcome.value
    const lasts = this.lasting?.has(key.id) ?? false
    if (lasts) {
      const over = this.lasting!.touched(key.id, event.ingestedAt)
      if (over) out({ do: 'resolve', triggerId: this.id, ...over, eventIds: [event.id] })
    }
    if (!isMet(outcome)) {
      this.note(event, key, notes, out, outcome.why, () => [outcome.text(), { value }])
    } else if (lasts) {
      const text = `${outcome.reason}; it fired for this before and is not resolved yet`
      this.note(event, key, notes, out, 'active', () => [text, { value }])
    } else {
      const { id: eventId, ingestedAt: at } = event
      this.pass(
        {
          key: key.text,
          labels: key.labels,
          cause: `e:${eventId}:${key.text}`,
          at,
          eventId,
          value,
          reason: outcome.reason,
          evidence: outcome.evidence,
        },
        event.bypass,
        notes,
        out,
        key,
      )
    }
  }

  /** What is due by the clock up to now. */
  settle(now: number, notes: NoteFilter, out: Out): void {
    const instant = (due: number) => (now - due > OVERDUE_MS ? now : due)
    for (let due = this.gate.dueAt(); due !== null && due <= now; due = this.gate.dueAt())
      out(this.gate.settle(instant(due)))
    if (this.trigger.definition.paused) return
    const { silence, lasting } = this
    for (let due = silence?.dueAt() ?? null; due !== null && due <= now; due = silence!.dueAt())
      this.fallSilent(silence!, instant(due), notes, out)
    if (lasting) {
      for (const { at, ...over } of lasting.due(now))
        out({ do: 'resolve', triggerId: this.id, ...over, at: instant(at), eventIds: [] })
    }
  }

  /** When `settle` has something to do, epoch ms. */
  dueAt(): number | null {
    const dues = [this.gate.dueAt()]
    if (!this.trigger.definition.paused)
      dues.push(this.silence?.dueAt() ?? null, this.lasting?.dueAt() ?? null)
    let next: number | null = null
    for (const due of dues) if (due !== null && (next === null || due < next)) next = due
    return next
  }

  /** @returns entries that stay in memory */
  sweep(now: number): number {
    this.gate.sweep()
    return this.condition.sweep(now)
  }

  private hear(silence: Silence, event: EventCursor, key: Key, notes: NoteFilter, out: Out): void {
    const watched = silence.heard(event, key)
    out({ do: 'watch', triggerId: this.id, watched })
    if (this.trigger.definition.paused) {
      this.note(event, key, notes, out, 'paused', () => ['the trigger is paused'])
      return
    }
    this.note(event, key, notes, out, 'waiting', () => {
      const until = silence.dueOf(watched)
      return [`watched for silence: fires at ${instantWords(until)} when nothing comes`, { until }]
    })
  }

  private fallSilent(silence: Silence, at: number, notes: NoteFilter, out: Out): void {
    const watched = silence.take()
    out({ do: 'watch', triggerId: this.id, watched })
    const { key, labels, lastId } = watched
    const met = {
      key,
      labels,
      cause: `absent:${lastId}:${key}`,
      at,
      eventId: null,
      value: null,
      reason: `${silence.reason}, the last was evt_${lastId}`,
      evidence: () => [lastId],
    }
    this.pass(met, false, notes, out, null)
  }

  private pass(
    met: Parameters<Gate['pass']>[0],
    bypass: boolean,
    notes: NoteFilter,
    out: Out,
    key: Key | null,
  ): void {
    const decision = this.gate.pass(met, bypass)
    if (decision.do === 'note' && !notes(this.id, decision.verdict.reason, met.at)) return
    out(decision)
    // A burst is of the whole trigger, and none of its keys is known to last.
    if (decision.do === 'fire' && key) this.lasting?.begin(key, met.at)
  }

  private note(
    event: EventCursor,
    key: Key | null,
    notes: NoteFilter,
    out: Out,
    reason: Reason,
    say: () => [text: string, detail?: Detail],
  ): void {
    if (!notes(this.id, reason, event.ingestedAt)) return
    const [text, detail = {}] = say()
    const about = { eventId: event.id, key: key?.text ?? null, at: event.ingestedAt, reason, text }
    out({ do: 'note', verdict: verdictOf(this.trigger.definition, { ...about, ...detail }) })
  }
}

function stateOf(trigger: Compiled, reader: HistoryReader): ConditionState {
  const { condition } = trigger
  if ('aggregate' in condition) return new AggregateState(trigger, condition, reader)
  if ('sequence' in condition) return new SequenceState(trigger, condition, reader)
  if ('change_of' in condition) return new ChangeState(trigger, condition, reader)
  // Silence keeps its keys by itself.
  return anyEvent
}

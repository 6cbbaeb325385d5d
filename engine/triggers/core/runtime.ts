/** One trigger as it is judged: its condition's state by key, its bursts, its cooldowns. */

import type { AbsenceCondition, AggregateCondition } from '../../../schemas/types.ts'
import { parseDuration } from '../../model/units.ts'
import type { ActiveKey, Decision, NoteFilter, Verdict, WatchedKey } from '../types.ts'
import { AggregateState } from './aggregate.ts'
import {
  actualOf,
  type Compiled,
  type ConditionState,
  type EvaluatorPorts,
  Intake,
  instantWords,
  intakeOf,
  isMet,
  type Met,
  parsePredicate,
  SharedState,
  spanWords,
  verdictOf,
} from './condition.ts'
import type { EventCursor, Key, KeyReader } from './entries.ts'
import { Alerts, Gate } from './gate.ts'
import { ChangeState, type HistoryReader, SequenceState, type Shared } from './windows.ts'

/** What was due longer ago than this was due while nobody looked: it happens now. */
const OVERDUE_MS = 60_000

/** Of a condition that is met while it lasts. @param met as it is met */
export const activeText = (met: string): string => `${met}; it fired for this before and is not resolved yet`

type Out = (decision: Decision) => void
type Reason = Verdict['reason']
type Detail = Partial<Pick<Verdict, 'field' | 'expected' | 'actual' | 'value' | 'until'>>

export class Runtime {
  readonly condition: ConditionState
  private readonly gate: Gate
  private readonly lasting: Lasting | null
  private readonly alerts: Alerts | null
  private readonly silence: Silence | null
  private readonly intake: Intake

  /**
   * @param shared with the triggers that are defined together; null: it keeps all by itself
   * @param settledAt up to when all that was due has been done, epoch ms
   */
  constructor(
    readonly trigger: Compiled,
    private readonly ports: EvaluatorPorts,
    reader: HistoryReader,
    shared: Shared | null = null,
    settledAt = 0,
  ) {
    const { condition, definition } = trigger
    const { ledger } = ports
    const intake = () => new Intake(trigger, shared !== null)
    this.intake = shared ? shared.get('intake', intakeOf(definition), intake) : intake()
    this.gate = new Gate(trigger, ledger)
    this.condition = stateOf(trigger, reader, shared)
    this.silence = 'absent_for' in condition ? new Silence(trigger, condition, ports) : null
    this.alerts = trigger.over ? new Alerts(trigger, trigger.over, ledger) : null
    this.lasting =
      'aggregate' in condition && condition.resolve
        ? new Lasting(trigger, condition, this.condition as AggregateState, ports, settledAt)
        : null
  }

  get id(): number {
    return this.trigger.definition.id
  }

  /** @returns whether it was looked at: else nothing that is due is another. @throws what the history and the ledger throw. */
  judge(event: EventCursor, notes: NoteFilter, out: Out): boolean {
    const { maxLateMs, key: keys, definition } = this.trigger
    if (this.alerts?.ends(event)) {
      this.end(this.alerts, event, notes, out)
      return true
    }
    const { failed, isLate, key } = this.intake.take(event)
    if (failed) {
      // Of nearly all that is judged: what nobody wants to know is not even made ready to be said.
      if (!notes(this.id, 'filter', event.ingestedAt)) return false
      this.note(event, null, notes, out, 'filter', () => {
        const actual = actualOf(failed, event)
        const { field, expected, words } = failed
        const text = `looks only where ${words}: here it is ${actual ?? 'missing'}`
        return [text, { field: field.name, expected, actual }]
      })
      return false
    }
    if (isLate) {
      const late = event.ingestedAt - event.ts
      const text = () => `stored ${spanWords(late)} after its time, later than ${spanWords(maxLateMs)}`
      this.note(event, null, notes, out, 'late', () => [text()])
      return false
    }
    if (!key) {
      this.note(event, null, notes, out, 'no_key', () => [lackOf(keys, event)])
      return false
    }
    if (this.silence) {
      this.hear(this.silence, event, key, notes, out)
      return true
    }
    if (definition.paused) {
      this.note(event, key, notes, out, 'paused', () => ['the trigger is paused'])
      return false
    }
    this.judgeCondition(event, key, notes, out)
    return true
  }

  private judgeCondition(event: EventCursor, key: Key, notes: NoteFilter, out: Out): void {
    const outcome = this.condition.judge(event, key, event.id)
    const value = outcome.value
    const lasts = this.lasting?.has(key.id) ?? false
    if (lasts) this.touch(this.lasting!, key, event, isMet(outcome) ? outcome.end : undefined, out)
    if (!isMet(outcome)) {
      if (!notes(this.id, outcome.why, event.ingestedAt)) return
      this.note(event, key, notes, out, outcome.why, () => [outcome.text(), { value }])
    } else if (lasts) {
      this.note(event, key, notes, out, 'active', () => [activeText(outcome.reason), { value }])
    } else {
      const { id: eventId, ingestedAt: at } = event
      const rank = this.trigger.rankOf?.(event)
      const { alerts } = this
      alerts?.begin(key, event, rank ?? null)
      this.pass(
        {
          key: key.text,
          labels: key.labels,
          cause: `e:${eventId}:${key.text}`,
          at,
          eventId,
          value,
          reason: outcome.reason + (alerts?.onWords(key.text, 1) ?? ''),
          evidence: alerts ? () => alerts.untold(key.text, eventId) : outcome.evidence,
          end: outcome.end,
          ...(rank === undefined ? {} : { rank }),
        },
        event.bypass,
        notes,
        out,
        key,
      )
      this.save(out)
    }
  }

  private save(out: Out): void {
    for (const decision of this.alerts?.saved() ?? []) out(decision)
  }

  /** An event says that an alert is over: also of a trigger that is paused, and however late it comes. */
  private end(alerts: Alerts, event: EventCursor, notes: NoteFilter, out: Out): void {
    const key = this.trigger.key.read(event)
    if (!key) {
      this.note(event, null, notes, out, 'no_key', () => [lackOf(this.trigger.key, event)])
      return
    }
    const { reason, text, decision } = alerts.end(key, event)
    this.save(out)
    if (decision) out(decision)
    this.note(event, key, notes, out, reason, () => [text])
  }

  /** An event of a key that lasts was judged. @param end of the window that met the condition with it, if one did */
  private touch(
    lasting: Lasting,
    { id, text: key }: Key,
    event: EventCursor,
    end: number | undefined,
    out: Out,
  ): void {
    const at = event.ingestedAt
    const over = lasting.touched(id, at, end)
    if (!over) return
    if ('lead' in over) out({ do: 'shift', triggerId: this.id, key, at, lead: over.lead })
    else out({ do: 'resolve', triggerId: this.id, ...over, eventIds: [event.id] })
  }

  /** What is due by the clock up to now, in the order in which it was: a silence may end up in a burst that was open still. */
  settle(now: number, notes: NoteFilter, out: Out): void {
    const instant = (due: number) => (now - due > OVERDUE_MS ? now : due)
    const { gate, lasting, alerts } = this
    const silence = this.trigger.definition.paused ? null : this.silence
    for (;;) {
      const [ofGate, ofSilence] = [gate.dueAt(), silence?.dueAt() ?? null]
      const due = earlier(ofGate, ofSilence)
      if (due === null || due > now) break
      if (due === ofGate) out(gate.settle(instant(due)))
      else this.fallSilent(silence!, instant(due), notes, out)
    }
    if (this.trigger.definition.paused) return
    for (const met of alerts?.due(now) ?? []) {
      this.pass({ ...met, at: instant(met.at) }, false, notes, out, null)
      this.save(out)
    }
    if (!lasting) return
    const over = [...lasting.due(now)].sort((a, b) => a.at - b.at)
    for (const { at, ...one } of over)
      out({ do: 'resolve', triggerId: this.id, ...one, at: instant(at), eventIds: [] })
  }

  /** When `settle` has something to do, epoch ms. */
  dueAt(): number | null {
    const next = this.gate.dueAt()
    const { silence, lasting, alerts } = this
    if (this.trigger.definition.paused) return next
    const ofKeys = earlier(lasting?.dueAt() ?? null, alerts?.dueAt() ?? null)
    return earlier(earlier(next, silence?.dueAt() ?? null), ofKeys)
  }

  /** @returns entries that stay in memory */
  sweep(now: number): number {
    this.gate.sweep()
    return this.condition.sweep(now)
  }

  private hear(silence: Silence, event: EventCursor, key: Key, notes: NoteFilter, out: Out): void {
    const watched = silence.heard(event, key)
    if (!this.ports.withoutWatch) out({ do: 'watch', triggerId: this.id, watched })
    if (this.trigger.definition.paused) {
      this.note(event, key, notes, out, 'paused', () => ['the trigger is paused'])
      return
    }
    if (!notes(this.id, 'waiting', event.ingestedAt)) return
    this.note(event, key, notes, out, 'waiting', () => {
      const until = silence.dueOf(watched)
      return [`watched for silence: fires at ${instantWords(until)} when nothing comes`, { until }]
    })
  }

  private fallSilent(silence: Silence, at: number, notes: NoteFilter, out: Out): void {
    const watched = silence.take()
    if (!this.ports.withoutWatch) out({ do: 'watch', triggerId: this.id, watched })
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
    this.alerts?.passed(met.key, decision)
    if (decision.do === 'note' && !notes(this.id, decision.verdict.reason, met.at)) return
    out(decision)
    // A burst is of the whole trigger, and none of its keys is known to last.
    if (decision.do !== 'fire' || !key || !this.lasting) return
    const lead = this.lasting.begin(key, met.at, met.end ?? met.at)
    if (lead !== 0) out({ do: 'shift', triggerId: this.id, key: met.key, at: met.at, lead })
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

/** The earlier of two instants; null: never. */
function earlier(a: number | null, b: number | null): number | null {
  if (a === null || b === null) return a ?? b
  return Math.min(a, b)
}

function stateOf(trigger: Compiled, reader: HistoryReader, shared: Shared | null): ConditionState {
  const { condition, definition } = trigger
  if ('aggregate' in condition) return new AggregateState(trigger, condition, reader, shared)
  const own = () => {
    if ('sequence' in condition) return new SequenceState(trigger, condition, reader, shared)
    if ('change_of' in condition) return new ChangeState(trigger, condition, reader)
    // Silence keeps its keys by itself.
    return anyEvent
  }
  if (!shared) return own()
  return shared.get('state', [intakeOf(definition), condition], () => new SharedState(own()))
}

/* Every event that passes the filters meets it. */

const anyEvent: ConditionState = {
  judge(event: EventCursor): Met {
    const { id } = event
    const type = event.value(event.typeLabel())
    return { value: null, reason: type ? `an event of type ${type}` : 'an event', evidence: () => [id] }
  },
  sweep: () => 0,
  keys: () => [],
  drop: () => {},
}

/*
 * Keys that fired and are not over, of a threshold with `resolve`. The window that says so ends now. Where that one was
 * over already as the condition was met, since the sender's clock is ahead of ours or what it sends comes late, it is
 * the window that moves on with the clock from where the condition was met: what lasts is over when its events leave
 * it, never in the instant in which it fires.
 */

interface Active extends ActiveKey {
  /** When its value is to be looked at next, epoch ms; null: nothing changes it but an event. */
  checkAt: number | null
}

interface Over {
  key: string
  at: number
  value: number | null
  reason: string
}

class Lasting {
  private readonly keys = new Map<number | string, Active>()
  private readonly isOver: (value: number) => boolean

  constructor(
    trigger: Compiled,
    { predicate, resolve }: AggregateCondition,
    private readonly state: AggregateState,
    { ledger, labels }: Pick<EvaluatorPorts, 'ledger' | 'labels'>,
    settledAt: number,
  ) {
    this.isOver = overBy(predicate, resolve)
    // Windows that ended before were looked at when they did: what came late into them since says nothing of now.
    for (const active of ledger.active(trigger.definition.id))
      this.keys.set(trigger.key.idOf(active.labels, labels), {
        ...active,
        checkAt: Math.max(active.since, settledAt),
      })
  }

  has(id: number | string): boolean {
    return this.keys.has(id)
  }

  /**
   * A key fired.
   * @param end of the window that met the condition, by event time
   * @returns how far ahead of the clock its window ends
   */
  begin(key: Pick<Key, 'id' | 'text' | 'labels'>, at: number, end: number): number {
    const active = { key: key.text, labels: key.labels, since: at, lead: 0, checkAt: at }
    this.keys.set(key.id, active)
    if (this.overAt(key.id, active, at)) active.lead = end - at
    return active.lead
  }

  /** When the next key may be over, epoch ms. */
  dueAt(): number | null {
    let due: number | null = null
    for (const { checkAt } of this.keys.values())
      if (checkAt !== null && (due === null || checkAt < due)) due = checkAt
    return due
  }

  /**
   * An event of a key was judged.
   * @param end of the window that met the condition with it; undefined: none did
   * @returns that it is over; or, where it goes on by another clock than before, how far ahead that is
   */
  touched(id: number | string, at: number, end: number | undefined): Over | { lead: number } | null {
    const active = this.keys.get(id)!
    if (end === undefined) return this.check(id, at)
    if (!this.overAt(id, active, at)) return null
    Object.assign(active, { since: at, lead: end - at, checkAt: at })
    return { lead: active.lead }
  }

  /** Keys that are over by the clock. */
  *due(now: number): Iterable<Over> {
    for (const [id, active] of this.keys) {
      while (active.checkAt !== null && active.checkAt <= now) {
        const over = this.check(id, active.checkAt)
        if (!over) continue
        yield over
        break
      }
    }
  }

  private check(id: number | string, at: number): Over | null {
    const active = this.keys.get(id)!
    const over = this.overAt(id, active, at)
    if (!over) return null
    this.keys.delete(id)
    return { key: active.key, at, ...over }
  }

  /** What says that it is over; null: it lasts, and its next look is arranged. */
  private overAt(id: number | string, active: Active, at: number): Pick<Over, 'value' | 'reason'> | null {
    const key = { id, labels: [...active.labels] }
    let found: number | null = null
    for (const lead of active.lead === 0 ? [0] : [0, active.lead]) {
      const value = this.state.valueAt(key, at + lead)
      found = value
      if (value === null || this.isOver(value)) continue
      const changesAt = this.state.changesAt(key, at + lead)
      active.checkAt = changesAt === null ? null : changesAt - lead
      return null
    }
    return { value: found, reason: `over: ${this.state.words(found)}` }
  }
}

/** Why an event has no key: a number label makes none, though the event has it. */
function lackOf({ names }: KeyReader, event: EventCursor): string {
  const numbers = names.split(', ').filter((name) => event.number(name) !== undefined)
  return numbers.length === 0
    ? `it lacks ${names}, which is the key`
    : `${numbers.join(', ')} is a number label, of which no key is made: a key is made of text labels`
}

/** Whether a value, in the unit of the predicate, ends it. */
function overBy(text: string, resolve: AggregateCondition['resolve']): (value: number) => boolean {
  const predicate = parsePredicate(text)
  if (resolve === undefined || resolve === true) return (value) => !predicate.holds(value)
  const over = parsePredicate(resolve)
  return (value) => over.holds((value * over.unitMs) / predicate.unitMs)
}

/*
 * Keys that are watched for silence: from an event of theirs on, until nothing came for so long. They
 * wait in the order of their last event, so that the next one due is always the first: each is linked to the next, for
 * a map in that order would be made anew again and again.
 */

interface Listened {
  id: number | string
  watched: WatchedKey
  before: Listened | null
  next: Listened | null
}

class Silence {
  private readonly keys = new Map<number | string, Listened>()
  /** Heard longest ago. */
  private first: Listened | null = null
  private last: Listened | null = null
  private readonly absentMs: number
  private readonly since: number
  /** Whether nobody has what is watched, so that it may change. */
  private readonly isOwn: boolean
  readonly reason: string

  constructor(
    trigger: Compiled,
    condition: AbsenceCondition,
    { ledger, labels, listensSince = 0, withoutWatch = false }: EvaluatorPorts,
  ) {
    this.since = listensSince
    this.isOwn = withoutWatch
    this.absentMs = parseDuration(condition.absent_for, 'condition.absent_for')
    this.reason = `nothing for ${condition.absent_for}`
    const known = ledger.watched(trigger.definition.id)
    for (const watched of known.sort((a, b) => a.lastAt - b.lastAt || a.lastId - b.lastId)) {
      const id = trigger.key.idOf(watched.labels, labels)
      const there = this.keys.get(id)
      if (there) there.watched = watched
      else this.keys.set(id, this.append({ id, watched, before: null, next: null }))
    }
  }

  /** An event of a key was stored. */
  heard(event: EventCursor, key: Key): WatchedKey {
    const { id: lastId, ingestedAt: lastAt } = event
    const known = this.keys.get(key.id)
    if (known && this.isOwn) {
      known.watched.lastId = lastId
      known.watched.lastAt = lastAt
    }
    const watched =
      known && this.isOwn
        ? known.watched
        : { key: key.text, labels: key.labels, lastId, lastAt, isSilent: false }
    if (known) {
      known.watched = watched
      if (known !== this.last) this.append(this.remove(known))
    } else this.keys.set(key.id, this.append({ id: key.id, watched, before: null, next: null }))
    return watched
  }

  /** When the next key has been silent for long enough, epoch ms. */
  dueAt(): number | null {
    return this.first && this.dueOf(this.first.watched)
  }

  dueOf({ lastAt }: Pick<WatchedKey, 'lastAt'>): number {
    return Math.max(lastAt, this.since) + this.absentMs
  }

  /** The next key that is due; it is watched no more. */
  take(): WatchedKey {
    const { id, watched } = this.remove(this.first!)
    this.keys.delete(id)
    return { ...watched, isSilent: true }
  }

  private append(one: Listened): Listened {
    one.before = this.last
    one.next = null
    if (this.last) this.last.next = one
    else this.first = one
    this.last = one
    return one
  }

  private remove(one: Listened): Listened {
    const { before, next } = one
    if (before) before.next = next
    else this.first = next
    if (next) next.before = before
    else this.last = before
    return one
  }
}

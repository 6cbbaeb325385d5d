/**
 * Triggers at work: judges events inside the transaction that stores them, and what the clock alone
 * makes due. What it decides is written in that transaction, so that an event and its firing stand or
 * fall together; all it keeps in memory can be read again from the rows.
 */

import type { Condition } from '../../schemas/types.ts'
import { isSchedule, sentenceOf } from '../../schemas/words.ts'
import type { Clock } from '../clock.ts'
import type { FiringIncidents } from '../incidents/present.ts'
import type { Tallies } from '../log/figures.ts'
import type { StoreHandle } from '../log/store/handle.ts'
import type { Stamp } from '../log/store/writer-state.ts'
import type { ReadContext } from '../log/timeline/context.ts'
import { latestSlot, nextSlot } from '../model/slots.ts'
import { createEvaluator, holdOf } from './core/index.ts'
import {
  type AgentWake,
  type Cause,
  FiringWriter,
  type PracticeOf,
  Recipients,
  Wirings,
  type Written,
} from './firing-writer.ts'
import { createHistory, createLedger, Notes } from './history.ts'
import { readDefinitions, type ScheduleRow, type TriggerQueries, triggerQueries } from './queries.ts'
import type { Decision, Evaluator, SeenBatch, TriggerDefinition, Verdict, WatchedKey } from './types.ts'

interface LiveTriggersParts {
  store: StoreHandle
  tallies: Tallies
  clock: Clock
  stamp: Stamp
  /** Of the writing connection. */
  ctx: ReadContext
  /** Makes the run of an agent that a firing wakes. */
  wake(wake: AgentWake): string | null
  /** What firings and the clock do to incidents. */
  incidents: FiringIncidents
  /** Called after a commit that left something to be sent. */
  onPending(): void
}

export class LiveTriggers {
  private readonly queries
  private readonly wirings
  private readonly evaluator: Evaluator
  private readonly writer
  private readonly schedules
  private readonly notes
  private definitions = new Map<number, TriggerDefinition>()
  private isNudged = false
  private isStale = true
  /** Keys heard in the transaction that is open, by trigger. */
  private readonly watched = new Map<number, Map<string, WatchedKey>>()

  constructor(private readonly parts: LiveTriggersParts) {
    const { store, stamp, ctx } = parts
    this.queries = triggerQueries(store.db)
    this.wirings = new Wirings(store.db)
    this.notes = new Notes(store.db, this.queries)
    this.queries.dropSilent.run()
    this.evaluator = createEvaluator({
      labels: ctx.dictionary,
      history: createHistory(ctx),
      ledger: createLedger(this.queries),
      sourceName: (id) => ctx.names.get(id)?.name ?? '',
      listensSince: parts.clock.now(),
    })
    const recipients = new Recipients(
      store.db,
      this.wirings,
      parts.wake,
      (firing, run) => parts.incidents.woke(firing, run),
      () => this.nudge(),
    )
    parts.incidents.deliverBy((firing) => {
      // Not all is read again: who ends a snooze may be in a transaction that is undone.
      if (this.isStale) this.wirings.reload()
      this.isNudged = false
      recipients.deliver(firing.trigger_name, firing)
      this.isNudged = false
    })
    this.writer = new FiringWriter({
      db: store.db,
      queries: this.queries,
      wirings: this.wirings,
      recipients,
      incidents: parts.incidents,
      labels: ctx.dictionary,
      closeInstant: (at) => stamp.close(at),
      told: (trigger) => store.afterCommit(() => parts.tallies.add('firings', { trigger })),
    })
    this.schedules = new Schedules(this.queries, this.writer)
  }

  /**
   * The triggers, sources or the wiring changed: they are read again before the next event is judged.
   * Not at once: the change is committed, and whoever made it must not be told of a fault of ours.
   */
  changed(): void {
    this.isStale = true
  }

  /** Judges stored events; inside their transaction. */
  judge(batch: SeenBatch): void {
    this.refresh()
    if (this.definitions.size === 0) return
    for (const decision of this.evaluator.judge(batch, this.notes.wanted)) this.apply(decision)
  }

  /** How a trigger is evaluated now; inside a transaction. @returns undefined: there is none of that name */
  definition(name: string): TriggerDefinition | undefined {
    this.refresh()
    return [...this.definitions.values()].find((definition) => definition.name === name)
  }

  /**
   * Triggers whose cooldown or limit looks back further than `age` (milliseconds); inside a transaction.
   * @returns from when on their firings are still asked for, epoch ms, by the trigger's row
   */
  lookBacks(now: number, age: number): Map<number, number> {
    this.refresh()
    const holds = [...this.definitions.values()].map((one): [number, number] => [one.id, holdOf(one)])
    return new Map(holds.filter(([, hold]) => hold > age).map(([id, hold]) => [id, now - hold]))
  }

  /** Fires a trigger in practice, for one project alone; inside a transaction. */
  practise(
    definition: TriggerDefinition,
    cause: Cause,
    of: PracticeOf,
  ): { dispatchId: string; recipients: number; runId: string | null } {
    return this.writer.practise(definition, cause, of)
  }

  /** Writes what grew; the last of a transaction that judged. */
  beforeCommit(): void {
    this.writer.flush()
    this.saveWatched()
  }

  /** The transaction is undone: nothing it decided has happened. */
  rollback(): void {
    this.evaluator.reset()
    this.writer.reset()
    this.watched.clear()
    this.isNudged = false
    // What was read again within it, and what schedules count in memory.
    this.isStale = true
  }

  /** Does what is due by the clock, in a transaction of its own. */
  tick(): void {
    const due = this.nextDue()
    const now = this.parts.clock.now()
    if (due === null || due > now) return
    try {
      this.parts.store.tx(() => {
        this.refresh()
        for (const decision of this.evaluator.tick(now)) this.apply(decision)
        this.parts.incidents.tick(now)
        this.schedules.tick(now, (definition, cause, written) => this.noteFired(definition, cause, written))
        this.notes.prune()
        this.beforeCommit()
      })
    } catch (error) {
      this.rollback()
      throw error
    }
  }

  /** When `tick` has something to do, epoch ms; null: nothing waits. */
  nextDue(): number | null {
    if (this.isStale) return 0
    const dues = [this.evaluator.nextDue(), this.schedules.nextDue(), this.parts.incidents.nextDue()]
    const due = Math.min(...dues.map((one) => one ?? Number.POSITIVE_INFINITY))
    return due === Number.POSITIVE_INFINITY ? null : due
  }

  /** Reads the triggers and the wiring again where they changed; inside a transaction. */
  private refresh(): void {
    if (!this.isStale) return
    const { store, clock, ctx } = this.parts
    ctx.names.refresh()
    this.wirings.reload()
    // A burst that is open may be of a trigger that got another name.
    this.writer.flush()
    this.writer.reset()
    const definitions = readDefinitions(store.db)
    for (const id of this.queries.ofNoTrigger.all()) this.forget(id)
    for (const definition of definitions) this.checkBasis(definition)
    this.definitions = new Map(definitions.map((definition) => [definition.id, definition]))
    this.schedules.define(definitions, clock.now())
    this.evaluator.define(definitions)
    this.isStale = false
  }

  /** Keys that are watched or last were found by what a trigger said then: with other words it begins anew. */
  private checkBasis(definition: TriggerDefinition): void {
    const { id, spec, sourceIds, entityLabel } = definition
    const { condition, filters, joined } = spec
    const basis = JSON.stringify({ condition, filters, sourceIds, entityLabel, joined })
    const known = this.queries.basis.get(id)
    if (known === basis) return
    if (known !== undefined) {
      this.endActive(definition)
      for (const statement of this.queries.forget) statement.run(id)
    }
    if ('absent_for' in condition || ('resolve' in condition && condition.resolve))
      this.queries.saveBasis.run(id, basis)
  }

  /** What lasted by what the trigger said then is over, and told to be: nothing would ever end it. */
  private endActive(definition: TriggerDefinition): void {
    const at = this.parts.clock.now()
    const reason = 'over: what the trigger watches or its condition was changed, and it begins anew'
    for (const { key } of this.queries.active.all(definition.id))
      this.resolve(definition, { key, at, value: null, reason, eventIds: [] })
  }

  private apply(decision: Decision): void {
    if (decision.do === 'note') {
      this.note(decision.verdict, null)
      return
    }
    const definition = this.definitions.get(decision.triggerId)
    if (!definition) return
    switch (decision.do) {
      case 'fire': {
        const written = this.writer.fire(definition, this.writer.causeOf(decision.crossing))
        if (!written) return
        this.note(fired(decision.verdict, written), written.dispatchId)
        if ('resolve' in definition.spec.condition && definition.spec.condition.resolve)
          this.activate(decision.triggerId, decision.crossing, written.dispatchId)
        return
      }
      case 'open': {
        const { crossing, state, dueAt, verdict } = decision
        const written = this.writer.open(definition, crossing, state, dueAt)
        if (written) this.note(verdict, written.dispatchId)
        return
      }
      case 'fold':
        this.note(decision.verdict, this.writer.fold(decision.triggerId, decision.crossing, decision.dueAt))
        return
      case 'release': {
        const written = this.writer.release(definition, decision.at)
        if (written) this.noteBurst(definition, decision.at, written)
        return
      }
      case 'hold':
        this.writer.hold(decision.triggerId, decision.at, decision.dueAt)
        return
      case 'drop':
        this.writer.drop(decision.triggerId, decision.at)
        return
      case 'resolve':
        this.resolve(definition, decision)
        return
      case 'alert':
        this.saveAlert(decision)
        return
      case 'over':
        this.overAlert(decision)
        return
      case 'shift':
        this.queries.shiftActive.run(decision.at, decision.lead, decision.triggerId, decision.key)
        return
      case 'watch':
        this.watch(decision.triggerId, decision.watched)
    }
  }

  /** Of a key that is heard many times in a transaction only the last is written. */
  private watch(triggerId: number, watched: WatchedKey): void {
    const keys = this.watched.get(triggerId) ?? new Map<string, WatchedKey>()
    keys.set(watched.key, watched)
    this.watched.set(triggerId, keys)
  }

  private saveWatched(): void {
    // One that fell silent is not watched before it is heard again, which it may never be.
    for (const [triggerId, keys] of this.watched)
      for (const { key, labels, lastId, lastAt, isSilent } of keys.values())
        if (isSilent) this.queries.dropWatched.run(triggerId, key)
        else this.queries.saveWatched.run(triggerId, key, JSON.stringify(labels), lastId, lastAt)
    this.watched.clear()
  }

  private saveAlert({ triggerId, alert: one }: Extract<Decision, { do: 'alert' }>): void {
    const { key, labels, alert, eventId, ts, since, rank, isTold } = one
    this.queries.saveAlert.run({
      ...{ trigger_id: triggerId, key, alert, labels: JSON.stringify(labels) },
      ...{ event_id: eventId, ts, since, rank, told: isTold ? 1 : 0 },
    })
  }

  /** Of those that are over, of a key that may never be, the newest are kept. */
  private overAlert({ triggerId: trigger, key, alert, at }: Extract<Decision, { do: 'over' }>): void {
    if (alert === null) {
      this.queries.dropAlerts.run(trigger, key)
      return
    }
    this.queries.overAlert.run(at, trigger, key, alert)
    this.queries.trimAlerts.run({ trigger, key })
  }

  private activate(
    triggerId: number,
    crossing: { key: string; labels: readonly number[]; at: number },
    dispatchId: string,
  ): void {
    this.queries.addActive.run(
      triggerId,
      crossing.key,
      JSON.stringify(crossing.labels),
      crossing.at,
      dispatchId,
    )
  }

  private resolve(
    definition: TriggerDefinition,
    over: Omit<Extract<Decision, { do: 'resolve' }>, 'do' | 'triggerId'>,
  ): void {
    const { key, at, value, reason, eventIds } = over
    const resolves = this.queries.activeKey.get(definition.id, key)
    this.queries.dropActive.run(definition.id, key)
    this.queries.dropAlerts.run(definition.id, key)
    if (resolves === undefined) return
    const began = this.queries.byDispatch.get(resolves)
    const entity =
      began?.label && began.value_text !== null ? { label: began.label, value: began.value_text } : null
    const cause: Cause = {
      key,
      entity,
      cause: `over:${resolves}`,
      at,
      value,
      reason,
      eventId: null,
      eventIds,
      resolves,
      firstEvent: began?.event_id ?? null,
    }
    this.writer.fire(definition, cause)
  }

  /** A trigger that is gone takes along what it watched and what was still open. */
  private forget(id: number): void {
    for (const statement of this.queries.forget) statement.run(id)
    this.writer.drop(id, this.parts.clock.now())
  }

  private note(verdict: Verdict, dispatchId: string | null): void {
    this.notes.add(this.definitions.get(verdict.triggerId)?.name ?? '', verdict, dispatchId)
  }

  private noteFired(definition: TriggerDefinition, cause: Cause, written: Written): void {
    this.note(fired(verdictOf(definition, cause), written), written.dispatchId)
  }

  private noteBurst(definition: TriggerDefinition, at: number, written: Written): void {
    const row = this.queries.byDispatch.get(written.dispatchId)!
    const cause = { key: row.key, at, value: row.value, reason: row.reason, eventId: row.event_id }
    this.note(fired(verdictOf(definition, cause), written), written.dispatchId)
  }

  private nudge(): void {
    if (this.isNudged) return
    this.isNudged = true
    this.parts.store.afterCommit(() => {
      this.isNudged = false
      this.parts.onPending()
    })
  }
}

function verdictOf(
  { id, spec }: TriggerDefinition,
  { key, at, value, reason, eventId }: Pick<Cause, 'key' | 'at' | 'value' | 'reason' | 'eventId'>,
): Verdict {
  const { condition } = spec
  return {
    triggerId: id,
    eventId,
    key,
    at,
    reason: 'fired',
    text: `fired: ${reason}`,
    field: null,
    expected: null,
    actual: null,
    value,
    predicate: 'predicate' in condition ? condition.predicate : null,
    window: 'window' in condition ? condition.window : null,
    until: null,
  }
}

/** A firing that nobody is told of says so. */
function fired(verdict: Verdict, { recipients }: Written): Verdict {
  if (recipients > 0) return { ...verdict, reason: 'fired' }
  return { ...verdict, reason: 'no_subscriber', text: `${verdict.text}, and nobody is subscribed to it` }
}

/*
 * Schedule triggers by the clock: each slot fires once for the whole trigger. An interval counts from
 * when the trigger was made (its first slot) or its condition changed; what was missed while the
 * service was down, or the trigger paused, is not made up for: after downtime the latest slot fires
 * once, late, and after a pause none does.
 */

type ScheduleCondition = Extract<Condition, { every: string } | { cron: string }>

/** Later than this a firing is called late. Milliseconds. */
const LATE_MS = 60_000

/** Instead of its last slot, of one that is paused. */
const PAUSED = -1

interface Entry {
  definition: TriggerDefinition
  condition: ScheduleCondition
  row: ScheduleRow
}

class Schedules {
  private entries = new Map<number, Entry>()

  constructor(
    private readonly queries: TriggerQueries,
    private readonly writer: FiringWriter,
  ) {}

  /** Follows the definitions; call inside a transaction. @param now epoch ms */
  define(definitions: readonly TriggerDefinition[], now: number): void {
    const entries = new Map<number, Entry>()
    // One that is deleted may come back, by an undo: until then it is as if it were paused.
    this.queries.pauseDeleted.run({ paused: PAUSED })
    for (const definition of definitions) {
      const { condition } = definition.spec
      if (!isSchedule(condition)) continue
      if (definition.paused) this.pause(definition.id)
      else entries.set(definition.id, { definition, condition, row: this.rowOf(definition, condition, now) })
    }
    this.entries = entries
  }

  /** Fires what is due; call inside a transaction. */
  tick(now: number, told: (definition: TriggerDefinition, cause: Cause, written: Written) => void): void {
    for (const { definition, condition, row } of this.entries.values()) {
      const due = latestSlot(condition, row.anchor, row.last_slot, now)
      if (!due) continue
      const cause = causeOf(definition, due, now)
      const written = this.writer.fire(definition, cause)
      row.last_slot = due.slot
      this.queries.saveSchedule.run(row.trigger_id, row.condition, row.anchor, row.last_slot)
      if (written) told(definition, cause, written)
    }
  }

  /** The next slot of all, epoch ms; null: none. */
  nextDue(): number | null {
    let next: number | null = null
    for (const { condition, row } of this.entries.values()) {
      const slot = nextSlot(condition, row.anchor, row.last_slot)
      if (slot !== null && (next === null || slot < next)) next = slot
    }
    return next
  }

  /** Marked in its row, so that no start in between is taken for downtime. */
  private pause(id: number): void {
    const stored = this.queries.schedule.get(id)
    if (stored && stored.last_slot !== PAUSED)
      this.queries.saveSchedule.run(id, stored.condition, stored.anchor, PAUSED)
  }

  private rowOf({ id }: TriggerDefinition, condition: ScheduleCondition, now: number): ScheduleRow {
    const text = JSON.stringify(condition)
    const stored = this.queries.schedule.get(id)
    if (stored?.condition === text) {
      if (stored.last_slot !== PAUSED) return stored
      // Resumed: what a pause held off stays off.
      this.queries.saveSchedule.run(id, text, stored.anchor, now)
      return { ...stored, last_slot: now }
    }
    // An interval begins with a slot at once, so that whoever makes it sees that it works.
    const begun = {
      trigger_id: id,
      condition: text,
      anchor: now,
      last_slot: 'every' in condition ? now - 1 : now,
    }
    this.queries.saveSchedule.run(id, text, begun.anchor, begun.last_slot)
    return begun
  }
}

function causeOf(
  definition: TriggerDefinition,
  { slot, skipped }: { slot: number; skipped: number },
  now: number,
): Cause {
  const late = now - slot
  const missed = skipped ? `; ${skipped} before it ${skipped === 1 ? 'was' : 'were'} missed` : ''
  return {
    key: definition.name,
    entity: null,
    cause: `slot:${slot}`,
    at: now,
    value: null,
    reason: `${sentenceOf({ ...definition.spec, description: '' })
      .split(',')[0]!
      .toLowerCase()}${missed}`,
    eventId: null,
    eventIds: [],
    slot,
    ...(late > LATE_MS ? { lateBy: late } : {}),
  }
}

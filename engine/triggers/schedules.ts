/**
 * Schedule triggers by the clock: each slot fires once for the whole trigger. An interval counts from
 * when the trigger was made (its first slot) or its condition changed; what was missed while the
 * service was down, or the trigger paused, is not made up for: after downtime the latest slot fires
 * once, late, and after a pause none does.
 */
import type { Condition } from '../../schemas/types.ts'
import { isSchedule, sentenceOf } from '../../schemas/words.ts'
import { latestSlot, nextSlot } from '../model/slots.ts'
import type { Cause, FiringWriter, Written } from './firing-writer.ts'
import type { ScheduleRow, TriggerQueries } from './queries.ts'
import type { TriggerDefinition } from './types.ts'

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

export class Schedules {
  private entries = new Map<number, Entry>()

  constructor(
    private readonly queries: TriggerQueries,
    private readonly writer: FiringWriter,
  ) {}

  /** Follows the definitions; call inside a transaction. @param now epoch ms */
  define(definitions: readonly TriggerDefinition[], now: number): void {
    const entries = new Map<number, Entry>()
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
  const missed = skipped ? `; ${skipped} before it were missed` : ''
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

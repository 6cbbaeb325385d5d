/**
 * Why an event fired a trigger, or did not. What was recorded as it happened is told as it was; what
 * was not recorded is worked out by the trigger as it is now, over what was stored before the event.
 */
import type { EvaluationsResult, WhyRecord, WhyResult } from '../../schemas/types.ts'
import { fail } from '../errors.ts'
import type { ReadContext } from '../timeline/context.ts'
import { eventId, parseEventId } from '../timeline/present.ts'
import { explain } from './core/index.ts'
import { readDefinitions } from './definitions.ts'
import { createHistory } from './history.ts'
import { unpackIds } from './ids.ts'
import { ledgerAsOf } from './ledger.ts'
import { type EvaluationRow, presentEvaluation, presentVerdict } from './present.ts'
import { triggerQueries } from './queries.ts'
import { seenOf } from './seen.ts'
import type { Seen, TriggerDefinition } from './types.ts'

/** The order of a list: what fired first, what did not even match last. */
const ORDER: WhyRecord['reason'][] = [
  'fired',
  'no_subscriber',
  'folded',
  'held',
  'dropped',
  'error',
  'cooldown',
  'active',
  'waiting',
  'below',
  'unchanged',
  'late',
  'no_value',
  'no_key',
  'paused',
  'filter',
]

/** @param id of the event. @param trigger only this one. @throws SvcError invalid; not_found */
export function whyOf(ctx: ReadContext, id: string, trigger?: string): WhyResult {
  const number = parseEventId(id) ?? fail('invalid', 'an event id is evt_ and a number', { field: 'id' })
  const stored = ctx.rows.read([number], true)[0]
  if (!stored) fail('not_found', `no event has the id ${id}; it may have been purged`)
  const event = seenOf(stored)
  const definitions = readDefinitions(ctx.db).filter(
    ({ name, sourceIds }) =>
      sourceIds.includes(event.sourceId) && (trigger === undefined || name === trigger),
  )
  if (trigger !== undefined && definitions.length === 0)
    fail('not_found', `no trigger named ${trigger} watches the source of ${id}`)
  const recorded = recordedOf(ctx, event.id)
  const records = definitions.map((definition) => {
    const known = recorded.get(definition.id)
    if (!known) return workedOut(ctx, definition, event)
    const { event_id: _event, ...record } = presentEvaluation(known)
    return record
  })
  records.sort((a, b) => ORDER.indexOf(a.reason) - ORDER.indexOf(b.reason))
  return { event_id: eventId(event.id), records }
}

/** What was recorded of a trigger, newest first. */
export function evaluationsOf(
  ctx: ReadContext,
  trigger: string,
  filter: { reason?: string | undefined; before?: string | undefined; limit: number },
): EvaluationsResult {
  const before = filter.before === undefined ? Number.MAX_SAFE_INTEGER : Number(filter.before)
  const rows = ctx.db
    .prepare<[string, number, string | null, string | null, number], EvaluationRow>(
      `SELECT e.* FROM evaluations e JOIN triggers t ON t.id = e.trigger_id AND t.state <> 'deleted'
       WHERE t.name = ? AND e.id < ? AND (? IS NULL OR e.reason = ?) ORDER BY e.id DESC LIMIT ?`,
    )
    .all(trigger, before, filter.reason ?? null, filter.reason ?? null, filter.limit + 1)
  const shown = rows.slice(0, filter.limit)
  return {
    evaluations: shown.map(presentEvaluation),
    next_before: rows.length > filter.limit ? String(shown.at(-1)!.id) : null,
  }
}

/** The last record of each trigger of an event. */
function recordedOf(ctx: ReadContext, id: number): Map<number, EvaluationRow> {
  const rows = ctx.db
    .prepare<[number], EvaluationRow>('SELECT * FROM evaluations WHERE event_id = ? ORDER BY id')
    .all(id)
  return new Map(rows.map((row) => [row.trigger_id, row]))
}

function workedOut(ctx: ReadContext, definition: TriggerDefinition, event: Seen): WhyRecord {
  const queries = triggerQueries(ctx.db)
  const verdict = explain(definition, event, {
    labels: ctx.dictionary,
    history: createHistory(ctx),
    ledger: ledgerAsOf(queries, event.ingestedAt, event.id),
    sourceName: (id) => ctx.names.get(id)?.name ?? '',
  })
  // A burst is known by the events it took in, not by what the trigger would do alone.
  const burst = queries.around
    .all(definition.id, event.ingestedAt, event.ingestedAt)
    .find(
      (firing) =>
        firing.crossings > 1 &&
        queries.eventsOf.all(firing.id).some(({ ids }) => unpackIds(ids).includes(event.id)),
    )
  if (!burst) return presentVerdict(definition.name, verdict, null, true)
  const folded = { ...verdict, reason: 'folded' as const, text: `folded into the firing of ${burst.key}` }
  return presentVerdict(definition.name, folded, burst.dispatch_id, true)
}

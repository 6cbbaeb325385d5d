/**
 * What a firing says: the correlated timeline of its entity, as it was when it fired. It is worked
 * out when it is sent or shown; since it speaks for an instant that is closed, it is the same bytes
 * every time, as long as its events are kept.
 */
import type { FiringMessage, ReadRequest, TriggerSpec } from '../../schemas/types.ts'
import { isSchedule } from '../../schemas/words.ts'
import { TRIGGER_DEFAULTS } from '../parts/trigger-spec.ts'
import type { ReadContext } from '../timeline/context.ts'
import { parseDuration } from '../timeline/duration.ts'
import { eventId, presentRow } from '../timeline/present.ts'
import { answerRead } from '../timeline/read.ts'
import { firstEvents, isoOrNull, keysOf } from './present.ts'
import type { FiringRow } from './queries.ts'
import { renderSummary } from './summary.ts'

/** Size of the timeline in a message, in tokens. */
const PAYLOAD_TOKENS = 6_000
const LISTED_EVENTS = 100
const SPREAD_LINES = 10

/** @param project whose events alone it may show; null: those of the project the trigger is of, else all. */
export function renderPayload(ctx: ReadContext, row: FiringRow, project: string | null): string {
  const spec = JSON.parse(row.spec) as TriggerSpec
  const scope = project ?? liveProject(ctx, row.project)
  if (isSchedule(spec.condition)) return renderSummary(ctx, row, spec, scope)
  const at = row.as_of ?? row.last_at
  const window = spec.emit?.context_window ?? TRIGGER_DEFAULTS.context_window
  const selector = selectorOf(ctx, row, spec)
  const request: ReadRequest = {
    selector,
    from: new Date(at - parseDuration(window, 'emit.context_window')).toISOString(),
    to: new Date(at).toISOString(),
    as_of: new Date(at).toISOString(),
    max_tokens: PAYLOAD_TOKENS,
    ...(scope === null ? {} : { project: scope }),
    // What is of no entity has only what tripped it to show.
    ...(Object.keys(selector).length ? {} : { sources: spec.sources }),
  }
  return [...heading(ctx, row), answerRead(ctx, request, at).payload].join('\n')
}

/** The body of a webhook. @param runIds of agents of this service that the firing woke */
export function firingMessage(
  ctx: ReadContext,
  row: FiringRow,
  deliveryId: string,
  project: string | null,
  runIds: readonly string[],
): FiringMessage {
  const spec = JSON.parse(row.spec) as TriggerSpec
  const { condition } = spec
  return {
    dispatch_id: row.dispatch_id,
    delivery_id: deliveryId,
    trigger: row.trigger_name,
    project: project ?? row.project,
    kind: row.kind,
    key: row.key,
    entity:
      row.label !== null && row.value_text !== null ? { label: row.label, value: row.value_text } : null,
    fired_at: isoOrNull(row.fired_at)!,
    payload: renderPayload(ctx, row, project),
    run_ids: [...runIds],
    labels: firstLabels(ctx, row),
    reason: row.reason,
    value: row.value,
    predicate: 'predicate' in condition ? condition.predicate : null,
    window: 'window' in condition ? condition.window : null,
    events: row.events,
    event_ids: firstEvents(ctx.db, row.id, LISTED_EVENTS).map(eventId),
    keys: keysOf(ctx.db, row.id),
    held_back: row.held_back,
    ...(row.incident_id === null ? {} : { incident: `inc_${row.incident_id}` }),
    ...(row.severity === null ? {} : { severity: row.severity }),
    ...(row.resolves === null ? {} : { resolves: row.resolves }),
    ...(row.late_by === null ? {} : { late_by: row.late_by / 1_000 }),
    ...(row.practice ? { practice: true } : {}),
  }
}

function heading(ctx: ReadContext, row: FiringRow): string[] {
  const spread =
    row.key_count > 1
      ? keysOf(ctx.db, row.id)
          .slice(0, SPREAD_LINES)
          .map(({ key, events }) => `  ${key}: ${events}`)
      : []
  return [
    `=== firing · ${row.trigger_name} · ${row.key} · ${isoOrNull(row.fired_at ?? row.last_at)} ===`,
    `${row.resolves ? 'over' : 'why'}: ${row.reason}`,
    ...(spread.length ? [`events by key (${row.key_count} keys):`, ...spread] : []),
    '',
  ]
}

/** The entity; or the labels a key of several is made of, as its first event has them. */
function selectorOf(ctx: ReadContext, row: FiringRow, { condition }: TriggerSpec): Record<string, string> {
  if (row.label !== null && row.value_text !== null) return { [row.label]: row.value_text }
  const group = 'group_by' in condition ? (condition.group_by ?? []) : []
  const labels = firstLabels(ctx, row)
  return Object.fromEntries(
    group.flatMap((name) => (labels[name] === undefined ? [] : [[name, String(labels[name])]])),
  )
}

function firstLabels(ctx: ReadContext, row: FiringRow): Record<string, string | number> {
  const id = row.event_id ?? firstEvents(ctx.db, row.id, 1)[0]
  const stored = id === undefined ? undefined : ctx.rows.read([id], false)[0]
  return stored ? presentRow(stored, ctx.dictionary, ctx.names, stored.ts).labels : {}
}

/**
 * A project that is no longer there narrows nothing: its sources are not known any more. Nor does the
 * Default project, which holds what is of no project.
 */
function liveProject(ctx: ReadContext, id: string | null): string | null {
  if (id === null) return null
  const live = ctx.db
    .prepare(
      `SELECT 1 FROM projects WHERE id = ? AND state <> 'deleted'
         AND coalesce(json_extract(spec, '$.template'), '') <> 'default'`,
    )
    .get(id)
  return live ? id : null
}

/** Firings: bursts that gather or are held back, what fired, what was let pass. */
import type { TriggerSpec } from '../../../../schemas/types.ts'
import type { FiringRow } from '../../../triggers/queries.ts'
import { nodeId } from '../../ids.ts'
import { type Collected, joined, wholeInstants } from '../cut.ts'
import { counted, type Draft, draft } from '../moment.ts'
import {
  cooldownMsOf,
  entityOf,
  iso,
  isWithin,
  type Scope,
  type TriggerRow,
  windowOfMoment,
} from '../scope.ts'

/** Longest that a burst is open: a limit may hold one back this long. */
export const OPEN_MS = 31 * 86_400_000

export type Fired = Pick<
  FiringRow,
  | 'id'
  | 'dispatch_id'
  | 'trigger_id'
  | 'trigger_name'
  | 'key'
  | 'label'
  | 'value_text'
  | 'spec'
  | 'opened_at'
  | 'last_at'
  | 'fired_at'
  | 'held_at'
  | 'dropped_at'
  | 'value'
  | 'reason'
  | 'event_id'
  | 'events'
  | 'key_count'
  | 'late_by'
  | 'resolves'
  | 'practice'
  | 'state'
>

const COLUMNS = `id, dispatch_id, trigger_id, trigger_name, key, label, value_text, spec, opened_at, last_at, fired_at,
  held_at, dropped_at, value, reason, event_id, events, key_count, late_by, resolves, practice, state`

export const FIRED = `SELECT ${COLUMNS} FROM firings WHERE trigger_id = ? AND fired_at >= ? AND fired_at <= ?
  ORDER BY fired_at, id LIMIT ?`
/** What was open for a while: what of it lies in a range is told of it. */
export const BURSTS = `SELECT ${COLUMNS} FROM firings WHERE trigger_id = ? AND opened_at >= ? AND opened_at <= ?
  AND (fired_at IS NULL OR fired_at > opened_at) ORDER BY opened_at, id LIMIT ?`

export function collectFirings(scope: Scope, depthOf: (eventId: number | null) => number): Collected {
  return joined(
    scope.triggers
      .filter(({ id }) => !scope.chain || scope.chain.triggers.has(id))
      .map((trigger) => ofTrigger(scope, trigger, depthOf)),
  )
}

function ofTrigger(scope: Scope, { id }: TriggerRow, depthOf: (eventId: number | null) => number): Collected {
  const { ctx, from, to, most, chain } = scope
  const fired = wholeInstants(
    ctx.db.prepare<[number, number, number, number], Fired>(FIRED).all(id, from, to, most + 1),
    most,
    ({ fired_at }) => fired_at!,
  )
  const bursts = wholeInstants(
    ctx.db.prepare<[number, number, number, number], Fired>(BURSTS).all(id, from - OPEN_MS, to, most + 1),
    most,
    ({ opened_at }) => opened_at,
  )
  const isMeant = (row: Fired) => !chain || chain.firings.includes(row.id)
  const drafts = [
    ...fired.rows.filter(isMeant).map((row) => firedDraft(row, depthOf(row.event_id))),
    ...bursts.rows.filter(isMeant).flatMap((row) => burstDrafts(row, depthOf(row.event_id))),
  ].filter(({ at }) => isWithin(scope, at))
  return joined([
    { drafts, cutAt: fired.cutAt, overfullAt: fired.overfullAt },
    {
      drafts: [],
      cutAt: bursts.cutAt === null ? null : Math.max(bursts.cutAt, from + 1),
      overfullAt: bursts.overfullAt,
    },
  ])
}

function firedDraft(row: Fired, depth: number): Draft {
  const spec = JSON.parse(row.spec) as TriggerSpec
  const { trigger_name: name, key, resolves } = row
  const wait = resolves === null ? cooldownMsOf(spec) : 0
  const node = nodeId('trigger', name)
  const of = row.key_count > 1 ? `${key} and ${counted(row.key_count - 1, 'more key')}` : key
  const evidence = row.events ? ` (${counted(row.events, 'event')})` : ''
  const late = row.late_by === null ? '' : `, ${Math.round(row.late_by / 1000)} s late: the service was down`
  return {
    ...base(row, depth, spec),
    at: row.fired_at!,
    rank: 'fired',
    phase: 'fired',
    title: `${name} ${resolves === null ? 'fired' : 'is over'} for ${of}: ${row.reason}${evidence}${late}`,
    cooldown: wait > 0 ? { node, key, until: iso(row.fired_at! + wait) } : null,
  }
}

/** Before a burst fires, or is let pass. */
function burstDrafts(row: Fired, depth: number): Draft[] {
  const spec = JSON.parse(row.spec) as TriggerSpec
  const { trigger_name: name, key, dropped_at } = row
  // What does not gather was held back at once; older rows do not say when.
  const gathers = spec.storm?.quiet !== undefined || spec.storm?.max_wait !== undefined
  const held_at = row.held_at ?? (gathers ? null : row.opened_at)
  const moment = (at: number, phase: string, title: string): Draft => ({
    ...base(row, depth, spec),
    at,
    rank: 'opened',
    id: `${row.dispatch_id}/${phase}`,
    phase,
    title,
  })
  const isHeldFromStart = held_at === row.opened_at
  const opened = isHeldFromStart
    ? []
    : [moment(row.opened_at, 'gathering', `${name} tripped for ${key} and gathers a burst: ${row.reason}`)]
  const held =
    held_at === null
      ? []
      : [moment(held_at, 'held', `${name} for ${key} is held back by a limit: ${row.reason}`)]
  const dropped =
    dropped_at === null
      ? []
      : [
          moment(
            dropped_at,
            'dropped',
            `${name} let a burst pass: ${counted(row.events, 'event')}, fewer than it takes`,
          ),
        ]
  return [...opened, ...held, ...dropped]
}

function base(row: Fired, depth: number, { condition }: TriggerSpec): Draft {
  return draft({
    at: row.opened_at,
    depth,
    rank: 'opened',
    id: row.dispatch_id,
    kind: 'firing',
    phase: 'tripped',
    title: '',
    nodes: [nodeId('trigger', row.trigger_name)],
    entity: entityOf(row.label, row.value_text),
    practice: row.practice === 1,
    event_id: row.event_id === null ? null : `evt_${row.event_id}`,
    dispatch_id: row.dispatch_id,
    window: windowOfMoment(
      row.trigger_name,
      row.key,
      row.value,
      'predicate' in condition ? condition.predicate : null,
      'window' in condition ? condition.window : null,
    ),
  })
}

/** What is read of triggers at work: firings, deliveries, why an event woke nobody, backtests. */
import type {
  BacktestRequest,
  BacktestResult,
  DeliveriesResult,
  Delivery,
  Dispatch,
  EvaluationsResult,
  Firing,
  FiringDetail,
  FiringEventsResult,
  FiringMessage,
  FiringsResult,
  Subscription,
  TriggerSpec,
  WhyResult,
} from '../../schemas/types.ts'
import { sentenceOf } from '../../schemas/words.ts'
import type { Clock } from '../clock.ts'
import type { Asked } from '../engine.ts'
import { fail } from '../errors.ts'
import {
  type DeliveryFilter,
  type DeliveryRow,
  deliveriesOf,
  deliveryPage,
  presentDelivery,
  requireDelivery,
} from '../outbox/present.ts'
import { listSubscriptions } from '../outbox/subscriptions.ts'
import { TRIGGER_DEFAULTS } from '../parts/trigger-spec.ts'
import type { Snapshot } from '../snapshot.ts'
import type { ReadContext } from '../timeline/context.ts'
import { eventId, parseEventId } from '../timeline/present.ts'
import { backtest } from './backtests.ts'
import { firingMessage, renderPayload } from './message.ts'
import { allEvents, presentDispatch, presentFiring } from './present.ts'
import { type FiringRow, triggerQueries } from './queries.ts'
import { evaluationsOf, whyOf } from './why.ts'

const FIRING_STATES = ['gathering', 'held', 'fired', 'dropped']
const PAGE_EVENTS = 10_000

export interface FiringFilter {
  trigger?: string | undefined
  /** Reached by its wiring or subscriptions, or made in it. */
  project?: string | undefined
  key?: string | undefined
  state?: string | undefined
  /** dispatch_id of the last one seen. */
  before?: string | undefined
  limit: number
}

export interface TriggerReads {
  listFirings(filter: FiringFilter): Promise<FiringsResult>
  getFiring(id: string): Promise<FiringDetail>
  firingEvents(id: string, after?: string): Promise<FiringEventsResult>
  listDispatches(limit: number): Promise<Dispatch[]>
  getDispatch(id: string): Promise<Dispatch>
  listDeliveries(filter: DeliveryFilter): Promise<DeliveriesResult>
  getDelivery(id: string): Promise<Delivery>
  deliveryMessage(id: string): Promise<FiringMessage>
  why(id: string, trigger?: string): Promise<WhyResult>
  evaluations(
    trigger: string,
    filter: { reason?: string | undefined; before?: string | undefined; limit: number },
  ): Promise<EvaluationsResult>
  backtest(request: BacktestRequest, asked?: Asked): Promise<BacktestResult>
  listSubscriptions(narrow: {
    caller?: string | undefined
    project?: string | undefined
  }): Promise<{ subscriptions: Subscription[] }>
}

/**
 * @param snapshot runs a read on one view of the store.
 * @param publicUrl address people reach the console at; null: messages have no link
 */
export function createTriggerReads(
  ctx: ReadContext,
  clock: Clock,
  snapshot: Snapshot,
  publicUrl: string | null = null,
): TriggerReads {
  const { db } = ctx
  const clamp = (limit: number, max: number) => Math.min(max, Math.max(1, Math.trunc(limit)))
  const firing = (id: string): FiringRow =>
    triggerQueries(db).byDispatch.get(id) ?? fail('not_found', `no firing has the id ${id}`)
  return {
    listFirings: (filter) =>
      snapshot(() => {
        const limit = clamp(filter.limit, 500)
        const rows = listRows(ctx, filter, limit + 1)
        const shown = rows.slice(0, limit).map((row) => presentFiring(db, row))
        return { firings: shown, next_before: rows.length > limit ? shown.at(-1)!.dispatch_id : null }
      }),
    getFiring: (id) =>
      snapshot(() => {
        const row = firing(id)
        const spec = JSON.parse(row.spec) as TriggerSpec
        return {
          ...presentFiring(db, row),
          payload: row.state === 'fired' ? renderPayload(ctx, row, null) : null,
          sentence: sentenceOf(spec),
          sources: spec.sources,
          context_window: spec.emit?.context_window ?? TRIGGER_DEFAULTS.context_window,
          deliveries: deliveriesOf(db, row.id).map((one) => presentDelivery(db, one)),
        }
      }),
    firingEvents: (id, after) =>
      snapshot(() => {
        const from =
          after === undefined
            ? -1
            : (parseEventId(after) ?? fail('invalid', 'after must be an event id', { field: 'after' }))
        const ids = allEvents(db, firing(id).id).filter((event) => event > from)
        const shown = ids.slice(0, PAGE_EVENTS).map(eventId)
        return { event_ids: shown, next_after: ids.length > PAGE_EVENTS ? shown.at(-1)! : null }
      }),
    listDispatches: (limit) =>
      snapshot(() =>
        listRows(ctx, { state: 'fired', limit }, clamp(limit, 500)).map((row) =>
          presentDispatch(presentFiring(db, row), lastError(deliveriesOf(db, row.id)), null),
        ),
      ),
    getDispatch: (id) =>
      snapshot(() => {
        const row = firing(id)
        if (row.state !== 'fired') fail('not_found', `firing ${id} is ${row.state}: it has not fired`)
        const all = deliveriesOf(db, row.id)
        const shown: Firing = presentFiring(db, row)
        return {
          ...presentDispatch(shown, lastError(all), renderPayload(ctx, row, null)),
          deliveries: all.map(asReferenceDelivery),
        }
      }),
    listDeliveries: (filter) =>
      snapshot(() => {
        const limit = clamp(filter.limit, 200)
        const rows = deliveryPage(db, { ...filter, limit: limit + 1 })
        const shown = rows.slice(0, limit).map((row) => presentDelivery(db, row))
        return { deliveries: shown, next_before: rows.length > limit ? shown.at(-1)!.delivery_id : null }
      }),
    getDelivery: (id) => snapshot(() => presentDelivery(db, requireDelivery(db, id))),
    deliveryMessage: (id) =>
      snapshot(() => {
        const one = requireDelivery(db, id)
        if (one.firing_id === null)
          fail('conflict', `delivery ${id} is of a finding: run ${one.finding_of} has what is posted`)
        const row = triggerQueries(db).byId.get(one.firing_id)!
        const runs = deliveriesOf(db, row.id).flatMap(({ run_id }) => run_id ?? [])
        const project = db
          .prepare<[string], string | null>('SELECT project FROM subscriptions WHERE id = ?')
          .pluck()
          .get(one.recipient)
        return { ...firingMessage(ctx, row, id, project ?? null, runs), ...linkOf(row, publicUrl) }
      }),
    why: (id, trigger) => snapshot(() => whyOf(ctx, id, trigger)),
    evaluations: (trigger, filter) =>
      snapshot(() => {
        requireTrigger(ctx, trigger)
        return evaluationsOf(ctx, trigger, { ...filter, limit: clamp(filter.limit, 200) })
      }),
    backtest: (request) => backtest(ctx, request, clock, snapshot),
    listSubscriptions: (narrow) => snapshot(() => ({ subscriptions: listSubscriptions(db, narrow) })),
  }
}

/** Where a person reads more of a firing. */
function linkOf(row: FiringRow, publicUrl: string | null): { url?: string } {
  if (publicUrl === null) return {}
  const path = row.incident_id === null ? `firings/${row.dispatch_id}` : `incidents/${row.incident_id}`
  return { url: `${publicUrl.replace(/\/+$/, '')}/${path}` }
}

/** @throws SvcError not_found */
export function requireTrigger({ db }: ReadContext, name: string): void {
  if (!db.prepare("SELECT 1 FROM triggers WHERE name = ? AND state <> 'deleted'").get(name))
    fail('not_found', `no trigger is named ${name}`)
}

function listRows({ db }: ReadContext, filter: FiringFilter, limit: number): FiringRow[] {
  if (filter.state !== undefined && !FIRING_STATES.includes(filter.state))
    fail('invalid', `state must be one of ${FIRING_STATES.join(', ')}`, { field: 'state' })
  const before = filter.before === undefined ? null : triggerQueries(db).byDispatch.get(filter.before)
  if (before === undefined) fail('invalid', 'before must be the id of a firing', { field: 'before' })
  const { trigger = null, project = null, key = null, state = null } = filter
  return db
    .prepare<unknown[], FiringRow>(
      `SELECT * FROM firings WHERE id < ? AND (? IS NULL OR trigger_name = ?)
       AND (? IS NULL OR project = ? OR EXISTS (SELECT 1 FROM json_each(projects) WHERE value = ?))
       AND (? IS NULL OR id IN (SELECT firing_id FROM firing_keys WHERE key = ?))
       AND (? IS NULL OR state = ?) ORDER BY id DESC LIMIT ?`,
    )
    .all(
      before?.id ?? Number.MAX_SAFE_INTEGER,
      trigger,
      trigger,
      project,
      project,
      project,
      key,
      key,
      state,
      state,
      limit,
    )
}

const lastError = (rows: readonly DeliveryRow[]): string | null =>
  rows.findLast(({ state }) => state === 'failed')?.reason ?? null

function asReferenceDelivery(row: DeliveryRow): NonNullable<Dispatch['deliveries']>[number] {
  return {
    agent: row.recipient_kind === 'agent' ? row.recipient : (row.name ?? row.recipient),
    endpoint: row.recipient_kind === 'agent' ? `svc://agent/${row.recipient}` : (row.masked ?? ''),
    kind: row.recipient_kind === 'agent' ? 'svc' : row.recipient_kind,
    ok: row.state === 'delivered' ? true : row.state === 'failed' ? false : null,
    error: row.reason,
    delivered_at: row.delivered_at === null ? null : new Date(row.delivered_at).toISOString(),
  }
}

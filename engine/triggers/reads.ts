/** What is read of triggers at work: firings, deliveries, why an event woke nobody, backtests. */
import { didYouMean } from '../../schemas/near-names.ts'
import type {
  BacktestRequest,
  BacktestResult,
  BacktestRun,
  DeliveriesResult,
  Delivery,
  Dispatch,
  EvaluationsResult,
  Firing,
  FiringDetail,
  FiringEventsResult,
  FiringMessage,
  FiringsResult,
  Label,
  SubscriptionsResult,
  TriggerSpec,
  WhyRecord,
  WhyResult,
} from '../../schemas/types.ts'
import { isSchedule, sentenceOf } from '../../schemas/words.ts'
import type { Asked } from '../calls.ts'
import type { Clock } from '../clock.ts'
import { maskedDocuments } from '../documents/record.ts'
import { normaliseTrigger, TRIGGER_DEFAULTS } from '../documents/trigger.ts'
import { fail } from '../errors.ts'
import type { Snapshot } from '../log/steps.ts'
import type { Database } from '../log/store/handle.ts'
import { SOURCE_LABEL } from '../log/store/labels.ts'
import { eachPosition } from '../log/store/scan.ts'
import type { ReadContext } from '../log/timeline/context.ts'
import { parseInstant } from '../log/timeline/plan.ts'
import { eventId, parseEventId } from '../log/timeline/present.ts'
import { documentOf } from '../model/documents.ts'
import { unpackIds } from '../model/ids.ts'
import { nextSlot } from '../model/slots.ts'
import { DAY_MS, isoOrNull, parseDuration } from '../model/units.ts'
import {
  type DeliveryFilter,
  type DeliveryRow,
  deliveriesOf,
  deliveryPage,
  presentDelivery,
  requireDelivery,
} from '../outbox/rows.ts'
import { listSubscriptions, type SubscriptionsFilter } from '../outbox/subscriptions.ts'
import { activeText, Backtest, explain, reachOf } from './core/index.ts'
import { createHistory, ledgerAsOf } from './history.ts'
import { firingMessage, renderPayload } from './message.ts'
import {
  allEvents,
  draftDefinition,
  type EvaluationRow,
  type FiringRow,
  pastDefinition,
  presentDispatch,
  presentEvaluation,
  presentFiring,
  presentVerdict,
  readDefinitions,
  requireNamed,
  seenOf,
  triggerQueries,
} from './queries.ts'
import type { Seen, TriggerDefinition } from './types.ts'

const FIRING_STATES = ['gathering', 'held', 'fired', 'dropped']
const PAGE_EVENTS = 10_000

interface FiringFilter {
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
  listSubscriptions(filter: SubscriptionsFilter): Promise<SubscriptionsResult>
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
        requireNamed(db, rows, filter)
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
          aggregate: 'aggregate' in spec.condition ? spec.condition.aggregate : null,
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
        requireNamed(db, rows, filter)
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
    listSubscriptions: (filter) => snapshot(() => listSubscriptions(db, filter)),
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
    refuseUnknown(name, readDefinitions(db))
}

function refuseUnknown(name: string, known: readonly Named[]): never {
  const names = known.map((one) => one.name)
  return fail('not_found', `no trigger is named ${name}${didYouMean(name, names)}`)
}

type Named = Pick<TriggerDefinition, 'name'>

function listRows({ db }: ReadContext, filter: FiringFilter, limit: number): FiringRow[] {
  if (filter.state !== undefined && !FIRING_STATES.includes(filter.state))
    fail('invalid', `state must be one of ${FIRING_STATES.join(', ')}`, { field: 'state' })
  const before = filter.before === undefined ? null : triggerQueries(db).byDispatch.get(filter.before)
  if (before === undefined) fail('invalid', 'before must be the id of a firing', { field: 'before' })
  const { trigger = null, project = null, key = null, state = null } = filter
  return db
    .prepare<Record<string, unknown>, FiringRow>(
      `WITH asked(id) AS (SELECT @project UNION SELECT id FROM projects WHERE name = @project AND state <> 'deleted')
       SELECT * FROM firings WHERE id < @before AND (@trigger IS NULL OR trigger_name = @trigger)
       AND (@project IS NULL OR project IN asked OR EXISTS (SELECT 1 FROM json_each(projects) WHERE value IN asked))
       AND (@key IS NULL OR id IN (SELECT firing_id FROM firing_keys WHERE key = @key))
       AND (@state IS NULL OR state = @state) ORDER BY id DESC LIMIT @limit`,
    )
    .all({ before: before?.id ?? Number.MAX_SAFE_INTEGER, trigger, project, key, state, limit })
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
    delivered_at: isoOrNull(row.delivered_at),
  }
}

/*
 * When a trigger would have fired over stored events. It reads them in the order they were stored, so
 * that it says what live evaluation would have done; a large span is read in slices, between which
 * other reads are answered.
 */

const WINDOW_DEFAULT = '7d'
/** Events looked at; more are cut off at the old end. */
const SCAN_MAX = 300_000
/** Events read in one go; a payload may have a megabyte. */
const SLICE = 2_000
const SLICE_WITH_PAYLOAD = 100
/** How long events are judged before other reads are answered: patterns may take milliseconds each. */
const GIVE_WAY_MS = 10

/** @throws SvcError invalid; not_found */
async function backtest(
  ctx: ReadContext,
  request: BacktestRequest,
  clock: Clock,
  snapshot: Snapshot,
): Promise<BacktestResult> {
  const now = clock.now()
  const to = request.to === undefined ? now : Math.min(now, parseInstant(request.to, 'to'))
  const asked = to - parseDuration(request.window ?? WINDOW_DEFAULT, 'window')
  const [main, compare] = await snapshot(() => [
    definitionOf(ctx, request),
    request.compare ? drafted(ctx, request.compare, request.version) : null,
  ])
  const tried = [main, ...(compare ? [compare] : [])]
  const span = await snapshot(() => spanOf(ctx, tried, asked, to))
  const runs = tried.map((definition) => newRun(ctx, definition, span.from, to))
  const withPayload = tried.some(({ spec }) => JSON.stringify(spec).includes('payload.'))
  await feedAll(ctx, runs, span.ids, { withPayload, clock, snapshot })
  const [result, compared] = runs.map((run) => run.finish())
  return {
    from: new Date(span.from).toISOString(),
    to: new Date(to).toISOString(),
    bucket: result!.bucket,
    scanned: span.ids.length,
    truncated: span.isCut,
    entities_changed_at: entitiesChangedAt(ctx, tried, span.from, now + 1),
    result: result!.run,
    ...(compared ? { compare: compared.run } : {}),
    sentence: sentenceOf(main.spec),
  }
}

/** When the entities that a trigger goes by last changed after one instant and before another, epoch ms. */
function entitiesChangedAt(
  { entities }: ReadContext,
  tried: readonly TriggerDefinition[],
  from: number,
  until: number,
): string | null {
  if (!tried.some(({ spec }) => spec.joined === true)) return null
  const last = entities.changesBetween(from, until).at(-1)
  return last === undefined ? null : new Date(last).toISOString()
}

async function feedAll(
  ctx: ReadContext,
  runs: readonly Run[],
  ids: readonly number[],
  { withPayload, clock, snapshot }: { withPayload: boolean; clock: Clock; snapshot: Snapshot },
): Promise<void> {
  const size = withPayload ? SLICE_WITH_PAYLOAD : SLICE
  const giveWay = () => new Promise((resolve) => setImmediate(resolve))
  for (let at = 0; at < ids.length; at += size) {
    // Nothing is read of the store while events are judged but labels, which never change.
    const rows = await snapshot(() => ctx.rows.read(ids.slice(at, at + size), withPayload))
    let since = clock.now()
    for (const row of rows) {
      const event = seenOf(row)
      for (const run of runs) run.feed(event)
      if (clock.now() - since < GIVE_WAY_MS) continue
      await giveWay()
      since = clock.now()
    }
    await giveWay()
  }
}

function definitionOf(ctx: ReadContext, request: BacktestRequest): TriggerDefinition {
  if ((request.trigger === undefined) === (request.definition === undefined))
    fail('invalid', 'give exactly one of trigger and definition', { field: 'trigger' })
  const { version } = request
  if (request.definition) return drafted(ctx, request.definition, version)
  if (version !== undefined) {
    const then = maskedDocuments(ctx.db)('trigger', request.trigger!, version)
    if (!then) fail('not_found', `no trigger was named ${request.trigger} as of change-set ${version}`)
    return past(ctx, documentOf('trigger', then), version)
  }
  const found = readDefinitions(ctx.db).find(({ name }) => name === request.trigger)
  if (!found) refuseUnknown(request.trigger!, readDefinitions(ctx.db))
  // How it would do is asked of what it says, also while it is paused.
  return { ...found, paused: false }
}

/** Over the sources of then: the events of one that was deleted since are its own. */
function past({ db, names, entities }: ReadContext, spec: TriggerSpec, version: number): TriggerDefinition {
  const documentAt = maskedDocuments(db)
  const source = (name: string) => {
    const { labels = [] } = (documentAt('source', name, version)?.config ?? {}) as { labels?: Label[] }
    return { ids: names.idsOf(name), labels }
  }
  return pastDefinition({ id: 0, name: '', spec }, source, entities.recorded(version))
}

/** @param version of the sources it watches; undefined: as they are */
function drafted(ctx: ReadContext, given: TriggerSpec, version: number | undefined): TriggerDefinition {
  const spec = normaliseTrigger(given)
  const definition = version === undefined ? draftDefinition(ctx.db, spec) : past(ctx, spec, version)
  const missing = spec.sources.find((name) => ctx.names.idsOf(name).length === 0)
  if (missing !== undefined) {
    const known = [...ctx.names.all()].flatMap(({ name, deleted }) => (deleted ? [] : [name]))
    fail('not_found', `no source is named ${missing}${didYouMean(missing, known)}`, { field: 'sources' })
  }
  return definition
}

interface Span {
  /** In the order they were stored. */
  ids: number[]
  /** Where firings count from, epoch ms. */
  from: number
  isCut: boolean
}

/** Events of the sources that were stored in the span, and before it as far as windows reach. */
function spanOf(ctx: ReadContext, definitions: readonly TriggerDefinition[], from: number, to: number): Span {
  const sources = [...new Set(definitions.flatMap(({ sourceIds }) => [...sourceIds]))]
  const labels = sources.flatMap((id) => ctx.dictionary.find(SOURCE_LABEL, String(id)) ?? [])
  const reach = Math.max(...definitions.map(reachOf))
  const first = ctx.ceilingAt(from - reach)
  const ids: number[] = []
  const query = {
    groups: [labels],
    masked: [],
    from: Number.MIN_SAFE_INTEGER,
    to: Number.MAX_SAFE_INTEGER,
    afterId: first,
    ceiling: ctx.ceilingAt(to),
  }
  if (labels.length)
    eachPosition(ctx.index.all(), query, (id) => {
      ids.push(id)
    })
  ids.sort((a, b) => a - b)
  if (ids.length <= SCAN_MAX) return { ids, from, isCut: false }
  const kept = ids.slice(-SCAN_MAX)
  const oldest = ctx.rows.read([kept[0]!], false)[0]!
  return { ids: kept, from: Math.min(to, oldest.ingested_at + reach), isCut: true }
}

interface Run {
  feed(event: ReturnType<typeof seenOf>): void
  finish(): { run: BacktestRun; bucket: string }
}

function newRun(ctx: ReadContext, definition: TriggerDefinition, from: number, to: number): Run {
  const { condition } = definition.spec
  if (!isSchedule(condition))
    return new Backtest({
      definition,
      from,
      to,
      labels: ctx.dictionary,
      sourceName: (id) => ctx.names.get(id)?.name ?? '',
    })
  return {
    feed: () => {},
    finish: () => {
      const slots: number[] = []
      for (let at = nextSlot(condition, from, from); at !== null && at <= to && slots.length < 20_000; )
        at = nextSlot(condition, from, slots[slots.push(at) - 1]!)
      return Backtest.ofTimes(slots, definition.name || 'schedule', from, to)
    },
  }
}

/*
 * Why an event fired a trigger, or did not. What was recorded as it happened is told as it was; what
 * was not recorded is worked out by the trigger as it is now, over what was stored before the event.
 */

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
  'resolved',
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
function whyOf(ctx: ReadContext, id: string, trigger?: string): WhyResult {
  const number = parseEventId(id) ?? fail('invalid', 'an event id is evt_ and a number', { field: 'id' })
  const stored = ctx.rows.read([number], true)[0]
  if (!stored) fail('not_found', `no event has the id ${id}; it may have been purged`)
  const event = seenOf(stored)
  const all = readDefinitions(ctx.db)
  const named = trigger === undefined ? all : all.filter(({ name }) => name === trigger)
  if (trigger !== undefined && named.length === 0) refuseUnknown(trigger, all)
  const definitions = named.filter(({ sourceIds }) => sourceIds.includes(event.sourceId))
  if (trigger !== undefined && definitions.length === 0) {
    const source = ctx.names.get(event.sourceId)?.name ?? 'another source'
    const watched = named[0]?.spec.sources.join(', ')
    fail('not_found', `trigger ${trigger} looks at no event of ${source}, as ${id} is: it watches ${watched}`)
  }
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
function evaluationsOf(
  ctx: ReadContext,
  trigger: string,
  filter: { reason?: string | undefined; before?: string | undefined; limit: number },
): EvaluationsResult {
  if (filter.before !== undefined && !/^\d{1,15}$/.test(filter.before))
    fail('invalid', 'before must be next_before of an earlier answer of the same list', { field: 'before' })
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
  const about = { trigger: definition.id, key: verdict.key ?? '', at: event.ingestedAt, event: event.id }
  const isMet = verdict.reason === 'fired' || verdict.reason === 'cooldown'
  if (isMet && 'aggregate' in definition.spec.condition && queries.lastedThen.get(about) === 1) {
    const met = verdict.text.replace(/^fired: |; but it fired at .*$/g, '')
    const active = { ...verdict, reason: 'active' as const, text: activeText(met), until: null }
    return presentVerdict(definition.name, active, null, true)
  }
  // A burst is known by the events it took in, not by what the trigger would do alone.
  const burst = queries.around
    .all(definition.id, event.ingestedAt, event.ingestedAt)
    .find(
      (firing) =>
        firing.crossings > 1 &&
        queries.eventsOf.all(firing.id).some(({ ids }) => unpackIds(ids).includes(event.id)),
    )
  if (!burst) return presentVerdict(definition.name, verdict, null, true)
  const isHeld = burst.held_at !== null && burst.held_at <= event.ingestedAt
  const [reason, held] = isHeld ? (['held', 'held back by a limit, '] as const) : (['folded', ''] as const)
  const folded = { ...verdict, reason, text: `${held}folded into the firing of ${burst.key}` }
  return presentVerdict(definition.name, folded, burst.dispatch_id, true)
}

/* How often triggers fired lately, for lists of them: one statement for all. */

const DAYS = 7

export interface Activity {
  /** Epoch ms; null: never. */
  lastFired: number | null
  /** Of the last 24 hours. */
  day: number
  /** Of each of the last seven days, oldest first. */
  spark: number[]
  /** Addresses subscribed to it by name. */
  subscriptions: number
}

/** @param now epoch ms. @returns the activity of a live trigger by its name */
export function activities(db: Database, now: number): (name: string) => Activity {
  const ids = new Map(
    db.prepare("SELECT name, id FROM triggers WHERE state <> 'deleted'").raw().all() as [string, number][],
  )
  const last = new Map(
    db
      .prepare<[], [number, number]>(
        'SELECT trigger_id, max(fired_at) FROM firings WHERE fired_at IS NOT NULL AND resolves IS NULL AND practice = 0 GROUP BY trigger_id',
      )
      .raw()
      .all() as [number, number][],
  )
  const days = new Map<number, number[]>()
  for (const [id, ago, n] of db
    .prepare<[number, number, number]>(
      `SELECT trigger_id, CAST((? - fired_at) / ${DAY_MS} AS INTEGER), count(*) FROM firings
       WHERE fired_at > ? AND fired_at <= ? AND resolves IS NULL AND practice = 0 GROUP BY 1, 2`,
    )
    .raw()
    .all(now, now - DAYS * DAY_MS, now) as [number, number, number][]) {
    const counts = days.get(id) ?? new Array<number>(DAYS).fill(0)
    counts[DAYS - 1 - ago] = n
    days.set(id, counts)
  }
  const subscribed = new Map(
    db
      .prepare(
        'SELECT trigger_name, count(*) FROM subscriptions WHERE removed_at IS NULL AND disabled_at IS NULL AND trigger_name IS NOT NULL GROUP BY 1',
      )
      .raw()
      .all() as [string, number][],
  )
  return (name) => {
    const id = ids.get(name) ?? 0
    const spark = days.get(id) ?? new Array<number>(DAYS).fill(0)
    return {
      lastFired: last.get(id) ?? null,
      day: spark.at(-1)!,
      spark,
      subscriptions: subscribed.get(name) ?? 0,
    }
  }
}

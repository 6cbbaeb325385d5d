/**
 * The tables of the outbox, `deliveries` and `delivery_tries`: this is the only file that writes them. A row is
 * of a firing (`firing_id`) or of an agent's finding (`finding_of`, the run), presented here as it is answered, too. Times are epoch ms.
 */
import { maxTries, type RetryKind } from '../../machines/delivery.ts'
import type { LifecycleEvent } from '../../machines/step.ts'
import type { Delivery } from '../../schemas/types.ts'
import { fail } from '../errors.ts'
import { acceptedIn, carryOut, type Executors, firstSnapshot, move } from '../log/lifecycle.ts'
import type { Database } from '../log/store/handle.ts'
import { maskedUrl } from '../model/credentials.ts'
import { newDispatchId } from '../model/ids.ts'
import { iso, isoOrNull } from '../model/units.ts'

/** How a recipient is told: the sender of it. */
export type RecipientKind = 'agent' | 'webhook' | 'slack' | 'mcp' | 'write_back' | 'github'

/** A delivery to be made. */
export interface NewDelivery {
  of: { firing: number } | { finding: string }
  kind: RecipientKind
  /** Id of the subscription, name of the agent, or `findingRecipient` of one whose findings are told. */
  recipient: string
  /** Deliveries to one subscriber are sent in order for each of these. */
  key: string
  projects: readonly string[]
  at: number
}

/** A delivery that is due. */
export interface DueRow {
  id: string
  recipient_kind: RecipientKind
  recipient: string
  finding_of: string | null
}

export interface TryRow {
  at: number
  ms: number
  /** HTTP status; null: none came. */
  status: number | null
  error: string | null
}

interface HeldRow {
  recipient: string
  state: string
  lease: string | null
  lease_until: number | null
  held_since: number
}

/** How a finding is told. */
export type FindingKind = 'write_back' | 'slack' | 'github'

/** Who is told of the findings of an agent, as a recipient: its webhook, its channel of Slack, or GitHub. */
export const findingRecipient = (kind: FindingKind, agent: string): string => `${kind}:${agent}`

/** The row of the retry table that a delivery is sent by. */
export const retryKindOf = (kind: RecipientKind, isFinding: boolean): RetryKind =>
  kind === 'slack' && isFinding ? 'slack_finding' : kind

/**
 * Of an incident that is snoozed: it waits until the snooze ends, whichever try it is at. That it is over ends the
 * snooze, and is told.
 */
const isSnoozed = (
  one: 'd' | 'e',
) => `EXISTS (SELECT 1 FROM firings f JOIN incidents i ON i.id = f.incident_id
  WHERE f.id = ${one}.firing_id AND f.resolves IS NULL AND i.state = 'snoozed')`
/** Said beside a state, it opens the index deliveries_open to SQLite, which asks for the very words. */
const OPEN = "('pending', 'running')"
/**
 * Not settled, and before `d` of the same recipient and key; what a snooze holds back holds up no other trigger's. The
 * states are said as the index deliveries_open has them: by another one each delivery is compared with all of its recipient.
 */
const IS_BEFORE = `e.state IN ${OPEN} AND (e.state = 'running' OR NOT ${isSnoozed('e')})
  AND e.recipient = d.recipient AND e.key = d.key AND e.seq < d.seq`
/** In order per recipient and key: none is sent while an earlier one is not settled. */
const IS_FIRST = `NOT EXISTS (SELECT 1 FROM deliveries e WHERE ${IS_BEFORE})`
/**
 * Messages to Slack are read by people, to whom a late one is worth less than one out of order: one that is tried
 * again in more than a minute lets those after it pass, so that no wait holds them up for longer.
 */
const PASSED_AFTER_MS = 60_000
const IS_NEXT = `NOT EXISTS (SELECT 1 FROM deliveries e WHERE ${IS_BEFORE}
  AND NOT (e.recipient_kind = 'slack' AND coalesce(e.due_at, 0) > @now + ${PASSED_AFTER_MS}))`
/** Those that the worker sends; agents are woken, and `mcp` is fetched. */
const SENT = "('webhook', 'slack', 'write_back', 'github')"
/**
 * What the worker may send now, as a condition on `d`. Where many wait for one recipient nearly all wait for another of
 * their key, so that is looked at first.
 */
export const READY = `d.state = 'pending' AND d.recipient_kind IN ${SENT} AND ${IS_NEXT} AND NOT ${isSnoozed('d')}`

/**
 * It would wait more than twice as long as it was to wait after its last try: the clock was set back since, and what was
 * to be tried again in seconds would be tried when the clock has caught up, a day later.
 */
const WAITS_TOO_LONG = `d.due_at - @now > 2 * (d.due_at -
  (SELECT t.at FROM delivery_tries t WHERE t.delivery_id = d.id ORDER BY t.n DESC LIMIT 1))`

type DeliveryRows = ReturnType<typeof prepare>

const prepared = new WeakMap<Database, DeliveryRows>()

/** The statements of a connection, prepared once. */
export function deliveryRows(db: Database): DeliveryRows {
  const known = prepared.get(db) ?? prepare(db)
  prepared.set(db, known)
  return known
}

/** Writes a delivery in the caller's transaction. @returns its id, which every try carries */
export function addDelivery(db: Database, { of, kind, recipient, key, projects, at }: NewDelivery): string {
  const id = `dlv_${newDispatchId(at)}`
  const isFinding = 'finding' in of
  deliveryRows(db).insert.run({
    id,
    firing_id: isFinding ? null : of.firing,
    finding_of: isFinding ? of.finding : null,
    kind,
    recipient,
    key,
    projects: JSON.stringify(projects),
    at,
    snapshot: firstSnapshot('delivery', { max_tries: maxTries(retryKindOf(kind, isFinding)) }),
  })
  return id
}

function prepare(db: Database) {
  return { ...sending(db), ...fetching(db) }
}

/** Deliveries that are sent, and what the effects of their machine ask for. */
function sending(db: Database) {
  return {
    insert: db.prepare<{
      id: string
      firing_id: number | null
      finding_of: string | null
      kind: string
      recipient: string
      key: string
      projects: string
      at: number
      snapshot: string
    }>(
      `INSERT INTO deliveries (id, seq, firing_id, finding_of, recipient_kind, recipient, key, projects, made_at, snapshot)
       VALUES (@id, (SELECT coalesce(max(seq), 0) + 1 FROM deliveries), @firing_id, @finding_of, @kind, @recipient,
         @key, @projects, @at, @snapshot)`,
    ),
    // What the effects of its machine ask for.
    setDue: db.prepare<[number | null, string]>('UPDATE deliveries SET due_at = ? WHERE id = ?'),
    setDelivered: db.prepare<[number | null, string]>(
      'UPDATE deliveries SET delivered_at = ?, reason = NULL WHERE id = ?',
    ),
    setReason: db.prepare<[string | null, string]>('UPDATE deliveries SET reason = ? WHERE id = ?'),
    beginAgain: db.prepare<[number, string]>(
      `UPDATE deliveries SET delivered_at = NULL, reason = NULL, progress = CASE WHEN ? THEN progress END WHERE id = ?`,
    ),
    disableRecipient: db.prepare<[number, string]>(
      'UPDATE subscriptions SET disabled_at = ? WHERE id = (SELECT recipient FROM deliveries WHERE id = ?)',
    ),

    due: db.prepare<{ now: number; busy: string; limit: number }, DueRow & { due_at: number | null }>(
      `SELECT d.id, d.recipient_kind, d.recipient, d.finding_of, d.due_at FROM deliveries d
       WHERE ${READY} AND (d.due_at IS NULL OR d.due_at <= @now OR ${WAITS_TOO_LONG})
         AND d.recipient NOT IN (SELECT value FROM json_each(@busy))
       ORDER BY d.due_at, d.seq LIMIT @limit`,
    ),
    /** The first that is due after an instant; in the order of the index, so that few of those that wait are looked at. */
    next: db
      .prepare<{ now: number; after: number }, number>(
        `SELECT d.due_at FROM deliveries d WHERE ${READY} AND d.due_at > @after ORDER BY d.due_at LIMIT 1`,
      )
      .pluck(),
    /** Those that a stopped daemon was sending. */
    underWay: db
      .prepare<[], string>(
        `SELECT id FROM deliveries WHERE state IN ${OPEN} AND state = 'running' AND recipient_kind IN ${SENT}`,
      )
      .pluck(),
    /** What waits for a recipient, in whatever order. */
    pendingFor: db
      .prepare<[string], string>("SELECT id FROM deliveries WHERE recipient = ? AND state = 'pending'")
      .pluck(),
    byId: db.prepare<
      [string],
      DueRow & { firing_id: number | null; run_id: string | null; progress: string | null }
    >(
      'SELECT id, recipient_kind, recipient, finding_of, firing_id, run_id, progress FROM deliveries WHERE id = ?',
    ),
    /** Whether what a try sent is known to be there. */
    setCut: db.prepare<[number, string]>('UPDATE deliveries SET was_cut = ? WHERE id = ?'),
    setProgress: db.prepare<[string, string]>('UPDATE deliveries SET progress = ? WHERE id = ?'),
    addTry: db.prepare<TryRow & { id: string }>(
      `INSERT INTO delivery_tries (delivery_id, n, at, ms, status, error)
       VALUES (@id, (SELECT coalesce(max(n), 0) + 1 FROM delivery_tries WHERE delivery_id = @id), @at, @ms, @status, @error)`,
    ),
  }
}

/** Deliveries to agents, and those that are fetched. */
function fetching(db: Database) {
  return {
    /** Of an agent: under way until its run ends. */
    ofRun: db
      .prepare<[string], string>(
        "SELECT id FROM deliveries WHERE run_id = ? AND recipient_kind = 'agent' AND state = 'running'",
      )
      .pluck(),
    setRun: db.prepare<[string, string]>('UPDATE deliveries SET run_id = ? WHERE id = ?'),

    // Of those that are fetched: who holds it, and until when. From the first that waits on: those before are many.
    firstFetched: db
      .prepare<{ recipient: string }, string>(
        `SELECT d.id FROM deliveries d WHERE d.recipient = @recipient AND d.recipient_kind = 'mcp' AND d.state = 'pending'
           AND d.seq >= (SELECT min(o.seq) FROM deliveries o INDEXED BY deliveries_open WHERE o.state IN ${OPEN} AND o.state = 'pending'
             AND o.recipient = @recipient)
           AND NOT ${isSnoozed('d')} AND ${IS_FIRST} ORDER BY d.seq LIMIT 1`,
      )
      .pluck(),
    hold: db.prepare<[string, number, number, string]>(
      'UPDATE deliveries SET lease = ?, lease_until = ?, held_since = ? WHERE id = ?',
    ),
    held: db.prepare<[string], HeldRow>(
      'SELECT recipient, state, lease, lease_until, coalesce(held_since, made_at) AS held_since FROM deliveries WHERE id = ?',
    ),
    letGo: db.prepare<[string]>(
      'UPDATE deliveries SET lease = NULL, lease_until = NULL, held_since = NULL WHERE id = ?',
    ),
    /** Those too that would be held more than twice as long as they were to be: the clock was set back. */
    lapsed: db
      .prepare<[{ now: number }], string>(
        `SELECT id FROM deliveries WHERE lease_until IS NOT NULL
           AND (lease_until <= @now OR lease_until - @now > 2 * (lease_until - held_since))`,
      )
      .pluck(),
    nextLapse: db
      .prepare<[], number | null>('SELECT min(lease_until) FROM deliveries WHERE lease_until IS NOT NULL')
      .pluck(),
  }
}

/*
 * Where deliveries change their state: the machine decides (machines/delivery.ts), and what its effects ask for
 * is written with the new state, in the transaction of the caller. Nobody else moves a delivery.
 *
 * ```
 *            claim               acknowledge
 *  pending ─────────▶ running ─────────────▶ delivered
 *     ▲  ▲              │ │                      │
 *     │  └── retry, ────┘ └─ refuse, gone, the ─▶ failed ──┐
 *     │   interrupted        last retry                    │
 *     └────────────────────── redeliver ───────────────────┘
 * ```
 */

interface Moved {
  state: string
  /** Number of the try to be made now, from 1; null: none is. */
  send: number | null
}

interface Written {
  rows: DeliveryRows
  id: string
  /** Epoch ms, of the event. */
  at: number
  moved: Moved
}

/** What each effect of the machine is; test/engine/outbox/delivery.test.ts holds that none is missing. */
export const effects: Executors<Written> = {
  send: ({ moved }, params: { try: number }) => {
    moved.send = params.try
  },
  note_delivered: ({ rows, id, at }, params: { at: number | null }) =>
    void rows.setDelivered.run(params.at ?? at, id),
  note_failure: ({ rows, id }, params: { reason: string | null }) =>
    void rows.setReason.run(params.reason, id),
  begin_again: ({ rows, id }, params: { keeps_progress: boolean }) =>
    void rows.beginAgain.run(params.keeps_progress ? 1 : 0, id),
  disable_recipient: ({ rows, id, at }) => void rows.disableRecipient.run(at, id),
}

/**
 * Moves a delivery by an event; call inside a transaction.
 * @param event with `at`, epoch ms
 * @throws SvcError not_found; wrong_state, naming the state and what it accepts; conflict
 */
export function moveDelivery(db: Database, id: string, event: LifecycleEvent & { at: number }): Moved {
  const { state, snapshot, effects: asked } = move(db, { kind: 'delivery', id, name: id }, event)
  const moved: Moved = { state, send: null }
  const rows = deliveryRows(db)
  carryOut('delivery', effects, asked, { rows, id, at: event.at, moved })
  rows.setDue.run((snapshot.context.due_at as number | null) ?? null, id)
  return moved
}

/*
 * Firings told to agents of this service: the delivery is under way from the firing on, and is settled in the
 * transaction that ends the run. Nothing is sent, so the worker has no part in it.
 */

/**
 * Writes the delivery and wakes the agent, in the transaction of the firing.
 * @param wake makes the run, or finds the one that waits. @returns its id; null: there is no such agent
 */
export function tellAgent(
  db: Database,
  delivery: Omit<NewDelivery, 'kind'>,
  wake: (deliveryId: string) => string | null,
): string | null {
  const { at, recipient } = delivery
  const id = addDelivery(db, { ...delivery, kind: 'agent' })
  moveDelivery(db, id, { type: 'claim', at })
  const run = wake(id)
  if (run === null) moveDelivery(db, id, { type: 'refuse', at, reason: `no agent is named ${recipient}` })
  return run
}

/** The run that a delivery started, or joined. */
export function noteRun(db: Database, deliveryId: string, run: string): void {
  deliveryRows(db).setRun.run(run, deliveryId)
}

/** What the deliveries to an agent came to. @param reason null: its run succeeded */
export function settleRun(db: Database, run: string, reason: string | null, at: number): void {
  const event = reason === null ? { type: 'acknowledge', at } : { type: 'refuse', at, reason }
  for (const id of deliveryRows(db).ofRun.all(run)) moveDelivery(db, id, event)
}

const LISTED_TRIES = 20
const KINDS: readonly RecipientKind[] = ['agent', 'webhook', 'slack', 'mcp', 'write_back', 'github']

/** A delivery with what it tells: a firing, or the finding of a run and the firing that woke it. */
export interface DeliveryRow {
  id: string
  seq: number
  firing_id: number | null
  finding_of: string | null
  recipient_kind: RecipientKind
  recipient: string
  key: string
  made_at: number
  due_at: number | null
  delivered_at: number | null
  reason: string | null
  run_id: string | null
  progress: string | null
  snapshot: string
  state: 'pending' | 'running' | 'delivered' | 'failed'
  /** Of the firing; null: a finding of a run that none woke, or whose firing is gone. */
  dispatch_id: string | null
  trigger_name: string | null
  fired_at: number | null
  /** Of the subscription. */
  name: string | null
  masked: string | null
  /** 1: it is there and not switched off. */
  is_subscribed: 0 | 1
  /** Of the run whose finding it is. */
  agent: string | null
  entity: string | null
  webhook_url: string | null
  slack_channel: string | null
}

const SELECT = `SELECT d.*, f.dispatch_id, f.trigger_name, f.fired_at, s.name, s.masked, r.agent, r.entity,
    s.id IS NOT NULL AND s.removed_at IS NULL AND s.disabled_at IS NULL AS is_subscribed,
    r.definition ->> 'webhook_url' AS webhook_url, r.definition ->> 'slack_channel' AS slack_channel
  FROM deliveries d LEFT JOIN runs r ON r.id = d.finding_of
  LEFT JOIN firings f ON f.id = coalesce(d.firing_id, r.firing_id)
  LEFT JOIN subscriptions s ON s.id = d.recipient`

export interface DeliveryFilter {
  status?: string | undefined
  trigger?: string | undefined
  /** Id of a subscription, or name of an agent: what it is told, and what is told of its findings. */
  recipient?: string | undefined
  kind?: string | undefined
  /** Id of a run: the deliveries of its finding. */
  run?: string | undefined
  /** Id of the last one seen. */
  before?: string | undefined
  limit: number
}

/** @throws SvcError not_found */
export function requireDelivery(db: Database, id: string): DeliveryRow {
  return (
    db.prepare<[string], DeliveryRow>(`${SELECT} WHERE d.id = ?`).get(id) ??
    fail('not_found', `no delivery has the id ${id}`)
  )
}

/** Of a firing, in the order they were made. */
export function deliveriesOf(db: Database, firing: number): DeliveryRow[] {
  return db.prepare<[number], DeliveryRow>(`${SELECT} WHERE d.firing_id = ? ORDER BY d.seq`).all(firing)
}

/**
 * Of all firings of an incident, newest first.
 * @param project only those that are of this project; null: all
 */
export function deliveriesOfIncident(
  db: Database,
  incident: number,
  project: string | null,
  limit: number,
): DeliveryRow[] {
  return db
    .prepare<{ incident: number; project: string | null; limit: number }, DeliveryRow>(
      `${SELECT} WHERE d.firing_id IN (SELECT id FROM firings WHERE incident_id = @incident)
         AND (@project IS NULL OR instr(d.projects, '"' || @project || '"') > 0)
       ORDER BY d.seq DESC LIMIT @limit`,
    )
    .all({ incident, project, limit })
}

/** Newest first. @throws SvcError invalid; not_found for `before` */
export function deliveryPage(db: Database, filter: DeliveryFilter): DeliveryRow[] {
  const { kind } = filter
  if (kind !== undefined && !KINDS.includes(kind as RecipientKind))
    fail('invalid', `kind must be one of ${KINDS.join(', ')}`, { field: 'kind' })
  return db
    .prepare<Record<string, unknown>, DeliveryRow>(
      `${SELECT} WHERE d.seq < @before AND d.state IN (SELECT value FROM json_each(@states))
         AND (@trigger IS NULL OR f.trigger_name = @trigger)
         AND (@recipient IS NULL OR d.recipient = @recipient OR r.agent = @recipient)
         AND (@kind IS NULL OR d.recipient_kind = @kind) AND (@run IS NULL OR d.finding_of = @run)
       ORDER BY d.seq DESC LIMIT @limit`,
    )
    .all({
      before: filter.before === undefined ? Number.MAX_SAFE_INTEGER : requireDelivery(db, filter.before).seq,
      states: JSON.stringify(statesOf(filter.status)),
      trigger: filter.trigger ?? null,
      recipient: filter.recipient ?? null,
      kind: kind ?? null,
      run: filter.run ?? null,
      limit: filter.limit,
    })
}

export function presentDelivery(db: Database, row: DeliveryRow): Delivery {
  const { tries = 0, max_tries = 0 } = (
    JSON.parse(row.snapshot) as { context: { tries?: number; max_tries?: number } }
  ).context
  return {
    delivery_id: row.id,
    of: row.finding_of === null ? 'firing' : 'finding',
    dispatch_id: row.dispatch_id,
    trigger: row.trigger_name,
    key: row.entity ?? row.key,
    fired_at: isoOrNull(row.fired_at),
    made_at: iso(row.made_at),
    recipient: presentRecipient(row),
    status: row.state === 'pending' ? 'running' : row.state,
    // What a worker does is not for people to ask for.
    accepts: acceptedIn('delivery', row.state).filter((event) => event === 'redeliver' && canSendAgain(row)),
    tries,
    max_tries,
    due_at: isoOrNull(row.due_at),
    reason: row.reason,
    delivered_at: isoOrNull(row.delivered_at),
    run_id: row.finding_of ?? row.run_id,
    attempts: db
      .prepare<[string, number], TryRow>(
        'SELECT at, ms, status, error FROM delivery_tries WHERE delivery_id = ? ORDER BY n DESC LIMIT ?',
      )
      .all(row.id, LISTED_TRIES)
      .map(({ at, ...rest }) => ({ at: iso(at), ...rest })),
  }
}

/** An agent's run is repeated by a rerun instead; a firing goes to a subscription that is there, a finding to an address. */
const canSendAgain = ({ recipient_kind, finding_of, is_subscribed }: DeliveryRow): boolean =>
  recipient_kind !== 'agent' && (finding_of !== null || is_subscribed === 1)

function presentRecipient(row: DeliveryRow): Delivery['recipient'] {
  const { recipient_kind: kind, recipient, agent } = row
  if (agent !== null) return { kind, name: agent, address: receiverOf(row), subscription_id: null }
  if (kind === 'agent')
    return { kind, name: recipient, address: `svc://agent/${recipient}`, subscription_id: null }
  return { kind, name: row.name ?? recipient, address: row.masked ?? '', subscription_id: recipient }
}

/** Where findings of the agent went when the run was made; its secret part is masked. */
function receiverOf({ recipient_kind, webhook_url: url, slack_channel, progress }: DeliveryRow): string {
  if (recipient_kind === 'slack') {
    const there = progress === null ? null : (JSON.parse(progress) as { channel: string | null }).channel
    const channel = there ?? slack_channel
    return channel ? `slack://channel/${channel}` : 'an incoming webhook of Slack'
  }
  if (recipient_kind === 'github') return 'GitHub'
  return url && URL.canParse(url) ? maskedUrl(url) : ''
}

function statesOf(status: string | undefined): string[] {
  if (status === undefined) return ['pending', 'running', 'delivered', 'failed']
  if (status === 'running') return ['pending', 'running']
  if (status !== 'delivered' && status !== 'failed')
    fail('invalid', 'status must be one of running, delivered, failed', { field: 'status' })
  return [status]
}

/*
 * Findings of agents as deliveries: one for the receiver of the agent, one for its channel of Slack, made in the
 * transaction that ends the run.
 */

/** A run that ended with a finding. */
interface Finding {
  run: string
  agent: string
  /** What the agent concluded on. */
  entity: string
  /** Findings of one grow as one message of Slack. */
  incident: string
  projects: readonly string[]
  /** Epoch ms. */
  at: number
}

/** @param to whom it is told; none: nothing is written */
export function tellFinding(
  db: Database,
  { run, agent, entity, incident, projects, at }: Finding,
  to: readonly FindingKind[],
): void {
  for (const kind of to)
    addDelivery(db, {
      ...{ of: { finding: run }, kind, recipient: findingRecipient(kind, agent), projects, at },
      key: kind === 'write_back' ? entity : incident,
    })
}

/** How the finding of a run was told, in the words of the API's runs. */
export interface FindingTold {
  /** Write-back: pending, ok, http and a status, or failed; null: there is none. */
  delivery: string | null
  delivery_error: string | null
  /** Post to Slack: pending, ok or failed; null: it goes to no channel. */
  slack: string | null
  slack_error: string | null
  /** Comment and check on GitHub: pending, ok or failed; null: nothing is written there. */
  github: string | null
  github_error: string | null
}

interface ToldRow {
  recipient_kind: FindingKind
  state: 'pending' | 'running' | 'delivered' | 'failed'
  reason: string | null
  /** HTTP status of the last try. */
  status: number | null
}

const NOT_TOLD: FindingTold = {
  ...{ delivery: null, delivery_error: null, slack: null, slack_error: null },
  ...{ github: null, github_error: null },
}

/** The statement of a connection, prepared once. @returns how the finding of a run was told, by its id */
export function findingsTold(db: Database): (run: string) => FindingTold {
  const told = db.prepare<[string], ToldRow>(
    `SELECT recipient_kind, state, reason,
       (SELECT t.status FROM delivery_tries t WHERE t.delivery_id = d.id ORDER BY t.n DESC LIMIT 1) AS status
     FROM deliveries d WHERE finding_of = ?`,
  )
  return (run) => {
    const rows = told.all(run)
    const of = (kind: string) => rows.find(({ recipient_kind }) => recipient_kind === kind)
    const [back, slack, github] = [of('write_back'), of('slack'), of('github')]
    if (!back && !slack && !github) return NOT_TOLD
    return {
      delivery: back ? wordOf(back, true) : null,
      delivery_error: back?.reason ?? null,
      slack: slack ? wordOf(slack, false) : null,
      slack_error: slack?.reason ?? null,
      github: github ? wordOf(github, false) : null,
      github_error: github?.reason ?? null,
    }
  }
}

function wordOf({ state, status }: ToldRow, namesStatus: boolean): string {
  if (state === 'delivered') return 'ok'
  if (state !== 'failed') return 'pending'
  return namesStatus && status !== null ? `http ${status}` : 'failed'
}

/**
 * The tables of the outbox, `deliveries` and `delivery_tries`: this is the only file that writes them. A row is
 * of a firing (`firing_id`) or of an agent's finding (`finding_of`, the run). Times are epoch ms.
 */
import { maxTries, type RetryKind } from '../../machines/delivery.ts'
import type { LifecycleEvent } from '../../machines/step.ts'
import { carryOut, type Executors, firstSnapshot, move } from '../log/lifecycle.ts'
import type { Database } from '../log/store/handle.ts'
import { newDispatchId } from '../model/ids.ts'

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

/** Not settled, and before `d` of the same recipient and key. */
const IS_BEFORE = `e.state IN ('pending', 'running') AND e.recipient = d.recipient AND e.key = d.key AND e.seq < d.seq`
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
const READY = `d.state = 'pending' AND d.recipient_kind IN ${SENT} AND ${IS_NEXT}`

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

    due: db.prepare<{ now: number; busy: string; limit: number }, DueRow>(
      `SELECT d.id, d.recipient_kind, d.recipient, d.finding_of FROM deliveries d
       WHERE ${READY} AND (d.due_at IS NULL OR d.due_at <= @now)
         AND d.recipient NOT IN (SELECT value FROM json_each(@busy))
       ORDER BY d.due_at, d.seq LIMIT @limit`,
    ),
    next: db
      .prepare<{ now: number }, number | null>(
        `SELECT min(coalesce(d.due_at, 0)) FROM deliveries d WHERE ${READY}`,
      )
      .pluck(),
    /** Those that a stopped daemon was sending. */
    underWay: db
      .prepare<[], string>(`SELECT id FROM deliveries WHERE state = 'running' AND recipient_kind IN ${SENT}`)
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

    // Of those that are fetched: who holds it, and until when.
    firstFetched: db
      .prepare<[string], string>(
        `SELECT d.id FROM deliveries d WHERE d.recipient = ? AND d.recipient_kind = 'mcp' AND d.state = 'pending'
           AND ${IS_FIRST} ORDER BY d.seq LIMIT 1`,
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
    lapsed: db
      .prepare<[number], string>(
        'SELECT id FROM deliveries WHERE lease_until IS NOT NULL AND lease_until <= ?',
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

/** Deliveries as they are answered. */

import type { Delivery } from '../../schemas/types.ts'
import { fail } from '../errors.ts'
import { acceptedIn } from '../log/lifecycle.ts'
import type { Database } from '../log/store/handle.ts'
import { maskedUrl } from '../model/credentials.ts'
import { iso, isoOrNull } from '../model/units.ts'
import { addDelivery, type FindingKind, findingRecipient, type RecipientKind, type TryRow } from './rows.ts'

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
  /** Of the run whose finding it is. */
  agent: string | null
  entity: string | null
  webhook_url: string | null
  slack_channel: string | null
}

const SELECT = `SELECT d.*, f.dispatch_id, f.trigger_name, f.fired_at, s.name, s.masked, r.agent, r.entity,
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
    // What a worker does is not for people to ask for; an agent's run is repeated by a rerun.
    accepts: acceptedIn('delivery', row.state).filter(
      (event) => event === 'redeliver' && row.recipient_kind !== 'agent',
    ),
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

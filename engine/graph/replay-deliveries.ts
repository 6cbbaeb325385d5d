/** Deliveries of firings: to whom one was told, each try, and how it ended. */

import { edgeIds, nodeId } from '../model/graph.ts'
import type { RecipientKind } from '../outbox/rows.ts'
import {
  type Collected,
  type Draft,
  draft,
  entityOf,
  isWithin,
  joined,
  type Scope,
  wholeInstants,
} from './replay-scope.ts'

/** Longest that tries of a delivery go on (machines/delivery.ts), and a little more. */
const TRIES_MS = 2 * 86_400_000
/** Longest that a try takes. */
const TRY_MS = 120_000

interface DeliveryFacts {
  id: string
  /** Order of making. */
  seq: number
  firing_id: number
  recipient_kind: RecipientKind
  recipient: string
  projects: string
  made_at: number
  delivered_at: number | null
  reason: string | null
  run_id: string | null
  state: 'pending' | 'running' | 'delivered' | 'failed'
  dispatch_id: string
  trigger_id: number
  trigger_name: string
  label: string | null
  value_text: string | null
  event_id: number | null
  practice: number
  /** Of the subscription. */
  project: string | null
  name: string | null
  masked: string | null
  gone_at: number | null
  /** Of its run. */
  finished_at: number | null
  depth: number | null
}

interface TryFacts extends DeliveryFacts {
  n: number
  at: number
  ms: number
  status: number | null
  error: string | null
  is_last: number
}

const FACTS = `d.id, d.seq, d.firing_id, d.recipient_kind, d.recipient, d.projects, d.made_at, d.delivered_at, d.reason,
  d.run_id, d.state, f.dispatch_id, f.trigger_id, f.trigger_name, f.label, f.value_text, f.event_id, f.practice,
  s.project, s.name, s.masked, coalesce(s.removed_at, s.disabled_at) AS gone_at, r.finished_at, r.depth`
const JOINS = `JOIN firings f ON f.id = d.firing_id LEFT JOIN subscriptions s ON s.id = d.recipient
  LEFT JOIN runs r ON r.id = d.run_id`

export const MADE = `SELECT ${FACTS} FROM firings f JOIN deliveries d ON d.firing_id = f.id
  LEFT JOIN subscriptions s ON s.id = d.recipient LEFT JOIN runs r ON r.id = d.run_id
  WHERE f.trigger_id = ? AND f.fired_at >= ? AND f.fired_at <= ? ORDER BY f.fired_at, d.seq LIMIT ?`
export const TRIES = `SELECT ${FACTS}, t.n, t.at, t.ms, t.status, t.error,
  t.n = (SELECT max(n) FROM delivery_tries l WHERE l.delivery_id = d.id) AS is_last
  FROM delivery_tries t JOIN deliveries d ON d.id = t.delivery_id ${JOINS}
  WHERE t.at >= ? AND t.at <= ? AND +f.trigger_id IN (SELECT value FROM json_each(?)) ORDER BY t.at, d.seq LIMIT ?`
/** To agents: over when the run is. (`+`: found by the time, not by the trigger, which has many more.) */
export const RUNS_ENDED = `SELECT ${FACTS} FROM runs r JOIN deliveries d ON d.run_id = r.id
  JOIN firings f ON f.id = d.firing_id LEFT JOIN subscriptions s ON s.id = d.recipient
  WHERE r.finished_at >= ? AND r.finished_at <= ? AND +f.trigger_id IN (SELECT value FROM json_each(?))
  ORDER BY r.finished_at, d.seq LIMIT ?`

export function collectDeliveries(scope: Scope): Collected {
  const { ctx, from, to, most, triggers } = scope
  const ids = JSON.stringify(triggers.map(({ id }) => id))
  const isMeant = (row: DeliveryFacts) => isOfProject(scope, row) && isOfChain(scope, row)
  const tries = ctx.db
    .prepare<[number, number, string, number], TryFacts>(TRIES)
    .all(from - TRY_MS, to, ids, most + 1)
  const whole = wholeInstants(tries, most, ({ at }) => at)
  const ended = wholeInstants(
    ctx.db.prepare<[number, number, string, number], DeliveryFacts>(RUNS_ENDED).all(from, to, ids, most + 1),
    most,
    ({ finished_at }) => finished_at!,
  )
  return joined([
    ...triggers.map(({ id }) => toldBy(scope, id, isMeant)),
    { ...whole, drafts: within(scope, whole.rows.filter(isMeant).map(tryDraft)) },
    {
      ...ended,
      drafts: within(
        scope,
        ended.rows.filter(isMeant).map((row) => endDraft(row, row.finished_at!)),
      ),
    },
  ])
}

/** To whom the firings of a trigger were told, and what ended without a try or a run. */
function toldBy(scope: Scope, trigger: number, isMeant: (row: DeliveryFacts) => boolean): Collected {
  const { ctx, from, to, most } = scope
  const { rows, ...whole } = wholeInstants(
    ctx.db.prepare<[number, number, number, number], DeliveryFacts>(MADE).all(trigger, from, to, most + 1),
    most,
    ({ made_at }) => made_at,
  )
  const earlier = ctx.db
    .prepare<[number, number, number, number], DeliveryFacts>(
      MADE.replace('ORDER BY', "AND d.state = 'failed' AND d.run_id IS NULL ORDER BY"),
    )
    .all(trigger, from - TRIES_MS, from - 1, most)
  const untried = ctx.db
    .prepare<[string], number>('SELECT count(*) FROM delivery_tries WHERE delivery_id = ?')
    .pluck()
  const withdrawn = [...earlier, ...rows]
    .filter(
      (row) => isMeant(row) && row.state === 'failed' && row.run_id === null && untried.get(row.id) === 0,
    )
    .map((row) => endDraft(row, row.recipient_kind === 'agent' ? row.made_at : (row.gone_at ?? row.made_at)))
  return { ...whole, drafts: within(scope, [...rows.filter(isMeant).map(toldDraft), ...withdrawn]) }
}

const within = (scope: Scope, drafts: Draft[]): Draft[] => drafts.filter(({ at }) => isWithin(scope, at))

/** What another project told somebody of a trigger they share is no business of this one. */
function isOfProject({ project }: Scope, row: DeliveryFacts): boolean {
  if (row.recipient_kind === 'agent') return (JSON.parse(row.projects) as string[]).includes(project.id)
  return row.project === null || row.project === project.id
}

const isOfChain = ({ chain }: Scope, row: DeliveryFacts): boolean =>
  !chain || (row.run_id !== null ? chain.runs.has(row.run_id) : chain.firings.includes(row.firing_id))

function toldDraft(row: DeliveryFacts): Draft {
  const isAgent = row.recipient_kind === 'agent'
  return {
    ...base(row),
    at: row.made_at,
    rank: 'told',
    phase: isAgent ? 'running' : 'pending',
    title: `${row.trigger_name} tells ${recipientOf(row)}`,
  }
}

function tryDraft(row: TryFacts): Draft {
  const { n, at, ms, status, error, state } = row
  const phase = error === null ? 'delivered' : row.is_last && state === 'failed' ? 'failed' : 'retry'
  const answer = status === null ? '' : ` (HTTP ${status})`
  const said =
    phase === 'delivered'
      ? `took it${answer}`
      : `did not take it: ${error}${phase === 'retry' ? '; it is tried again' : ''}`
  return {
    ...base(row),
    at: at + ms,
    rank: 'delivered',
    id: `${orderOf(row)}/${n}`,
    phase,
    title: `${recipientOf(row)} ${said}, try ${n}`,
    ms,
  }
}

function endDraft(row: DeliveryFacts, at: number): Draft {
  const isDone = row.state === 'delivered'
  return {
    ...base(row),
    at,
    rank: 'delivered',
    phase: isDone ? 'delivered' : 'failed',
    title: isDone
      ? `what was told to ${recipientOf(row)} is done`
      : `what was told to ${recipientOf(row)} failed: ${row.reason ?? 'no reason is recorded'}`,
  }
}

const recipientOf = ({ recipient_kind, recipient, name, masked }: DeliveryFacts): string =>
  recipient_kind === 'agent' ? `agent ${recipient}` : (masked ?? name ?? recipient)

const orderOf = ({ seq }: DeliveryFacts): string => String(seq).padStart(12, '0')

function base(row: DeliveryFacts): Draft {
  const { trigger_name: trigger, recipient } = row
  const isAgent = row.recipient_kind === 'agent'
  const destination = `webhook:${recipient}`
  return draft({
    at: row.made_at,
    depth: row.depth ?? 0,
    rank: 'told',
    id: orderOf(row),
    kind: 'delivery',
    phase: '',
    title: '',
    nodes: [
      nodeId('trigger', trigger),
      isAgent ? nodeId('agent', recipient) : nodeId('destination', destination),
    ],
    edges: [isAgent ? edgeIds.wakes(trigger, recipient) : edgeIds.tells('trigger', trigger, destination)],
    entity: entityOf(row.label, row.value_text),
    practice: row.practice === 1,
    dispatch_id: row.dispatch_id,
    delivery_id: row.id,
    run_id: row.run_id,
  })
}

/**
 * What happened lately in a project, a few statements for all of its nodes and edges. They are asked
 * every two seconds by every console that shows a graph: each is led by an index from what is of
 * today, or looks back a bounded number of rows (test/engine/graph/live-plan.test.ts).
 */
import { dollarsSql } from '../../models/dollars.ts'
import type { Database } from '../../store/handle.ts'

/** Rows looked back through for the last time, where today has none. */
const LOOK_BACK = 200

export interface LiveScope {
  /** Id of the project. */
  project: string
  /** Midnight UTC, epoch ms. */
  midnight: number
  /** JSON lists of names. */
  triggers: string
  agents: string
  /** JSON list of ids of subscriptions. */
  subscriptions: string
}

/** How often, and when last, epoch ms; null: never. */
export interface Traffic {
  today: number
  last_at: number | null
}

export interface TriggerActivity {
  id: number
  name: string
  today: number
  last_at: number | null
}

export interface AgentActivity {
  name: string
  today: number
  running: number
  queued: number
  /** Null: nothing priced. */
  spend: number | null
  last_at: number | null
  last_state: string | null
  last_error: string | null
}

export interface HandoffActivity {
  from_agent: string
  verdict: string
  to_agent: string
  today: number
  last_at: number
}

/** The newest delivery of a recipient: a subscription, or the receiver of an agent's findings. */
export interface LastDelivery {
  recipient: string
  last_at: number
  state: string
  reason: string | null
}

/** A wire that carried nothing today. */
export interface QuietWire {
  trigger: string
  recipient: string
}

const COUNTED = 'practice = 0 AND resolves IS NULL'
const WORK = "practice = 0 AND woken_by <> 'external'"
/** A delivery `d` of the project: what an agent is told for another project alone is not its own. */
const OWN = `(d.recipient_kind <> 'agent' OR instr(d.projects, '"' || @project || '"') > 0)`
const CARRIED = "state IN ('started', 'done')"

/** SQL text by name: tests look at its plan. */
export const liveSql = {
  triggers: `SELECT t.id, t.name,
      (SELECT count(*) FROM firings f WHERE f.trigger_id = t.id AND f.fired_at >= @midnight AND ${COUNTED}) AS today,
      (SELECT f.fired_at FROM firings f WHERE f.trigger_id = t.id AND f.fired_at IS NOT NULL AND ${COUNTED}
       ORDER BY f.fired_at DESC LIMIT 1) AS last_at
    FROM triggers t WHERE t.state <> 'deleted' AND t.name IN (SELECT value FROM json_each(@triggers))`,

  // From both ends: a trigger that fires all day may have stopped waking the agent, and an agent that
  // runs all day may rarely be woken by the trigger.
  quiet: `SELECT w.value ->> 'trigger' AS trigger, w.value ->> 'recipient' AS recipient, max(
      coalesce((SELECT max(d.made_at) FROM (
        SELECT * FROM deliveries l WHERE l.recipient = w.value ->> 'recipient'
        ORDER BY l.seq DESC LIMIT ${LOOK_BACK}) d
       CROSS JOIN firings f WHERE f.id = d.firing_id AND f.trigger_id = t.id AND f.practice = 0 AND ${OWN}), 0),
      coalesce((SELECT max(d.made_at) FROM (
        SELECT f.id FROM firings f WHERE f.trigger_id = t.id AND f.fired_at IS NOT NULL AND f.practice = 0
        ORDER BY f.fired_at DESC LIMIT ${LOOK_BACK}) recent
       CROSS JOIN deliveries d WHERE d.firing_id = recent.id AND d.recipient = w.value ->> 'recipient'
         AND ${OWN}), 0)) AS last_at
    FROM json_each(@wires) w CROSS JOIN triggers t
    WHERE t.name = w.value ->> 'trigger' AND t.state <> 'deleted'`,

  // Of all agents: narrowed to some, SQLite would go through all runs they ever had. What was made today
  // is open, or ended today.
  runs: `SELECT agent AS name, sum(made_at >= @midnight) AS today, sum(state = 'running') AS running,
      sum(state IN ('queued', 'parked')) AS queued, ${dollarsSql('sum(cost_usd)')} AS spend,
      sum(cost_usd > 0 OR (rounds > 0 AND uncosted_calls = 0)) AS priced
    FROM (
      SELECT agent, made_at, state, cost_usd, rounds, uncosted_calls FROM runs
      WHERE state IN ('queued', 'running', 'parked') AND ${WORK}
      UNION ALL
      SELECT agent, made_at, state, cost_usd, rounds, uncosted_calls FROM runs
      WHERE finished_at >= @midnight AND ${WORK})
    GROUP BY agent`,

  lastRuns: `SELECT n.value AS name, r.made_at AS last_at, r.state AS last_state, r.error AS last_error
    FROM json_each(@agents) n CROSS JOIN runs r
    WHERE r.id = (SELECT l.id FROM runs l WHERE l.agent = n.value AND ${WORK} ORDER BY l.seq DESC LIMIT 1)`,

  handoffs: `SELECT h.from_agent, h.verdict, h.to_agent, count(*) AS today, max(h.at) AS last_at
    FROM runs r CROSS JOIN handoffs h
    WHERE r.finished_at >= @midnight AND r.practice = 0 AND h.from_run = r.id AND h.${CARRIED}
      AND instr(h.projects, '"' || @project || '"') > 0
    GROUP BY h.from_agent, h.verdict, h.to_agent`,

  lastHandoffs: `SELECT h.from_agent, h.verdict, h.to_agent, 0 AS today, max(h.at) AS last_at
    FROM json_each(@agents) n CROSS JOIN runs r CROSS JOIN handoffs h
    WHERE r.seq IN (SELECT l.seq FROM runs l WHERE l.agent = n.value AND l.practice = 0
        ORDER BY l.seq DESC LIMIT ${LOOK_BACK})
      AND h.from_run = r.id AND h.${CARRIED} AND instr(h.projects, '"' || @project || '"') > 0
    GROUP BY h.from_agent, h.verdict, h.to_agent`,

  lastDeliveries: `SELECT d.recipient, d.made_at AS last_at, d.state, d.reason
    FROM json_each(@subscriptions) n CROSS JOIN deliveries d
    WHERE d.seq = (SELECT max(l.seq) FROM deliveries l WHERE l.recipient = n.value)`,

  writeBacks: `SELECT r.agent AS recipient, count(*) AS today FROM runs r CROSS JOIN deliveries d
    WHERE r.finished_at >= @midnight AND r.practice = 0 AND d.finding_of = r.id AND d.recipient_kind = 'write_back'
    GROUP BY +r.agent`,

  lastWriteBacks: `SELECT n.value AS recipient, d.made_at AS last_at, d.state, d.reason
    FROM json_each(@agents) n CROSS JOIN deliveries d
    WHERE d.seq = (SELECT max(l.seq) FROM deliveries l WHERE l.recipient = 'write_back:' || n.value)`,

  sources:
    "SELECT name, id, last_ingest AS last_at FROM sources WHERE state <> 'deleted' AND name IN (SELECT value FROM json_each(@sources))",
} as const

/** The statements of a connection, prepared once. */
export function liveQueries(db: Database) {
  const of = <Row>(sql: string) => {
    const statement = db.prepare<LiveScope, Row>(sql)
    return (scope: LiveScope): Row[] => statement.all(scope)
  }
  const quiet = db.prepare<{ wires: string; project: string }, QuietWire & { last_at: number }>(liveSql.quiet)
  const sources = db.prepare<{ sources: string }, { name: string; id: number; last_at: number | null }>(
    liveSql.sources,
  )
  return {
    triggers: of<TriggerActivity>(liveSql.triggers),
    quiet: (project: string, wires: readonly QuietWire[]) =>
      wires.length ? quiet.all({ project, wires: JSON.stringify(wires) }) : [],
    runs: of<Omit<AgentActivity, 'last_at' | 'last_state' | 'last_error'> & { priced: number }>(liveSql.runs),
    lastRuns: of<Pick<AgentActivity, 'name' | 'last_at' | 'last_state' | 'last_error'>>(liveSql.lastRuns),
    handoffs: of<HandoffActivity>(liveSql.handoffs),
    lastHandoffs: of<HandoffActivity>(liveSql.lastHandoffs),
    lastDeliveries: of<LastDelivery>(liveSql.lastDeliveries),
    writeBacks: of<{ recipient: string; today: number }>(liveSql.writeBacks),
    lastWriteBacks: of<LastDelivery>(liveSql.lastWriteBacks),
    sources: (names: readonly string[]) => sources.all({ sources: JSON.stringify(names) }),
  }
}

/** Fills the live state into a graph: how often, when last, and what wants looking at. */
import type { GraphEdge, GraphNode, ProjectGraph } from '../../schemas/types.ts'
import { countTools } from '../agents/mcp-pins.ts'
import type { Database } from '../log/store/handle.ts'
import { offsetsOf, SEGMENT_SIZE, SOURCE_LABEL, sizeOf } from '../log/store/labels.ts'
import type { Segment } from '../log/store/segments.ts'
import type { ReadContext } from '../log/timeline/context.ts'
import { dollarsSql, isoOrNull } from '../model/units.ts'
import { type FindingKind, findingRecipient } from '../outbox/rows.ts'
import { connectorOf, hasConnector } from '../sources/connectors/index.ts'

/** How a run ended that left nothing to rely on. */
const ENDED_BADLY: Readonly<Record<string, string>> = {
  failed: 'failed',
  exhausted: 'ran out of rounds',
  capped: 'was stopped by a cap',
  empty: 'ended without a word',
}

/** @returns the graph with what happened until `graph.at` on that day. */
export function fillGraph(graph: ProjectGraph, read: LiveReader): ProjectGraph {
  const live = read(graph)
  const lastEvent = new Map<string, string | null>()
  const outlets = outletsByNode(graph.edges)
  const nodes = graph.nodes.map((node) => {
    const filled = fillNode(node, live, outlets)
    if (node.kind === 'source') lastEvent.set(node.id, filled.last_at)
    return filled
  })
  return { ...graph, nodes, edges: graph.edges.map((edge) => fillEdge(edge, live, lastEvent)) }
}

/** Recipients in `deliveries` of what agents find, by the node of their destination: a channel of Slack may have several. */
type Outlets = ReadonlyMap<string, readonly string[]>

function outletsByNode(edges: readonly GraphEdge[]): Outlets {
  const outlets = new Map<string, string[]>()
  for (const { from, to } of edges) {
    const outlet = outletOf(from, to)
    if (outlet !== undefined) outlets.set(to, [...(outlets.get(to) ?? []), outlet])
  }
  return outlets
}

function fillNode(node: GraphNode, live: LiveActivity, outlets: Outlets): GraphNode {
  if (node.state === 'missing') return node
  if (node.kind === 'source') return fillSource(node, live)
  if (node.kind === 'trigger') return withTraffic(node, live.trigger(node.name))
  if (node.kind === 'agent') return fillAgent(node, live)
  if (node.kind === 'mcp_server') return fillServer(node, live)
  return node.kind === 'destination' ? fillDestination(node, live, outlets.get(node.id) ?? []) : node
}

function fillSource(node: GraphNode, live: LiveActivity): GraphNode {
  // Documents are there from the first moment, and are no events.
  if (hasConnector(node.detail) && connectorOf(node.detail).mode === 'reference') return node
  return withTraffic(node, live.source(node.name))
}

function fillAgent(node: GraphNode, live: LiveActivity): GraphNode {
  const { running, queued, spend, last_state, last_error, last_verdict, ...traffic } = live.agent(node.name)
  const filled = { ...withTraffic(node, traffic), running, queued, spend_today_usd: spend, last_verdict }
  const how = ENDED_BADLY[last_state ?? '']
  return how ? attention(filled, `its last run ${how}${last_error ? `: ${last_error}` : ''}`) : filled
}

function fillServer(node: GraphNode, live: LiveActivity): GraphNode {
  const changed = live.changedTools(node.name)
  if (changed === 0) return node
  return attention(
    node,
    changed === 1
      ? 'a tool is no longer what was approved; look at it and approve it again'
      : `${changed} tools are no longer what was approved; look at them and approve them again`,
  )
}

/** @param outlets of the agents whose findings go there; none where firings do */
function fillDestination(node: GraphNode, live: LiveActivity, outlets: readonly string[]): GraphNode {
  const subscription = subscriptionOf(node.id)
  const told = subscription === undefined ? outlets.map(live.finding) : [live.subscription(subscription)]
  const [newest] = told.sort((a, b) => (b.last_at ?? 0) - (a.last_at ?? 0))
  if (newest === undefined) return node
  const today = told.reduce((sum, one) => sum + one.today, 0)
  const filled = withTraffic(node, { today, last_at: newest.last_at })
  return newest.failed === null ? filled : attention(filled, `the last delivery failed: ${newest.failed}`)
}

function withTraffic(node: GraphNode, { today, last_at }: Traffic): GraphNode {
  const filled = { ...node, today, last_at: isoOrNull(last_at) }
  return last_at === null && node.health === 'ok' ? { ...filled, health: 'waiting' } : filled
}

/** What is wrong already is said first. */
function attention(node: GraphNode, reason: string): GraphNode {
  return node.health === 'attention' ? node : { ...node, health: 'attention', reason }
}

function fillEdge(
  edge: GraphEdge,
  live: LiveActivity,
  lastEvent: ReadonlyMap<string, string | null>,
): GraphEdge {
  if (edge.kind === 'feeds') return { ...edge, last_at: lastEvent.get(edge.from) ?? null }
  const traffic = trafficOf(edge, live)
  return traffic ? { ...edge, today: traffic.today, last_at: isoOrNull(traffic.last_at) } : edge
}

/** Null where it is not recorded: tools that were used. */
function trafficOf({ kind, from, to, verdict }: GraphEdge, live: LiveActivity): Traffic | null {
  if (kind === 'wakes') return live.told(nameOf(from), nameOf(to))
  if (kind === 'hands_off') return live.handoff(nameOf(from), verdict ?? '', nameOf(to))
  if (kind !== 'tells') return null
  const subscription = subscriptionOf(to)
  if (subscription !== undefined) return live.told(nameOf(from), subscription)
  const outlet = outletOf(from, to)
  return outlet === undefined ? null : live.finding(outlet)
}

/* What happened lately in a project, by the names of its parts, from a few statements for all of them. */

interface LiveActivity {
  source(name: string): Traffic
  trigger(name: string): Traffic
  agent(name: string): AgentActivity
  /** From a trigger to an agent or a subscription, by its id. */
  told(trigger: string, recipient: string): Traffic
  handoff(agent: string, verdict: string, to: string): Traffic
  /** To a subscription, by its id. */
  subscription(id: string): Traffic & { failed: string | null }
  /** Findings of an agent, to its receiver, its channel of Slack or GitHub. */
  finding(outlet: string): Traffic & { failed: string | null }
  /** Tools of an MCP server that are no longer what was approved. */
  changedTools(server: string): number
}

const NEVER: Traffic = { today: 0, last_at: null }
const key = (...parts: string[]): string => parts.join('\0')

type LiveReader = (graph: ProjectGraph) => LiveActivity

/** @param ctx a connection whose view is up to date when the reader is called. */
export function createLiveReader(ctx: ReadContext): LiveReader {
  const queries = liveQueries(ctx.db)
  const events = new EventsToday(ctx)
  const deliveries = new DeliveriesToday(ctx.db)
  return (graph) => {
    const scope = scopeOf(graph)
    const triggers = queries.triggers(scope)
    const names = new Map(triggers.map(({ id, name }) => [id, name]))
    const told = new Map<string, Traffic>()
    deliveries.each(scope.midnight, scope.project, (id, recipient, how) => {
      const name = names.get(id)
      if (name !== undefined) told.set(key(name, recipient), how)
    })
    const quiet = wiresOf(graph).filter(({ trigger, recipient }) => !told.has(key(trigger, recipient)))
    for (const { trigger, recipient, last_at } of queries.quiet(scope.project, quiet))
      if (last_at) told.set(key(trigger, recipient), { today: 0, last_at })
    const tools = countTools(ctx.db)
    return {
      source: sourceTraffic(graph, queries, events, scope.midnight),
      trigger: byName(triggers),
      agent: agentActivity(queries, scope),
      told: (trigger, recipient) => told.get(key(trigger, recipient)) ?? NEVER,
      handoff: handoffTraffic([...queries.lastHandoffs(scope), ...queries.handoffs(scope)]),
      subscription: deliveryTraffic(queries.lastDeliveries(scope), (id) =>
        [...told].reduce((n, [wire, { today }]) => (wire.endsWith(`\0${id}`) ? n + today : n), 0),
      ),
      finding: deliveryTraffic(queries.lastFindings(scope), countsOf(queries.findings(scope))),
      changedTools: (server) => tools.get(server)?.changed ?? 0,
    }
  }
}

function scopeOf({ project, nodes, at }: ProjectGraph): LiveScope {
  const names = (kind: string) => JSON.stringify(nodes.filter((n) => n.kind === kind).map(({ name }) => name))
  return {
    project: project.id,
    midnight: new Date(at).setUTCHours(0, 0, 0, 0),
    triggers: names('trigger'),
    agents: names('agent'),
    subscriptions: JSON.stringify(nodes.flatMap(({ id }) => subscriptionOf(id) ?? [])),
  }
}

/** Id of the subscription of a destination; undefined: it is none. */
function subscriptionOf(node: string): string | undefined {
  return /^destination:webhook:(.+)$/.exec(node)?.[1]
}

/** The recipient in `deliveries` of an agent's findings on the way to a destination, such as `github:watch`; undefined: they are none. */
function outletOf(from: string, to: string): string | undefined {
  const kind = /^destination:(write_back|github|slack):/.exec(to)?.[1]
  return kind === undefined ? undefined : findingRecipient(kind as FindingKind, nameOf(from))
}

/** Name of a part behind the id of its node. */
const nameOf = (node: string): string => node.slice(node.indexOf(':') + 1)

function wiresOf({ edges }: ProjectGraph): QuietWire[] {
  return edges.flatMap(({ kind, from, to }) => {
    if (kind === 'wakes') return [{ trigger: nameOf(from), recipient: nameOf(to) }]
    const subscription = subscriptionOf(to)
    return subscription === undefined ? [] : [{ trigger: nameOf(from), recipient: subscription }]
  })
}

type Queries = ReturnType<typeof liveQueries>

function sourceTraffic(graph: ProjectGraph, queries: Queries, events: EventsToday, midnight: number) {
  const names = graph.nodes.filter(({ kind }) => kind === 'source').map(({ name }) => name)
  const rows = queries.sources(names)
  return byName(rows.map(({ name, id, last_at }) => ({ name, last_at, today: events.of(id, midnight) })))
}

function byName<Row extends Traffic & { name: string }>(rows: readonly Row[]): (name: string) => Traffic {
  const known = new Map<string, Traffic>(rows.map((row) => [row.name, row]))
  return (name) => known.get(name) ?? NEVER
}

function agentActivity(queries: Queries, scope: LiveScope): (name: string) => AgentActivity {
  const runs = new Map(queries.runs(scope).map((row) => [row.name, row]))
  const last = new Map(queries.lastRuns(scope).map((row) => [row.name, row]))
  return (name) => {
    const { today = 0, running = 0, queued = 0, spend = null, priced = 0 } = runs.get(name) ?? {}
    const { last_at = null, last_state = null, last_error = null, last_verdict = null } = last.get(name) ?? {}
    const known = { last_at, last_state, last_error, last_verdict }
    return { name, today, running, queued, spend: priced ? spend : null, ...known }
  }
}

/** Rows of today come last, and count. */
function handoffTraffic(rows: readonly HandoffActivity[]): LiveActivity['handoff'] {
  const known = new Map<string, Traffic>(
    rows.map((row) => [key(row.from_agent, row.verdict, row.to_agent), row]),
  )
  return (agent, verdict, to) => known.get(key(agent, verdict, to)) ?? NEVER
}

function countsOf(rows: readonly { recipient: string; today: number }[]): (recipient: string) => number {
  const counts = new Map(rows.map(({ recipient, today }) => [recipient, today]))
  return (recipient) => counts.get(recipient) ?? 0
}

/** What was told, in whatever state a delivery is: pending and failed ones count too. */
function deliveryTraffic(
  last: readonly LastDelivery[],
  today: (recipient: string) => number,
): LiveActivity['subscription'] {
  const known = new Map(last.map((row) => [row.recipient, row]))
  return (recipient) => {
    const { last_at = null, state = '', reason = null } = known.get(recipient) ?? {}
    const isFailed = state === 'failed' || state.startsWith('http ')
    return { today: today(recipient), last_at, failed: isFailed ? (reason ?? state) : null }
  }
}

/*
 * Deliveries since midnight, by trigger and recipient. Their rows are made once and numbered in that
 * order, so that each is counted once: what is asked every two seconds costs what came since.
 */

interface Counted {
  trigger_id: number
  kind: string
  recipient: string
  /** JSON list of the projects it was for; empty where it is for none in particular. */
  projects: string
  n: number
  last_at: number
}

export const deliverySql = {
  at: 'SELECT seq, made_at FROM deliveries WHERE seq >= @seq ORDER BY seq LIMIT 1',
  newest: 'SELECT max(seq) FROM deliveries',
  since: `SELECT f.trigger_id, d.recipient_kind AS kind, d.recipient, d.projects, count(*) AS n, max(d.made_at) AS last_at
    FROM deliveries d CROSS JOIN firings f
    WHERE d.seq > @seq AND f.id = d.firing_id AND f.practice = 0
    GROUP BY f.trigger_id, d.recipient_kind, d.recipient, d.projects`,
} as const

class DeliveriesToday {
  private midnight = Number.NaN
  /** Number of the last one that was counted. */
  private through = 0
  private counted = new Map<string, Counted>()
  private readonly at
  private readonly newest
  private readonly since

  constructor(db: Database) {
    this.at = db.prepare<{ seq: number }, { seq: number; made_at: number }>(deliverySql.at)
    this.newest = db.prepare<[], number | null>(deliverySql.newest).pluck()
    this.since = db.prepare<{ seq: number }, Counted>(deliverySql.since)
  }

  /**
   * What was told for a project: an agent that is told for another one alone is left out.
   * @param midnight epoch ms. @param told receives each trigger, by its id, and recipient
   */
  each(midnight: number, project: string, told: (trigger: number, to: string, how: Traffic) => void): void {
    this.catchUp(midnight)
    const mine = JSON.stringify(project)
    const sums = new Map<string, { trigger: number; to: string; today: number; last_at: number }>()
    for (const { trigger_id: trigger, kind, recipient: to, projects, n, last_at } of this.counted.values()) {
      if (kind === 'agent' && !projects.includes(mine)) continue
      const key = `${trigger}\0${to}`
      const sum = sums.get(key) ?? { trigger, to, today: 0, last_at: 0 }
      sums.set(key, { ...sum, today: sum.today + n, last_at: Math.max(sum.last_at, last_at) })
    }
    for (const { trigger, to, today, last_at } of sums.values()) told(trigger, to, { today, last_at })
  }

  private catchUp(midnight: number): void {
    if (midnight !== this.midnight) {
      this.midnight = midnight
      this.counted = new Map()
      this.through = this.lastBefore(midnight)
    }
    const newest = this.newest.get() ?? 0
    if (newest <= this.through) return
    for (const row of this.since.all({ seq: this.through })) {
      const key = [row.trigger_id, row.kind, row.recipient, row.projects].join('\0')
      const known = this.counted.get(key)
      this.counted.set(key, known ? { ...row, n: known.n + row.n } : row)
    }
    this.through = newest
  }

  /** Number of the last one made before an instant: times never fall as numbers grow. */
  private lastBefore(instant: number): number {
    let low = 0
    let high = this.newest.get() ?? 0
    while (low < high) {
      const middle = Math.ceil((low + high) / 2)
      const row = this.at.get({ seq: middle })
      if (row === undefined || row.made_at >= instant) high = middle - 1
      else low = Math.max(middle, Math.min(row.seq, high))
    }
    return low
  }
}

/*
 * Events of sources since midnight, from the postings of the index. Sealed segments do not change, so
 * that each is counted once: what is asked every two seconds costs one look at the open segment.
 */

class EventsToday {
  private midnight = Number.NaN
  /** Largest id ingested before midnight. */
  private after = 0
  /** By label of the source: events of sealed segments up to one. */
  private readonly counted = new Map<number, { through: number; n: number }>()

  constructor(private readonly ctx: ReadContext) {}

  /**
   * @param source id of its row. @param midnight epoch ms. The view of the index must be up to date.
   * @returns events ingested since then
   */
  of(source: number, midnight: number): number {
    this.begin(midnight)
    const { dictionary, index } = this.ctx
    const label = dictionary.find(SOURCE_LABEL, String(source))
    if (label === undefined) return 0
    const known = this.counted.get(label) ?? { through: Math.floor(this.after / SEGMENT_SIZE) - 1, n: 0 }
    this.counted.set(label, known)
    const sealed = index.lastSealed()
    let open = 0
    for (const segment of index.all()) {
      if (segment.seg <= known.through) continue
      const n = this.countIn(segment, label)
      if (segment.seg > sealed) open += n
      else {
        known.n += n
        known.through = segment.seg
      }
    }
    return known.n + open
  }

  private begin(midnight: number): void {
    if (midnight === this.midnight) return
    this.midnight = midnight
    this.after = this.ctx.ceilingAt(midnight - 1)
    this.counted.clear()
  }

  private countIn(segment: Segment, label: number): number {
    const posting = segment.posting(label)
    if (!posting) return 0
    const first = segment.seg * SEGMENT_SIZE
    if (first > this.after) return sizeOf(posting)
    return offsetsOf(posting).filter((offset) => first + offset > this.after).length
  }
}

/*
 * What happened lately in a project, a few statements for all of its nodes and edges. They are asked
 * every two seconds by every console that shows a graph: each is led by an index from what is of
 * today, or looks back a bounded number of rows (test/engine/graph/live-plan.test.ts).
 */

/** Rows looked back through for the last time, where today has none. */
const LOOK_BACK = 200

interface LiveScope {
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
interface Traffic {
  today: number
  last_at: number | null
}

interface TriggerActivity {
  id: number
  name: string
  today: number
  last_at: number | null
}

interface AgentActivity {
  name: string
  today: number
  running: number
  queued: number
  /** Null: nothing priced. */
  spend: number | null
  last_at: number | null
  last_state: string | null
  last_error: string | null
  last_verdict: string | null
}

interface HandoffActivity {
  from_agent: string
  verdict: string
  to_agent: string
  today: number
  last_at: number
}

/** The newest delivery of a recipient: a subscription, or the receiver of an agent's findings. */
interface LastDelivery {
  recipient: string
  last_at: number
  state: string
  reason: string | null
}

/** A wire that carried nothing today. */
interface QuietWire {
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

  lastRuns: `SELECT n.value AS name, r.made_at AS last_at, r.state AS last_state, r.error AS last_error,
      r.verdict AS last_verdict
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

  findings: `SELECT d.recipient, count(*) AS today FROM runs r CROSS JOIN deliveries d
    WHERE r.finished_at >= @midnight AND r.practice = 0 AND d.finding_of = r.id
      AND d.recipient_kind IN ('write_back', 'slack', 'github')
    GROUP BY +d.recipient`,

  lastFindings: `SELECT d.recipient, d.made_at AS last_at, d.state, d.reason
    FROM json_each(@agents) n CROSS JOIN json_each('["write_back:", "slack:", "github:"]') k CROSS JOIN deliveries d
    WHERE d.seq = (SELECT max(l.seq) FROM deliveries l WHERE l.recipient = k.value || n.value)`,

  sources:
    "SELECT name, id, last_ingest AS last_at FROM sources WHERE state <> 'deleted' AND name IN (SELECT value FROM json_each(@sources))",
} as const

/** The statements of a connection, prepared once. */
function liveQueries(db: Database) {
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
    runs: of<
      Omit<AgentActivity, 'last_at' | 'last_state' | 'last_error' | 'last_verdict'> & { priced: number }
    >(liveSql.runs),
    lastRuns: of<Pick<AgentActivity, 'name' | 'last_at' | 'last_state' | 'last_error' | 'last_verdict'>>(
      liveSql.lastRuns,
    ),
    handoffs: of<HandoffActivity>(liveSql.handoffs),
    lastHandoffs: of<HandoffActivity>(liveSql.lastHandoffs),
    lastDeliveries: of<LastDelivery>(liveSql.lastDeliveries),
    findings: of<{ recipient: string; today: number }>(liveSql.findings),
    lastFindings: of<LastDelivery>(liveSql.lastFindings),
    sources: (names: readonly string[]) => sources.all({ sources: JSON.stringify(names) }),
  }
}

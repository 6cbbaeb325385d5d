/** What happened lately in a project, by the names of its parts, from a few statements for all of them. */
import type { ProjectGraph } from '../../../schemas/types.ts'
import { countTools } from '../../mcp-tools/rows.ts'
import type { ReadContext } from '../../timeline/context.ts'
import { DeliveriesToday } from './deliveries-today.ts'
import { EventsToday } from './events-today.ts'
import {
  type AgentActivity,
  type HandoffActivity,
  type LastDelivery,
  type LiveScope,
  liveQueries,
  type QuietWire,
  type Traffic,
} from './queries.ts'

export interface LiveActivity {
  source(name: string): Traffic
  trigger(name: string): Traffic
  agent(name: string): AgentActivity
  /** From a trigger to an agent or a subscription, by its id. */
  told(trigger: string, recipient: string): Traffic
  handoff(agent: string, verdict: string, to: string): Traffic
  /** To a subscription, by its id. */
  subscription(id: string): Traffic & { failed: string | null }
  /** Findings of an agent, to its receiver. */
  writeBack(agent: string): Traffic & { failed: string | null }
  /** Tools of an MCP server that are no longer what was approved. */
  changedTools(server: string): number
}

const NEVER: Traffic = { today: 0, last_at: null }
const key = (...parts: string[]): string => parts.join('\0')

export type LiveReader = (graph: ProjectGraph) => LiveActivity

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
      writeBack: deliveryTraffic(queries.lastWriteBacks(scope), countsOf(queries.writeBacks(scope))),
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
export function subscriptionOf(node: string): string | undefined {
  return /^destination:webhook:(.+)$/.exec(node)?.[1]
}

/** Name of a part behind the id of its node. */
export const nameOf = (node: string): string => node.slice(node.indexOf(':') + 1)

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
    const { last_at = null, last_state = null, last_error = null } = last.get(name) ?? {}
    return { name, today, running, queued, spend: priced ? spend : null, last_at, last_state, last_error }
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

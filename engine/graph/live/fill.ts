/** Fills the live state into a graph: how often, when last, and what wants looking at. */
import type { GraphEdge, GraphNode, ProjectGraph } from '../../../schemas/types.ts'
import { connectorOf, hasConnector } from '../../connectors/index.ts'
import { type LiveActivity, type LiveReader, nameOf, subscriptionOf } from './activity.ts'
import type { Traffic } from './queries.ts'

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
  const nodes = graph.nodes.map((node) => {
    const filled = fillNode(node, live)
    if (node.kind === 'source') lastEvent.set(node.id, filled.last_at)
    return filled
  })
  return { ...graph, nodes, edges: graph.edges.map((edge) => fillEdge(edge, live, lastEvent)) }
}

function fillNode(node: GraphNode, live: LiveActivity): GraphNode {
  if (node.state === 'missing') return node
  if (node.kind === 'source') return fillSource(node, live)
  if (node.kind === 'trigger') return withTraffic(node, live.trigger(node.name))
  if (node.kind === 'agent') return fillAgent(node, live)
  if (node.kind === 'mcp_server') return fillServer(node, live)
  return node.kind === 'destination' ? fillDestination(node, live) : node
}

function fillSource(node: GraphNode, live: LiveActivity): GraphNode {
  // Documents are there from the first moment, and are no events.
  if (hasConnector(node.detail) && connectorOf(node.detail).mode === 'reference') return node
  return withTraffic(node, live.source(node.name))
}

function fillAgent(node: GraphNode, live: LiveActivity): GraphNode {
  const { running, queued, spend, last_state, last_error, ...traffic } = live.agent(node.name)
  const filled = { ...withTraffic(node, traffic), running, queued, spend_today_usd: spend }
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

function fillDestination(node: GraphNode, live: LiveActivity): GraphNode {
  const subscription = subscriptionOf(node.id)
  const agent = /^destination:write_back:(.+)$/.exec(node.id)?.[1]
  if (subscription === undefined && agent === undefined) return node
  const { failed, ...traffic } =
    subscription === undefined ? live.writeBack(agent!) : live.subscription(subscription)
  const filled = withTraffic(node, traffic)
  return failed === null ? filled : attention(filled, `the last delivery failed: ${failed}`)
}

function withTraffic(node: GraphNode, { today, last_at }: Traffic): GraphNode {
  const filled = { ...node, today, last_at: iso(last_at) }
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
  return traffic ? { ...edge, today: traffic.today, last_at: iso(traffic.last_at) } : edge
}

/** Null where it is not recorded: tools that were used, and what goes to Slack. */
function trafficOf({ kind, from, to, verdict }: GraphEdge, live: LiveActivity): Traffic | null {
  if (kind === 'wakes') return live.told(nameOf(from), nameOf(to))
  if (kind === 'hands_off') return live.handoff(nameOf(from), verdict ?? '', nameOf(to))
  if (kind !== 'tells') return null
  const subscription = subscriptionOf(to)
  if (subscription !== undefined) return live.told(nameOf(from), subscription)
  return to.startsWith('destination:write_back:') ? live.writeBack(nameOf(from)) : null
}

const iso = (at: number | null): string | null => (at === null ? null : new Date(at).toISOString())

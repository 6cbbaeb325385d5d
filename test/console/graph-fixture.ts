/** Graphs of any size for tests of the drawing: sources that feed triggers, which wake agents in chains. */
import type { GraphEdge, GraphNode, ProjectGraph } from '../../schemas/types.ts'

export const AT = '2026-11-20T12:00:00.000Z'

export const graphNode = (
  kind: GraphNode['kind'],
  name: string,
  over: Partial<GraphNode> = {},
): GraphNode => ({
  id: `${kind}:${name}`,
  kind,
  name,
  detail: `what ${name} does`,
  state: 'active',
  health: 'ok',
  reason: null,
  customized: false,
  shared_with: [],
  last_at: null,
  today: kind === 'mcp_server' || kind === 'skill' ? null : 0,
  running: 0,
  queued: 0,
  spend_today_usd: null,
  last_verdict: null,
  verdicts: [],
  ...over,
})

export const graphEdge = (
  kind: GraphEdge['kind'],
  from: string,
  to: string,
  over: Partial<GraphEdge> = {},
): GraphEdge => ({
  id: `${kind}:${from.split(':').slice(1).join(':')}${over.verdict ? `/${over.verdict}` : ''}>${to.split(':').slice(1).join(':')}`,
  kind,
  from,
  to,
  enabled: true,
  verdict: null,
  cooldown: null,
  all: false,
  last_at: null,
  today: kind === 'uses' ? null : 0,
  ...over,
})

export function graphOf(
  nodes: GraphNode[],
  edges: GraphEdge[],
  over: Partial<ProjectGraph> = {},
): ProjectGraph {
  return {
    project: { id: 'prj_1', name: 'Shop', status: 'active', version: 1 },
    version: 1,
    at: AT,
    nodes,
    edges: [...edges].sort((a, b) => (a.id < b.id ? -1 : 1)),
    positions: [],
    source_of_truth: 'instance',
    ...over,
  }
}

export interface Counts {
  sources: number
  triggers: number
  agents: number
  servers?: number
  skills?: number
  destinations?: number
}

const many = <T>(n: number, make: (i: number) => T): T[] => Array.from({ length: n }, (_, i) => make(i))
const two = (i: number): string => String(i).padStart(3, '0')

/** Every trigger watches one or two sources and wakes an agent; every other agent hands over to the next. */
export function manyParts(counts: Counts): ProjectGraph {
  const { sources, triggers, agents, servers = 0, skills = 0, destinations = 0 } = counts
  const nodes = [
    ...many(sources, (i) => graphNode('source', `source-${two(i)}`, { last_at: AT, today: i })),
    ...many(triggers, (i) => graphNode('trigger', `trigger-${two(i)}`)),
    ...many(agents, (i) => graphNode('agent', `agent-${two(i)}`, { verdicts: ['investigate', 'dismiss'] })),
    ...many(servers, (i) => graphNode('mcp_server', `server-${two(i)}`)),
    ...many(skills, (i) => graphNode('skill', `skill-${two(i)}`)),
    ...many(destinations, (i) => graphNode('destination', `webhook:${two(i)}`)),
  ]
  const edges = [
    ...many(sources && triggers, (i) =>
      graphEdge('feeds', `source:source-${two(i % sources)}`, `trigger:trigger-${two(i)}`),
    ),
    ...many(sources > 1 ? Math.floor(triggers / 3) : 0, (i) =>
      graphEdge('feeds', `source:source-${two((i * 3 + 1) % sources)}`, `trigger:trigger-${two(i * 3)}`),
    ),
    ...many(agents && triggers, (i) =>
      graphEdge('wakes', `trigger:trigger-${two(i)}`, `agent:agent-${two(i % agents)}`),
    ),
    ...many(Math.floor(agents / 2), (i) =>
      graphEdge('hands_off', `agent:agent-${two(i * 2)}`, `agent:agent-${two((i * 2 + 1) % agents)}`, {
        verdict: 'investigate',
        cooldown: '1h',
      }),
    ),
    ...many(agents && servers, (i) =>
      graphEdge('uses', `agent:agent-${two(i % agents)}`, `mcp_server:server-${two(i)}`),
    ),
    ...many(agents && destinations, (i) =>
      graphEdge('tells', `agent:agent-${two(i % agents)}`, `destination:webhook:${two(i)}`),
    ),
  ]
  return graphOf(nodes, [...new Map(edges.map((edge) => [edge.id, edge])).values()])
}

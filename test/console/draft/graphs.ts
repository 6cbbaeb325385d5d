/** A small project as a graph, to edit. */

import { partOf } from '../../../console/graph/draft/ids.ts'
import type { GraphEdge, GraphNode, ProjectGraph } from '../../../schemas/types.ts'
import { graphEdge, graphNode } from '../graph-fixture.ts'

export const node = (id: string, over: Partial<GraphNode> = {}): GraphNode => {
  const { kind, name } = partOf(id) ?? { kind: 'destination' as const, name: id }
  return graphNode(kind, name, { id, detail: '', today: null, ...over })
}

export const edge = (
  kind: GraphEdge['kind'],
  id: string,
  from: string,
  to: string,
  over: Partial<GraphEdge> = {},
): GraphEdge => graphEdge(kind, from, to, { id, today: null, ...over })

/** gw → errs → triage —investigate→ digger, who works with tickets; slow watches gw and db, unwired. */
export const shop = (): ProjectGraph => ({
  project: { id: 'uc_1', name: 'Shop', status: 'active', version: 4 },
  version: 7,
  at: '2026-11-20T12:00:00.000Z',
  nodes: [
    node('source:db'),
    node('source:gw'),
    node('trigger:errs'),
    node('trigger:slow'),
    node('agent:digger'),
    node('agent:triage', { verdicts: ['investigate', 'page'] }),
    node('mcp_server:tickets'),
    node('skill:roll-back'),
  ],
  edges: [
    edge('feeds', 'feeds:db>slow', 'source:db', 'trigger:slow'),
    edge('feeds', 'feeds:gw>errs', 'source:gw', 'trigger:errs'),
    edge('feeds', 'feeds:gw>slow', 'source:gw', 'trigger:slow'),
    edge('hands_off', 'hands_off:triage/investigate>digger', 'agent:triage', 'agent:digger', {
      verdict: 'investigate',
      cooldown: '30m',
    }),
    edge('uses', 'uses:digger>tickets', 'agent:digger', 'mcp_server:tickets'),
    edge('wakes', 'wakes:errs>triage', 'trigger:errs', 'agent:triage'),
  ],
  positions: [],
  source_of_truth: 'instance',
})

export const edgeOf = (graph: ProjectGraph, id: string): GraphEdge =>
  graph.edges.find((one) => one.id === id)!

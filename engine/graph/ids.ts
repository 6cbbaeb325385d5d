/** Ids of nodes and edges: stable as long as the parts keep their names (schemas/graph-node.json, graph-edge.json). */
import type { GraphNode } from '../../schemas/types.ts'

export type NodeKind = GraphNode['kind']

/** Kinds of nodes in the order they are listed. */
export const NODE_KINDS: readonly NodeKind[] = [
  'source',
  'trigger',
  'agent',
  'mcp_server',
  'skill',
  'destination',
]

/** @param name of a part; of a destination `webhook:<subscription>`, `write_back:<agent>` or `slack:<channel>` */
export const nodeId = (kind: NodeKind, name: string): string => `${kind}:${name}`

export const edgeIds = {
  feeds: (source: string, trigger: string): string => `feeds:${source}>${trigger}`,
  wakes: (trigger: string, agent: string): string => `wakes:${trigger}>${agent}`,
  handsOff: (agent: string, verdict: string, to: string): string => `hands_off:${agent}/${verdict}>${to}`,
  uses: (agent: string, server: string): string => `uses:${agent}>${server}`,
  /** A trigger and an agent may have one name, so that the kind of the teller is said. */
  tells: (from: 'trigger' | 'agent', name: string, destination: string): string =>
    `tells:${from}:${name}>${destination}`,
}

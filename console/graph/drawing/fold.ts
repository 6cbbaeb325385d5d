/**
 * What of a graph is drawn while groups are collapsed: a group stands for its nodes and says how many,
 * edges lead to it, and edges that then run beside each other are one. Pure; ids of what is drawn as it
 * is stay the same.
 */
import type { GraphEdge, GraphNode, ProjectGraph } from '../../../schemas/types.ts'
import type { NodeKind } from '../types.ts'

export interface DrawnNode {
  id: string
  kind: NodeKind | 'group'
  name: string
  verdicts: readonly string[]
  /** Stands in under its agent, which alone uses it. */
  attached: boolean
  /** Null: a group. */
  node: GraphNode | null
  /** What a group stands for. */
  members: readonly GraphNode[]
  /** Attachments of an agent that are collapsed into it. */
  hidden: number
}

export interface DrawnEdge {
  id: string
  kind: GraphEdge['kind']
  from: string
  to: string
  verdict: string | null
  /** Null: several edges of collapsed groups drawn as one. */
  edge: GraphEdge | null
  /** Ids of the edges it draws. */
  members: readonly string[]
}

export interface Drawn {
  nodes: DrawnNode[]
  edges: DrawnEdge[]
  /** Which drawn node stands for a node; absent: itself. */
  standIn: ReadonlyMap<string, string>
}

export const FOLDABLE: readonly NodeKind[] = [
  'source',
  'trigger',
  'agent',
  'mcp_server',
  'destination',
  'skill',
]
export const kindFold = (kind: NodeKind): string => `kind:${kind}`
export const attachmentFold = (agent: string): string => `of:${agent}`
export const groupId = (kind: NodeKind): string => `group:${kind}`

const PLURALS: Record<NodeKind, string> = {
  source: 'sources',
  trigger: 'triggers',
  agent: 'agents',
  mcp_server: 'MCP servers',
  skill: 'skills',
  destination: 'destinations',
}
const SINGULARS: Record<NodeKind, string> = {
  source: 'source',
  trigger: 'trigger',
  agent: 'agent',
  mcp_server: 'MCP server',
  skill: 'skill',
  destination: 'destination',
}

/** "1 source", "12 sources". */
export const countOf = (n: number, kind: NodeKind): string => `${n} ${(n === 1 ? SINGULARS : PLURALS)[kind]}`
export const kindWord = (kind: NodeKind): string => SINGULARS[kind]
export const kindWords = (kind: NodeKind): string => PLURALS[kind]

/** MCP servers and destinations that only one agent has, by agent. */
export function attachmentsOf(graph: Pick<ProjectGraph, 'nodes' | 'edges'>): Map<string, string[]> {
  const users = new Map<string, Set<string>>()
  for (const edge of graph.edges)
    if (edge.kind === 'uses' || edge.kind === 'tells')
      users.set(edge.to, (users.get(edge.to) ?? new Set()).add(edge.from))
  const found = new Map<string, string[]>()
  for (const node of graph.nodes) {
    const [agent, ...others] = users.get(node.id) ?? []
    if (agent?.startsWith('agent:') && !others.length)
      found.set(agent, [...(found.get(agent) ?? []), node.id])
  }
  return found
}

/** @param folded what is collapsed, as kindFold and attachmentFold name it */
export function foldGraph(
  graph: Pick<ProjectGraph, 'nodes' | 'edges'>,
  folded: ReadonlySet<string> = new Set(),
): Drawn {
  const attachments = attachmentsOf(graph)
  const standIn = new Map<string, string>()
  for (const [agent, ids] of attachments)
    if (folded.has(attachmentFold(agent))) for (const id of ids) standIn.set(id, agent)
  for (const node of graph.nodes)
    if (folded.has(kindFold(node.kind))) standIn.set(node.id, groupId(node.kind))
  const under = new Map<string, string>()
  for (const [agent, ids] of attachments) for (const id of ids) under.set(id, agent)
  const nodes: DrawnNode[] = []
  for (const node of graph.nodes) {
    if (standIn.has(node.id)) continue
    const own = attachments.get(node.id) ?? []
    nodes.push({
      id: node.id,
      kind: node.kind,
      name: node.name,
      verdicts: node.verdicts,
      attached: node.kind === 'mcp_server' && under.has(node.id) && !standIn.has(under.get(node.id)!),
      node,
      members: [],
      hidden: own.filter((id) => standIn.get(id) === node.id).length,
    })
  }
  for (const kind of FOLDABLE) {
    const members = graph.nodes.filter((node) => standIn.get(node.id) === groupId(kind))
    if (members.length) nodes.push(groupNode(kind, members))
  }
  return { nodes, edges: foldEdges(graph.edges, standIn), standIn }
}

const groupNode = (kind: NodeKind, members: readonly GraphNode[]): DrawnNode => ({
  id: groupId(kind),
  kind: 'group',
  name: countOf(members.length, kind),
  verdicts: [],
  attached: false,
  node: null,
  members,
  hidden: 0,
})

function foldEdges(edges: readonly GraphEdge[], standIn: ReadonlyMap<string, string>): DrawnEdge[] {
  const merged = new Map<string, DrawnEdge>()
  for (const edge of edges) {
    const from = standIn.get(edge.from) ?? edge.from
    const to = standIn.get(edge.to) ?? edge.to
    if (from === edge.from && to === edge.to) {
      const { id, kind, verdict } = edge
      merged.set(id, { id, kind, from, to, verdict, edge, members: [id] })
      continue
    }
    if (from === to) continue
    const id = `${edge.kind}:${from}>${to}`
    const known = merged.get(id)
    merged.set(id, {
      id,
      kind: edge.kind,
      from,
      to,
      verdict: null,
      edge: null,
      members: [...(known?.members ?? []), edge.id],
    })
  }
  return [...merged.values()]
}

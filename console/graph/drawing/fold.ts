/**
 * What of a graph is drawn: MCP servers as chips inside the agents that use them, skills not at all, since every agent
 * sees them. While groups are collapsed a group stands for its nodes and says how many, edges lead to it, and edges
 * that then run beside each other are one. Pure; ids of what is drawn as it is stay the same.
 */
import type { GraphEdge, GraphNode, ProjectGraph } from '../../../schemas/types.ts'
import type { NodeKind } from '../types.ts'

export interface DrawnNode {
  id: string
  kind: NodeKind | 'group'
  name: string
  /** Those that have a row and a port: what hands off, and all of them where one edits. */
  verdicts: readonly string[]
  /** MCP servers an agent uses. */
  tools: readonly GraphNode[]
  /** Null: a group. */
  node: GraphNode | null
  /** What a group stands for. */
  members: readonly GraphNode[]
  /** Destinations of an agent that are collapsed into it. */
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

/** Kinds that are nodes of the drawing, in their order. */
export const FOLDABLE: readonly NodeKind[] = ['source', 'trigger', 'agent', 'destination']
export const ALL_KINDS: readonly NodeKind[] = [...FOLDABLE, 'mcp_server', 'skill']
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

/** Destinations that only one agent has, by agent. */
export function attachmentsOf(graph: Pick<ProjectGraph, 'nodes' | 'edges'>): Map<string, string[]> {
  const users = new Map<string, Set<string>>()
  for (const edge of graph.edges)
    if (edge.kind === 'tells') users.set(edge.to, (users.get(edge.to) ?? new Set()).add(edge.from))
  const found = new Map<string, string[]>()
  for (const node of graph.nodes) {
    const [agent, ...others] = users.get(node.id) ?? []
    if (agent?.startsWith('agent:') && !others.length)
      found.set(agent, [...(found.get(agent) ?? []), node.id])
  }
  return found
}

/**
 * @param folded what is collapsed, as kindFold and attachmentFold name it
 * @param allVerdicts whether verdicts that nobody takes over on have a port, too
 */
export function foldGraph(
  graph: Pick<ProjectGraph, 'nodes' | 'edges'>,
  folded: ReadonlySet<string> = new Set(),
  allVerdicts = false,
): Drawn {
  const attachments = attachmentsOf(graph)
  const standIn = new Map<string, string>()
  for (const [agent, ids] of attachments)
    if (folded.has(attachmentFold(agent))) for (const id of ids) standIn.set(id, agent)
  for (const node of graph.nodes)
    if (folded.has(kindFold(node.kind))) standIn.set(node.id, groupId(node.kind))
  const used = usedBy(graph)
  const handed = handedOff(graph.edges)
  const nodes: DrawnNode[] = []
  for (const node of graph.nodes) {
    if (standIn.has(node.id) || !FOLDABLE.includes(node.kind)) continue
    const own = attachments.get(node.id) ?? []
    nodes.push({
      id: node.id,
      kind: node.kind,
      name: node.name,
      verdicts: allVerdicts
        ? node.verdicts
        : node.verdicts.filter((verdict) => handed.has(`${node.id} ${verdict}`)),
      tools: used.get(node.id) ?? [],
      node,
      members: [],
      hidden: own.filter((id) => standIn.get(id) === node.id).length,
    })
  }
  for (const kind of FOLDABLE) {
    const members = graph.nodes.filter((node) => standIn.get(node.id) === groupId(kind))
    if (members.length) nodes.push(groupNode(kind, members))
  }
  const wires = graph.edges.filter(({ kind }) => kind !== 'uses')
  return { nodes, edges: foldEdges(wires, standIn), standIn }
}

function usedBy({ nodes, edges }: Pick<ProjectGraph, 'nodes' | 'edges'>): Map<string, GraphNode[]> {
  const servers = new Map(nodes.filter(({ kind }) => kind === 'mcp_server').map((node) => [node.id, node]))
  const used = new Map<string, GraphNode[]>()
  for (const { kind, from, to } of edges) {
    const server = kind === 'uses' ? servers.get(to) : undefined
    if (server) used.set(from, [...(used.get(from) ?? []), server])
  }
  return used
}

/** Verdicts somebody takes over on, as "agent verdict". */
const handedOff = (edges: readonly GraphEdge[]): Set<string> =>
  new Set(edges.flatMap(({ kind, from, verdict }) => (kind === 'hands_off' ? [`${from} ${verdict}`] : [])))

const groupNode = (kind: NodeKind, members: readonly GraphNode[]): DrawnNode => ({
  id: groupId(kind),
  kind: 'group',
  name: countOf(members.length, kind),
  verdicts: [],
  tools: [],
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

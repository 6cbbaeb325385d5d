/** The graph as a nested list: source, trigger, agent, and who takes over from it. */
import type { GraphEdge, GraphNode, ProjectGraph } from '../../../schemas/types.ts'

export interface OutlineItem {
  /** Unique in the outline: the way that leads to it. */
  key: string
  node: GraphNode
  /** The edge that leads to it; null: it stands at the top. */
  via: GraphEdge | null
  /** It is told in full further up. */
  again: boolean
  children: OutlineItem[]
}

/** Each node is told in full where it first comes; skills and what nothing leads to follow at the top. */
export function outlineOf(graph: Pick<ProjectGraph, 'nodes' | 'edges'>): OutlineItem[] {
  const nodes = new Map(graph.nodes.map((node) => [node.id, node]))
  const out = new Map<string, GraphEdge[]>()
  const reached = new Set<string>()
  for (const edge of graph.edges) {
    out.set(edge.from, [...(out.get(edge.from) ?? []), edge])
    if (edge.from !== edge.to) reached.add(edge.to)
  }
  const told = new Set<string>()
  const item = (node: GraphNode, via: GraphEdge | null, above: string): OutlineItem => {
    const key = `${above}/${via?.id ?? node.id}`
    const again = told.has(node.id)
    told.add(node.id)
    const edges = again ? [] : (out.get(node.id) ?? [])
    const children = edges.flatMap((edge) => {
      const to = nodes.get(edge.to)
      return to ? [item(to, edge, key)] : []
    })
    return { key, node, via, again, children }
  }
  const tops = graph.nodes.filter((node) => !reached.has(node.id))
  const items = tops.map((node) => item(node, null, ''))
  // Agents that only hand over to each other in a circle are reached from nowhere.
  for (const node of graph.nodes) if (!told.has(node.id)) items.push(item(node, null, ''))
  return items
}

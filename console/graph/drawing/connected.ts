/** The connected parts of a graph, each laid out for itself. */
import type { Drawn, DrawnEdge, DrawnNode } from './fold.ts'

export interface Part {
  nodes: DrawnNode[]
  edges: DrawnEdge[]
  /** Of nodes without edges: all of them are one part. */
  loose: boolean
}

/** When triggers last fired, epoch ms, by node: taken once, so that a drawing that is looked at does not turn over. */
export type Recent = Readonly<Record<string, number>>

/** Those that fired last come first, then in the order of their first nodes; loose ones last. */
export function connectedParts(drawn: Pick<Drawn, 'nodes' | 'edges'>, recent: Recent = {}): Part[] {
  const { nodes } = drawn
  const known = new Set(nodes.map((node) => node.id))
  const edges = drawn.edges.filter((edge) => known.has(edge.from) && known.has(edge.to))
  const root = roots(nodes, edges)
  const parts = new Map<string, Part>()
  for (const node of nodes) {
    const key = root(node.id)
    const part = parts.get(key) ?? { nodes: [], edges: [], loose: false }
    part.nodes.push(node)
    parts.set(key, part)
  }
  for (const edge of edges) parts.get(root(edge.from))!.edges.push(edge)
  const all = [...parts.values()]
  const loose = all.filter((part) => !part.edges.length).flatMap((part) => part.nodes)
  const rest = all.filter((part) => part.edges.length)
  const firedAt = new Map(
    rest.map((part) => [part, Math.max(...part.nodes.map(({ id }) => recent[id] ?? 0))]),
  )
  rest.sort((a, b) => firedAt.get(b)! - firedAt.get(a)!)
  return loose.length ? [...rest, { nodes: loose, edges: [], loose: true }] : rest
}

/** Union-find: the first node of the part a node belongs to. */
function roots(nodes: readonly DrawnNode[], edges: readonly DrawnEdge[]): (id: string) => string {
  const order = new Map(nodes.map((node, i) => [node.id, i]))
  const up = new Map(nodes.map((node) => [node.id, node.id]))
  const root = (id: string): string => {
    let at = id
    while (up.get(at) !== at) at = up.get(at)!
    up.set(id, at)
    return at
  }
  for (const edge of edges) {
    const [a, b] = [root(edge.from), root(edge.to)]
    if (a === b) continue
    if (order.get(a)! < order.get(b)!) up.set(b, a)
    else up.set(a, b)
  }
  return root
}

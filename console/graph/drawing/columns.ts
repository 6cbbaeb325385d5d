/**
 * The column of each node: sources, triggers, agents, whoever they hand over to, and what they use or
 * tell one further to the right. dagre would pull nodes to their neighbours; here a kind keeps its column,
 * which is faster as well.
 */
import type { Graph } from '@dagrejs/dagre'

/** dagre doubles the columns, to have room for labels between two. */
const STEP = 2
/** Left of all stands the root it makes. */
const FIRST = 1

/** @param first column a node stands in or right of; none of what dagre added. @param graph acyclic */
export function assignColumns(graph: Graph, first: (id: string) => number | undefined): void {
  const rank = new Map<string, number>()
  const waiting = new Map(graph.nodes().map((id) => [id, (graph.inEdges(id) ?? []).length]))
  const open = [...waiting].filter(([, n]) => n === 0).map(([id]) => id)
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    const column = first(id)
    const floor = column === undefined ? 0 : FIRST + column * STEP
    const at = Math.max(floor, rank.get(id) ?? 0)
    graph.node(id).rank = at
    for (const edge of graph.outEdges(id) ?? []) {
      const { minlen } = graph.edge(edge) as { minlen: number }
      rank.set(edge.w, Math.max(rank.get(edge.w) ?? 0, at + minlen))
      const left = waiting.get(edge.w)! - 1
      waiting.set(edge.w, left)
      if (left === 0) open.push(edge.w)
    }
  }
}

/** What stands outside of the drawing: parts without wires, and the skills, which have none. */
import type { GraphNode, GraphPosition, ProjectGraph } from '../../../schemas/types.ts'
import type { Drawn, DrawnNode } from './fold.ts'

export interface Split {
  /** What is drawn. */
  drawn: Drawn
  /** Parts that nothing leads to or from, in the order of the graph. */
  loose: readonly GraphNode[]
  /** Every agent of the project sees them. */
  skills: readonly GraphNode[]
}

/**
 * Whatever was put somewhere by hand is drawn, wired or not. Where nothing at all is, the first part is: a drawing
 * begins with something.
 */
export function splitLoose(
  graph: Pick<ProjectGraph, 'nodes' | 'edges'>,
  drawn: Drawn,
  positions: readonly GraphPosition[],
): Split {
  const wired = new Set(graph.edges.flatMap(({ from, to }) => [from, to]))
  const drawnEnds = new Set(drawn.edges.flatMap(({ from, to }) => [from, to]))
  const put = new Set(positions.map(({ node }) => node))
  const isDrawn = ({ id, kind }: DrawnNode): boolean => kind === 'group' || drawnEnds.has(id) || put.has(id)
  let nodes = drawn.nodes.filter(isDrawn)
  if (nodes.length === 0) nodes = drawn.nodes.slice(0, 1)
  const shown = new Set(nodes.map(({ id }) => id))
  return {
    drawn: { ...drawn, nodes },
    loose: graph.nodes.filter(
      ({ id, kind }) =>
        kind !== 'skill' &&
        !shown.has(id) &&
        !drawn.standIn.has(id) &&
        !(kind === 'mcp_server' && wired.has(id)),
    ),
    skills: graph.nodes.filter(({ kind }) => kind === 'skill'),
  }
}

/** The part of a drawing that some nodes are, with what leads between them. */
export function narrowed(drawn: Drawn, ids: ReadonlySet<string>): Drawn {
  const isIn = (id: string): boolean => ids.has(id)
  return {
    ...drawn,
    nodes: drawn.nodes.filter(({ id }) => isIn(id)),
    edges: drawn.edges.filter(({ from, to }) => isIn(from) && isIn(to)),
  }
}

/** The graph as a key of its own project may see it. */
import type { ProjectGraph } from '../../schemas/types.ts'

/**
 * Without addresses, whose they are and what they are told, and without the names of other projects:
 * a key of a project learns nothing of them elsewhere either.
 */
export function narrowedGraph(graph: ProjectGraph): ProjectGraph {
  return {
    ...graph,
    nodes: graph.nodes
      .filter(({ kind }) => kind !== 'destination')
      .map((node) => ({
        ...node,
        shared_with: [],
        detail: node.kind === 'mcp_server' ? '' : node.detail,
      })),
    edges: graph.edges.filter(({ kind }) => kind !== 'tells'),
    positions: graph.positions.filter(({ node }) => !node.startsWith('destination:')),
  }
}

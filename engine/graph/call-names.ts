/** What the main thread needs of the graph: it loads no engine, and puts the two halves together. */
import type { Access } from '../access.ts'
import { narrowedGraph } from './narrow.ts'
import type { GraphCalls, GraphPort, GraphWrites } from './ports.ts'

/** The graph from its two halves, which need not be on one thread. */
export function projectGraphCall(port: GraphPort): Pick<GraphCalls, 'projectGraph'> {
  return {
    projectGraph: async (word, narrowed = false) => {
      const graph = await port.fillGraph(await port.declaredGraph(word))
      return narrowed ? narrowedGraph(graph) : graph
    },
  }
}

/** For what passes them on to the thread that answers; a preview is rehearsed, and always only plans. */
export const graphAccess: Record<keyof GraphWrites, Access> = {
  placeNodes: 'writes',
  previewDraft: 'plans',
}

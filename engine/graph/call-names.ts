/** What the main thread needs of the graph: it loads no engine, and puts the two halves together. */
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

const writes: Record<keyof GraphWrites, true> = { placeNodes: true, previewDraft: true }

/** Names of the calls, for what passes them on to the writer thread. */
export const graphWriteNames = Object.keys(writes) as (keyof GraphWrites)[]

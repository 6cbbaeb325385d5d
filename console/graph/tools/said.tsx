/** Says what is selected, for those who do not see it. */
import type { ProjectGraph } from '../../../schemas/types.ts'
import { describeEdge, describeNode, nodeTitle } from '../words.ts'

export function Said({ graph, selected }: { graph: ProjectGraph; selected: readonly string[] }) {
  return (
    <div className="graph-hidden" role="status" aria-live="polite">
      {words(graph, selected)}
    </div>
  )
}

function words(graph: ProjectGraph, selected: readonly string[]): string {
  if (selected.length > 1) return `${selected.length} selected`
  const [id] = selected
  const node = graph.nodes.find((each) => each.id === id)
  if (node) return `Selected: ${describeNode(node, Date.parse(graph.at))}`
  const edge = graph.edges.find((each) => each.id === id)
  if (!edge) return ''
  const title = (of: string) => {
    const found = graph.nodes.find((each) => each.id === of)
    return found ? nodeTitle(found) : of
  }
  return `Selected: ${describeEdge(edge, title)}`
}

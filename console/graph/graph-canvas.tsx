/**
 * A project drawn as a graph (GraphCanvasProps says what it takes): the drawing with its toolbar, its
 * outline for those who do not see it, and a voice that says what is selected.
 */
import '@xyflow/react/dist/base.css'
import '../styles/graph.css'
import '../styles/graph-nodes.css'
import '../styles/graph-edges.css'
import { Center, Loader, useComputedColorScheme } from '@mantine/core'
import { ReactFlowProvider } from '@xyflow/react'
import { useCallback, useMemo, useState } from 'react'
import type { Canvas, CanvasView } from './canvas.ts'
import { foldGraph } from './drawing/fold.ts'
import { useLayout } from './drawing/use-layout.ts'
import { pathOf } from './drawing/walk.ts'
import { GraphFlow } from './graph-flow.tsx'
import { GraphOutline } from './tools/graph-outline.tsx'
import { Said } from './tools/said.tsx'
import { Toolbar } from './tools/toolbar.tsx'
import { type GraphCanvasProps, type GraphMarks, NO_MARKS } from './types.ts'

const FIRST_VIEW: CanvasView = { folded: new Set(), focusPath: false, outline: false, full: false }

export function GraphCanvas({
  height = 'calc(70vh - var(--banner, 0px))',
  tools,
  marks = NO_MARKS,
  ...props
}: GraphCanvasProps) {
  const [view, change] = useState(FIRST_VIEW)
  const setView = useCallback((next: Partial<CanvasView>) => change((was) => ({ ...was, ...next })), [])
  const { graph, selected } = props
  const drawn = useMemo(
    () => foldGraph({ nodes: graph.nodes, edges: graph.edges }, view.folded),
    [graph.nodes, graph.edges, view.folded],
  )
  const layout = useLayout(drawn, graph.positions)
  const lit = useLit(marks, view.focusPath ? selected : [], graph.edges)
  const scheme = useComputedColorScheme('light')
  const style = view.full ? undefined : { height }
  if (!layout)
    return (
      <Center style={{ height }}>
        <Loader role="img" aria-label="Laying the graph out" />
      </Center>
    )
  const canvas: Canvas = { ...props, marks, drawn, layout, lit, view, setView, scheme }
  return (
    <ReactFlowProvider>
      <div className="graph-canvas" data-full={view.full} style={style}>
        <Toolbar canvas={canvas} tools={tools} />
        <div className="graph-body">
          <GraphOutline canvas={canvas} />
          <GraphFlow canvas={canvas} />
        </div>
        <Said graph={graph} selected={selected} />
      </div>
    </ReactFlowProvider>
  )
}

/** What is drawn in full: what is marked as lit, or else the path of what is selected; null: everything. */
function useLit(
  marks: GraphMarks,
  focused: readonly string[],
  edges: GraphCanvasProps['graph']['edges'],
): ReadonlySet<string> | null {
  const path = focused.join('\n')
  return useMemo(() => {
    if (marks.lit.size) return marks.lit
    return path ? pathOf(path.split('\n'), edges) : null
  }, [marks.lit, path, edges])
}

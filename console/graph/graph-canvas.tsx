/**
 * A project drawn as a graph (GraphCanvasProps says what it takes): the drawing, or its flows where it is large, with
 * its toolbar, what is not connected, its outline for those who do not see it, and a voice that says what is selected.
 */
import { Center, Loader, useComputedColorScheme } from '@mantine/core'
import { ReactFlowProvider } from '@xyflow/react'
import { Suspense, useCallback, useDeferredValue, useMemo, useRef, useState } from 'react'
import { lazyFrom } from '../lib/chunks.ts'
import type { Canvas, CanvasView } from './canvas.ts'
import { foldGraph } from './drawing/fold.ts'
import { splitLoose } from './drawing/loose.ts'
import { useLayout } from './drawing/use-layout.ts'
import { useRoom } from './drawing/use-room.ts'
import { useShown } from './drawing/use-shown.ts'
import { pathOf } from './drawing/walk.ts'
import { GraphFlow } from './graph-flow.tsx'
import { RefusalTip, useRefusal } from './hands/refusal-tip.tsx'
import { GraphOutline } from './tools/graph-outline.tsx'
import { Said } from './tools/said.tsx'
import { Strip } from './tools/strip.tsx'
import { Toolbar } from './tools/toolbar.tsx'
import { type GraphCanvasProps, type GraphMarks, NO_MARKS } from './types.ts'

/** Of large projects alone. */
const FlowList = lazyFrom(() => import('./flows/flow-list.tsx'))('FlowList')

const FIRST_VIEW: CanvasView = {
  folded: new Set(),
  focusPath: false,
  outline: false,
  overview: false,
  full: false,
  flows: null,
  flow: null,
}

export function GraphCanvas({
  height = 'calc(70vh - var(--banner, 0px))',
  tools,
  marks = NO_MARKS,
  mode = 'live',
  ...props
}: GraphCanvasProps) {
  const [view, change] = useState(FIRST_VIEW)
  const setView = useCallback((next: Partial<CanvasView>) => change((was) => ({ ...was, ...next })), [])
  const { graph, selected } = props
  const stage = useRef<HTMLDivElement>(null)
  // Drawn in slices once its room is known: at once it is 60 ms of work for 60 parts (2026-11-27).
  const room = useDeferredValue(useRoom(stage, mode === 'edit'))
  const recent = useRecent(graph)
  const whole = useMemo(
    () => foldGraph({ nodes: graph.nodes, edges: graph.edges }, view.folded, mode === 'edit'),
    [graph.nodes, graph.edges, view.folded, mode],
  )
  const split = useMemo(
    () => splitLoose({ nodes: graph.nodes, edges: graph.edges }, whole, graph.positions),
    [graph.nodes, graph.edges, whole, graph.positions],
  )
  const all = useLayout(split.drawn, graph.positions, recent)
  const shown = useShown({ graph, marks, split, all, recent, room, view, canFollow: !!props.onFollow })
  const lit = useLit(marks, view.focusPath ? selected : [], graph.edges)
  const scheme = useComputedColorScheme('light')
  const refusal = useRefusal()
  const fitNext = useRef(false)
  const canvas: Canvas = {
    ...props,
    ...shown,
    mode,
    marks,
    room,
    loose: split.loose,
    skills: split.skills,
    lit,
    view,
    setView,
    fitNext,
    refuse: refusal.refuse,
    scheme,
  }
  return (
    <ReactFlowProvider>
      <div
        className="graph-canvas"
        data-full={view.full}
        data-mode={mode}
        style={view.full ? undefined : { height }}
      >
        <Toolbar canvas={canvas} tools={tools} />
        <div className="graph-body">
          <GraphOutline canvas={canvas} />
          <div className="graph-side">
            <div className="graph-stage" ref={stage}>
              <Drawing canvas={canvas} />
              {mode === 'edit' && graph.nodes.length === 0 && (
                <p className="graph-hint">
                  Begin with a source of events: choose it under New, or drag it here. A trigger watches it
                  and wakes an agent.
                </p>
              )}
            </div>
            <Strip canvas={canvas} />
          </div>
        </div>
        <Said graph={graph} selected={selected} />
        <RefusalTip said={refusal.said} />
      </div>
    </ReactFlowProvider>
  )
}

const Waiting = () => (
  <Center h="100%">
    <Loader role="img" aria-label="Loading the list of flows" />
  </Center>
)

function Drawing({ canvas }: { canvas: Canvas }) {
  if (canvas.room.width === 0) return null
  return canvas.isListed ? (
    <Suspense fallback={<Waiting />}>
      <FlowList canvas={canvas} />
    </Suspense>
  ) : (
    // Another flow is another drawing, which begins where it begins.
    <GraphFlow key={canvas.view.flow ?? ''} canvas={canvas} />
  )
}

/** When triggers last fired, as the page was opened: the drawing does not turn over while one looks at it. */
function useRecent(graph: GraphCanvasProps['graph']) {
  // biome-ignore lint/correctness/useExhaustiveDependencies: of another project it is taken anew.
  return useMemo(
    () =>
      Object.fromEntries(
        graph.nodes.flatMap(({ id, kind, last_at }) =>
          kind === 'trigger' && last_at ? [[id, Date.parse(last_at)]] : [],
        ),
      ),
    [graph.project.id],
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

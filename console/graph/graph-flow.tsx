/** The drawing itself: React Flow with our nodes and edges, and what pointer and keys do on it. */
import { Background, ReactFlow } from '@xyflow/react'
import { useEffect, useMemo, useRef, useState } from 'react'
import type { Canvas } from './canvas.ts'
import { isOver, ZOOM_IN, ZOOM_LEAST } from './drawing/fit.ts'
import { GRID } from './drawing/geometry.ts'
import { EDGE_TYPES } from './edges/edge-line.tsx'
import { PulseLayer } from './edges/pulse-layer.tsx'
import { type FlowEdge, type FlowNode, flowEdges, flowNodes, type Kept } from './flow.ts'
import { ConnectionTip } from './hands/refusal-tip.tsx'
import { useCallbacks } from './hands/use-callbacks.ts'
import { useConnecting } from './hands/use-connecting.ts'
import { useDrop } from './hands/use-drop.ts'
import { firstView, useFit } from './hands/use-fit.ts'
import { useKeys } from './hands/use-keys.ts'
import { useMoves } from './hands/use-moves.ts'
import { type Hands, HandsContext, InstantContext, InstantStore, ModeContext } from './marks/instant.tsx'
import { Ghost } from './nodes/ghost.tsx'
import { NODE_TYPES } from './nodes/node-types.ts'

/** Kept apart, since new ones would have React Flow render everything. */
const SEVERAL = ['Shift', 'Meta', 'Control']
const SNAP: [number, number] = [GRID, GRID]

export function GraphFlow({ canvas }: { canvas: Canvas }) {
  const { extent, ghost, marks, editing, mode, onFollow, onMove, room, view } = canvas
  const root = useRef<HTMLDivElement>(null)
  const instant = useInstant(canvas.graph.at)
  const { moved, hands } = useMoves(canvas)
  const keys = useKeys(canvas, root)
  const fit = useFit(canvas)
  const { nodes, edges } = useFlow(canvas, keys.tabStop, moved)
  const connecting = useConnecting(canvas)
  const drop = useDrop(canvas)
  const drawnEdge = useDrawnEdge(canvas)
  const callbacks = useCallbacks(canvas, hands, keys.unfold)
  const [first] = useState(() => firstView(canvas))
  const isWheeled = isOver(extent, room)
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: keys bubble up from the nodes, which are focused.
    <div
      ref={root}
      className="graph-flow"
      data-editing={editing !== undefined}
      data-connecting={connecting.active}
      tabIndex={-1}
      onKeyDown={keys.onKeyDown}
      onFocus={keys.onFocus}
      {...drop}
    >
      <InstantContext value={instant}>
        <ModeContext value={mode}>
          <HandsContext value={useHands(canvas)}>
            <ReactFlow<FlowNode, FlowEdge>
              aria-label={canvas.label}
              nodes={nodes}
              edges={edges}
              nodeTypes={NODE_TYPES}
              edgeTypes={EDGE_TYPES}
              colorMode={canvas.scheme}
              defaultMarkerColor={null}
              {...callbacks}
              {...fit}
              // A flow of its own is drawn afresh each time: there nothing is put.
              nodesDraggable={onMove !== undefined && view.flow === null}
              snapToGrid
              snapGrid={SNAP}
              nodesConnectable={editing !== undefined}
              connectOnClick={false}
              connectionRadius={28}
              isValidConnection={connecting.isValid}
              onConnectStart={connecting.start}
              onConnectEnd={connecting.end}
              nodesFocusable={false}
              edgesFocusable={false}
              disableKeyboardA11y
              deleteKeyCode={null}
              multiSelectionKeyCode={SEVERAL}
              zoomOnDoubleClick={false}
              // The wheel moves what does not fit, and the page otherwise; with Ctrl it zooms.
              zoomOnScroll={false}
              panOnScroll={isWheeled}
              preventScrolling={isWheeled}
              onlyRenderVisibleElements
              minZoom={ZOOM_LEAST}
              maxZoom={ZOOM_IN}
              defaultViewport={first}
            >
              <Background gap={24} size={1} />
              {ghost && onFollow && <Ghost box={ghost} canvas={canvas} onFollow={onFollow} />}
              <PulseLayer pulses={marks.pulses} drawnEdge={drawnEdge} root={root} />
              {editing && <ConnectionTip editing={editing} />}
            </ReactFlow>
          </HandsContext>
        </ModeContext>
      </InstantContext>
    </div>
  )
}

/** Nodes and edges as React Flow takes them; kept from one render to the next. */
function useFlow(
  canvas: Canvas,
  tabStop: string | null,
  moved: ReadonlyMap<string, { x: number; y: number }>,
): { nodes: FlowNode[]; edges: FlowEdge[] } {
  const [kept] = useState(() => ({ nodes: new Map() as Kept<FlowNode>, edges: new Map() as Kept<FlowEdge> }))
  const { drawn, layout, marks, lit } = canvas
  const editable = canvas.editing !== undefined
  const chosen = canvas.selected.join('\n')
  const at = canvas.graph.at
  return useMemo(() => {
    const look = {
      marks,
      lit,
      selected: new Set(chosen.split('\n')),
      tabStop,
      moved,
      editable,
      now: Date.parse(at),
    }
    return {
      nodes: flowNodes(drawn, layout, look, kept.nodes),
      edges: flowEdges(drawn, layout, look, kept.edges),
    }
  }, [drawn, layout, marks, lit, chosen, tabStop, moved, editable, at, kept])
}

function useInstant(at: string): InstantStore {
  const [store] = useState(() => new InstantStore(Date.parse(at)))
  useEffect(() => store.set(Date.parse(at)), [store, at])
  return store
}

/** A tool in an agent stands for the wire that leads to it: what one opens is how it is used. */
function useHands(canvas: Canvas): Hands {
  const latest = useRef(canvas)
  latest.current = canvas
  return useMemo(
    () => ({
      openTool: (agent, server) => {
        const { graph, onSelect, onOpen } = latest.current
        const edge = graph.edges.find(
          ({ kind, from, to }) => kind === 'uses' && from === agent && to === server,
        )
        onSelect([edge?.id ?? server])
        onOpen?.(edge?.id ?? server)
      },
    }),
    [],
  )
}

function useDrawnEdge({ drawn }: Canvas): (edge: string) => string | undefined {
  return useMemo(() => {
    const by = new Map(drawn.edges.flatMap((edge) => edge.members.map((id) => [id, edge.id])))
    return (edge: string) => by.get(edge)
  }, [drawn])
}

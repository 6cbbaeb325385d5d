/** The drawing itself: React Flow with our nodes and edges, and what pointer and keys do on it. */
import { Background, MiniMap, ReactFlow, useReactFlow } from '@xyflow/react'
import { type DragEvent, useEffect, useMemo, useRef, useState } from 'react'
import type { Canvas } from './canvas.ts'
import { EDGE_TYPES } from './edges/edge-line.tsx'
import { PulseLayer } from './edges/pulse-layer.tsx'
import { type FlowEdge, type FlowNode, flowEdges, flowNodes, type Kept } from './flow.ts'
import { ConnectionTip } from './hands/connection-tip.tsx'
import { useCallbacks } from './hands/use-callbacks.ts'
import { useConnecting } from './hands/use-connecting.ts'
import { useKeepInSight } from './hands/use-keep-in-sight.ts'
import { useKeys } from './hands/use-keys.ts'
import { useMoves } from './hands/use-moves.ts'
import { FIT, useRefit } from './hands/use-refit.ts'
import { InstantContext, InstantStore } from './marks/instant.tsx'
import { NODE_TYPES } from './nodes/node-types.ts'
import { SkillsBox } from './nodes/skills-box.tsx'
import { type DraggedPart, PART_DRAG_TYPE } from './types.ts'

/** Kept apart, since new ones would have React Flow render everything. */
const SEVERAL = ['Shift', 'Meta', 'Control']
const miniName = (node: FlowNode): string => `mini-${node.type}`

export function GraphFlow({ canvas }: { canvas: Canvas }) {
  const { drawn, layout, marks, editing, onMove } = canvas
  const root = useRef<HTMLDivElement>(null)
  const instant = useInstant(canvas.graph.at)
  const { moved, hands } = useMoves(canvas)
  const keys = useKeys(canvas, root)
  useKeepInSight(canvas, root)
  const refit = useRefit(root)
  const { nodes, edges } = useFlow(canvas, keys.tabStop, moved)
  const connecting = useConnecting(canvas)
  const drop = useDrop(canvas)
  const drawnEdge = useDrawnEdge(canvas)
  const callbacks = useCallbacks(canvas, hands, keys.unfold, root)
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: keys bubble up from the nodes, which are focused.
    <div
      ref={root}
      className="graph-flow"
      data-editing={editing !== undefined}
      data-connecting={connecting.active}
      onKeyDown={keys.onKeyDown}
      onFocus={keys.onFocus}
      {...drop}
    >
      <InstantContext value={instant}>
        <ReactFlow<FlowNode, FlowEdge>
          aria-label={canvas.label}
          nodes={nodes}
          edges={edges}
          nodeTypes={NODE_TYPES}
          edgeTypes={EDGE_TYPES}
          colorMode={canvas.scheme}
          defaultMarkerColor={null}
          {...callbacks}
          {...refit}
          nodesDraggable={onMove !== undefined}
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
          onlyRenderVisibleElements
          minZoom={0.04}
          maxZoom={2}
          fitView
          fitViewOptions={FIT}
        >
          <Background gap={22} size={1} />
          <SkillsBox box={layout.skills} />
          <PulseLayer pulses={marks.pulses} drawnEdge={drawnEdge} root={root} />
          {editing && <ConnectionTip editing={editing} />}
          {drawn.nodes.length > 8 && (
            <MiniMap<FlowNode>
              pannable
              zoomable
              ariaLabel="Overview of the graph"
              nodeClassName={miniName}
              nodeBorderRadius={12}
            />
          )}
        </ReactFlow>
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

/** A part from the palette, let go on the canvas. */
function useDrop({ editing }: Canvas) {
  const flow = useReactFlow()
  if (!editing) return {}
  return {
    onDragOver: (event: DragEvent) => {
      if (!event.dataTransfer.types.includes(PART_DRAG_TYPE)) return
      event.preventDefault()
      event.dataTransfer.dropEffect = 'copy'
    },
    onDrop: (event: DragEvent) => {
      const text = event.dataTransfer.getData(PART_DRAG_TYPE)
      if (!text) return
      event.preventDefault()
      const { x, y } = flow.screenToFlowPosition({ x: event.clientX, y: event.clientY })
      editing.onDrop(JSON.parse(text) as DraggedPart, { x: Math.round(x), y: Math.round(y) })
    },
  }
}

function useDrawnEdge({ drawn }: Canvas): (edge: string) => string | undefined {
  return useMemo(() => {
    const by = new Map(drawn.edges.flatMap((edge) => edge.members.map((id) => [id, edge.id])))
    return (edge: string) => by.get(edge)
  }, [drawn])
}

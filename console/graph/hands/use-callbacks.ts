/**
 * What React Flow calls. Each callback stays the same function for as long as the canvas stands: a new
 * one would have it render every node and edge.
 */
import type { NodeChange, ReactFlowProps } from '@xyflow/react'
import { useMemo, useRef } from 'react'
import type { Canvas } from '../canvas.ts'
import type { FlowEdge, FlowNode } from '../flow.ts'
import type { Moves } from './use-moves.ts'
import { useSelection } from './use-selection.ts'
import { connectionOf } from './wiring.ts'

type Callbacks = Pick<
  ReactFlowProps<FlowNode, FlowEdge>,
  | 'onNodesChange'
  | 'onEdgesChange'
  | 'onSelectionStart'
  | 'onSelectionEnd'
  | 'onNodeDoubleClick'
  | 'onEdgeClick'
  | 'onEdgeDoubleClick'
  | 'onPaneClick'
  | 'onNodeDragStop'
  | 'onSelectionDragStop'
  | 'onConnect'
>

export function useCallbacks(canvas: Canvas, moves: Moves, unfold: (group: string) => void): Callbacks {
  const selection = useSelection(canvas)
  const latest = useRef({ canvas, unfold })
  latest.current = { canvas, unfold }
  return useMemo(() => {
    const now = () => latest.current.canvas
    return {
      onNodesChange: (changes: NodeChange<FlowNode>[]) => {
        moves.follow(changes)
        selection.onNodes(changes)
      },
      onEdgesChange: selection.onEdges,
      onSelectionStart: () => selection.box(true),
      onSelectionEnd: () => selection.box(false),
      onNodeDoubleClick: (_, node) =>
        node.type === 'group' ? latest.current.unfold(node.id) : now().onOpen?.(node.id),
      // Keys go to what is focused, and an edge is nothing that can be: Delete would go nowhere.
      onEdgeClick: ({ currentTarget }) =>
        currentTarget.closest<HTMLElement>('.graph-flow')?.focus({ preventScroll: true }),
      onEdgeDoubleClick: (_, edge) => {
        if (edge.data?.drawn.edge) now().onOpen?.(edge.id)
      },
      onPaneClick: () => now().onSelect([]),
      onNodeDragStop: (_, node, nodes) => moves.stop(nodes.length ? nodes : [node]),
      onSelectionDragStop: (_, nodes) => moves.stop(nodes),
      onConnect: (made) => now().editing?.onConnect(connectionOf(made)),
    }
  }, [moves, selection])
}

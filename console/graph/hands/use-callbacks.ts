/**
 * What React Flow calls. Each callback stays the same function for as long as the canvas stands: a new
 * one would have it render every node and edge.
 */
import type { NodeChange, OnMove, ReactFlowProps } from '@xyflow/react'
import { type RefObject, useMemo, useRef } from 'react'
import type { Canvas } from '../canvas.ts'
import type { FlowEdge, FlowNode } from '../flow.ts'
import { connectionOf } from './use-connecting.ts'
import type { Moves } from './use-moves.ts'
import { useSelection } from './use-selection.ts'

/** Under this zoom only names are read, and under the second not even those. */
const FAR = 0.5
const VERY_FAR = 0.25

type Callbacks = Pick<
  ReactFlowProps<FlowNode, FlowEdge>,
  | 'onNodesChange'
  | 'onEdgesChange'
  | 'onSelectionStart'
  | 'onSelectionEnd'
  | 'onNodeDoubleClick'
  | 'onEdgeDoubleClick'
  | 'onPaneClick'
  | 'onNodeDragStop'
  | 'onSelectionDragStop'
  | 'onConnect'
  | 'onMove'
  | 'onInit'
>

export function useCallbacks(
  canvas: Canvas,
  moves: Moves,
  unfold: (group: string) => void,
  root: RefObject<HTMLElement | null>,
): Callbacks {
  const selection = useSelection(canvas)
  const latest = useRef({ canvas, unfold })
  latest.current = { canvas, unfold }
  return useMemo(() => {
    const now = () => latest.current.canvas
    const tellZoom = (zoom: number) => {
      if (root.current) root.current.dataset.zoom = zoom < VERY_FAR ? 'very-far' : zoom < FAR ? 'far' : 'near'
    }
    const onMove: OnMove = (_, { zoom }) => tellZoom(zoom)
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
      onEdgeDoubleClick: (_, edge) => {
        if (edge.data?.drawn.edge) now().onOpen?.(edge.id)
      },
      onPaneClick: () => now().onSelect([]),
      onNodeDragStop: (_, node, nodes) => moves.stop(nodes.length ? nodes : [node]),
      onSelectionDragStop: (_, nodes) => moves.stop(nodes),
      onConnect: (made) => now().editing?.onConnect(connectionOf(made)),
      onMove,
      onInit: (flow) => tellZoom(flow.getZoom()),
    }
  }, [moves, selection, root])
}

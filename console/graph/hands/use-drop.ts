/**
 * What is let go on the drawing: a part from the palette, or one of the graph that is not connected. On a node the
 * latter is wired to it, whichever of both leads to the other; on the ground it is put there, to be wired by hand.
 */
import { useReactFlow } from '@xyflow/react'
import type { DragEvent } from 'react'
import type { Canvas } from '../canvas.ts'
import { type DraggedPart, type GraphEditing, NODE_DRAG_TYPE, PART_DRAG_TYPE } from '../types.ts'
import { wiringOf } from './wiring.ts'

export function useDrop({ editing, refuse }: Canvas) {
  const flow = useReactFlow()
  if (!editing) return {}
  return {
    onDragOver: (event: DragEvent) => {
      const { types } = event.dataTransfer
      if (!types.includes(PART_DRAG_TYPE) && !types.includes(NODE_DRAG_TYPE)) return
      event.preventDefault()
      event.dataTransfer.dropEffect = 'copy'
    },
    onDrop: (event: DragEvent) => {
      const [part, node] = [PART_DRAG_TYPE, NODE_DRAG_TYPE].map((type) => event.dataTransfer.getData(type))
      if (!part && !node) return
      event.preventDefault()
      const place = flow.screenToFlowPosition({ x: event.clientX, y: event.clientY })
      const at = { x: Math.round(place.x), y: Math.round(place.y) }
      const onto = (event.target as Element).closest<HTMLElement>('.react-flow__node')?.dataset.id
      const why = part
        ? editing.onDrop(JSON.parse(part) as DraggedPart, at)
        : onto && onto !== node
          ? wire(editing, node!, onto)
          : put(editing, node!, at)
      if (why !== null) refuse({ x: event.clientX, y: event.clientY }, why)
    },
  }
}

/** @returns null, or why they cannot be wired */
function wire(editing: GraphEditing, node: string, onto: string): string | null {
  const way = wiringOf(node, onto)
  const why = editing.refusal(way)
  if (why === null) editing.onConnect(way)
  return why
}

function put(editing: GraphEditing, id: string, at: { x: number; y: number }): string | null {
  if (id.startsWith('mcp_server:')) return 'Drop an MCP server on the agent that is to use it.'
  editing.onPlace(id, at)
  return null
}

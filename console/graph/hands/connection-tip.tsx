/** Beside the pointer while a connection is drawn: why it may not be made where it is held now. */
import { useConnection, useReactFlow } from '@xyflow/react'
import { createPortal } from 'react-dom'
import type { FlowNode } from '../flow.ts'
import type { GraphEditing } from '../types.ts'
import { connectionOf } from './use-connecting.ts'

export function ConnectionTip({ editing }: { editing: GraphEditing }) {
  const held = useConnection<FlowNode>()
  const flow = useReactFlow()
  if (!held.inProgress || !held.toNode || held.isValid) return null
  const backwards = held.fromHandle.type === 'target'
  const [start, end] = backwards ? [held.toNode, held.fromNode] : [held.fromNode, held.toNode]
  const handle = backwards ? held.toHandle : held.fromHandle
  const why = editing.refusal(
    connectionOf({ source: start.id, target: end.id, sourceHandle: handle?.id ?? null }),
  )
  if (why === null) return null
  const at = flow.flowToScreenPosition(held.to)
  return createPortal(
    <div className="graph-refusal" role="status" style={{ left: at.x + 14, top: at.y + 14 }}>
      {why}
    </div>,
    document.body,
  )
}

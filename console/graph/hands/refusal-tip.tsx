/**
 * At the pointer: why what is held there, or was let go there, may not be. What was let go is told for four seconds:
 * the hand has gone on by then, and the eye has not.
 */
import { useConnection, useReactFlow } from '@xyflow/react'
import { useCallback, useEffect, useState } from 'react'
import { createPortal } from 'react-dom'
import type { Refuse } from '../canvas.ts'
import type { FlowNode } from '../flow.ts'
import type { GraphEditing } from '../types.ts'
import { heldConnection } from './wiring.ts'

const SHOWN_MS = 4_000

interface Refused {
  at: { x: number; y: number }
  why: string
}

export function useRefusal(): { said: Refused | null; refuse: Refuse } {
  const [said, setSaid] = useState<Refused | null>(null)
  useEffect(() => {
    if (!said) return
    const timer = setTimeout(() => setSaid(null), SHOWN_MS)
    return () => clearTimeout(timer)
  }, [said])
  const refuse = useCallback<Refuse>((at, why) => setSaid({ at, why }), [])
  return { said, refuse }
}

export function RefusalTip({ said }: { said: Refused | null }) {
  if (!said) return null
  // Beside the pointer, and in the window where that is near its rim.
  const left = Math.min(said.at.x + 14, Math.max(8, window.innerWidth - 316))
  const top = Math.min(said.at.y + 14, Math.max(8, window.innerHeight - 90))
  return createPortal(
    <div className="graph-refusal" role="status" style={{ left, top }}>
      {said.why}
    </div>,
    document.body,
  )
}

/** While a connection is drawn. */
export function ConnectionTip({ editing }: { editing: GraphEditing }) {
  const held = useConnection<FlowNode>()
  const flow = useReactFlow()
  if (!held.inProgress || !held.toNode || held.isValid) return null
  const connection = heldConnection(held)
  const why = connection && editing.refusal(connection)
  return why === null ? null : <RefusalTip said={{ at: flow.flowToScreenPosition(held.to), why }} />
}

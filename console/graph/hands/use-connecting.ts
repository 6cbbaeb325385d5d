/** A connection while it is drawn: whether it may be made is asked of the owner, and where it may not, it says why. */
import type { IsValidConnection, OnConnectEnd } from '@xyflow/react'
import { useCallback, useRef, useState } from 'react'
import type { Canvas } from '../canvas.ts'
import type { FlowEdge } from '../flow.ts'
import { connectionOf, heldConnection } from './wiring.ts'

export function useConnecting(canvas: Canvas) {
  const [active, setActive] = useState(false)
  const latest = useRef(canvas)
  latest.current = canvas
  const isValid = useCallback<IsValidConnection<FlowEdge>>(
    (made) =>
      latest.current.editing?.refusal(connectionOf({ ...made, sourceHandle: made.sourceHandle ?? null })) ===
      null,
    [],
  )
  const start = useCallback(() => setActive(true), [])
  const end = useCallback<OnConnectEnd>((event, held) => {
    setActive(false)
    const { editing, refuse } = latest.current
    const connection = held.isValid ? null : heldConnection(held)
    const why = connection && (editing?.refusal(connection) ?? null)
    if (why !== null) refuse(pointOf(event), why)
  }, [])
  return { active, isValid, start, end }
}

function pointOf(event: MouseEvent | TouchEvent): { x: number; y: number } {
  const { clientX = 0, clientY = 0 } = event instanceof MouseEvent ? event : (event.changedTouches[0] ?? {})
  return { x: clientX, y: clientY }
}

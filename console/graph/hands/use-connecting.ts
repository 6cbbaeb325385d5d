/** A connection while it is drawn: whether it may be made is asked of the owner. */
import type { Connection as FlowConnection, IsValidConnection } from '@xyflow/react'
import { useCallback, useRef, useState } from 'react'
import type { Canvas } from '../canvas.ts'
import type { FlowEdge } from '../flow.ts'
import type { Connection } from '../types.ts'

const VERDICT = 'verdict:'

export function connectionOf(made: Pick<FlowConnection, 'source' | 'target' | 'sourceHandle'>): Connection {
  const handle = made.sourceHandle ?? ''
  return {
    from: made.source,
    to: made.target,
    verdict: handle.startsWith(VERDICT) ? handle.slice(VERDICT.length) : null,
  }
}

export function useConnecting({ editing }: Canvas) {
  const [active, setActive] = useState(false)
  const latest = useRef(editing)
  latest.current = editing
  const isValid = useCallback<IsValidConnection<FlowEdge>>(
    (made) =>
      latest.current?.refusal(connectionOf({ ...made, sourceHandle: made.sourceHandle ?? null })) === null,
    [],
  )
  const start = useCallback(() => setActive(true), [])
  const end = useCallback(() => setActive(false), [])
  return { active, isValid, start, end }
}

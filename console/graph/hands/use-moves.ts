/** Nodes that are dragged: where they are meanwhile, and where they were left. */
import type { NodeChange } from '@xyflow/react'
import { useEffect, useMemo, useRef, useState } from 'react'
import type { Canvas } from '../canvas.ts'
import type { FlowNode } from '../flow.ts'

export interface Moves {
  follow(changes: readonly NodeChange<FlowNode>[]): void
  /** They were let go where they are. */
  stop(nodes: readonly FlowNode[]): void
}

type Places = ReadonlyMap<string, { x: number; y: number }>
const NOWHERE: Places = new Map()

export function useMoves(canvas: Canvas) {
  const [moved, setMoved] = useState(NOWHERE)
  const latest = useRef(canvas)
  latest.current = canvas
  const { layout } = canvas
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new layout has the places in it.
  useEffect(() => setMoved(NOWHERE), [layout])
  const hands = useMemo<Moves>(
    () => ({
      follow: (changes) => {
        const places = changes.flatMap((change) =>
          change.type === 'position' && change.position ? [{ id: change.id, ...change.position }] : [],
        )
        if (places.length)
          setMoved((was) => new Map([...was, ...places.map(({ id, x, y }) => [id, { x, y }] as const)]))
      },
      stop: (nodes) =>
        latest.current.onMove?.(
          nodes.map(({ id, position }) => ({
            node: id,
            x: Math.round(position.x),
            y: Math.round(position.y),
          })),
        ),
    }),
    [],
  )
  return { moved, hands }
}

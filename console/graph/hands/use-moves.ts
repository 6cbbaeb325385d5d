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
        if (places.length) setMoved((was) => withHanging(was, places, latest.current))
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

/** What hangs under an agent moves along. */
function withHanging(was: Places, places: { id: string; x: number; y: number }[], canvas: Canvas): Places {
  const next = new Map(was)
  const own = new Set(places.map((place) => place.id))
  const attached = new Set(canvas.drawn.nodes.filter((node) => node.attached).map((node) => node.id))
  for (const { id, x, y } of places) {
    next.set(id, { x, y })
    const before = canvas.layout.boxes.get(id)
    if (!before) continue
    for (const edge of canvas.drawn.edges) {
      if (edge.from !== id || !attached.has(edge.to) || own.has(edge.to)) continue
      const box = canvas.layout.boxes.get(edge.to)
      if (box) next.set(edge.to, { x: box.x + x - before.x, y: box.y + y - before.y })
    }
  }
  return next
}

/** Selection is the owner's: changes are told, together, as the ids that are then selected. */
import type { EdgeChange, NodeChange } from '@xyflow/react'
import { useMemo, useRef } from 'react'
import type { Canvas } from '../canvas.ts'
import type { FlowEdge, FlowNode } from '../flow.ts'

interface Selection {
  onNodes(changes: readonly NodeChange<FlowNode>[]): void
  onEdges(changes: readonly EdgeChange<FlowEdge>[]): void
  /** While a box is drawn nodes alone are chosen, not each edge that leads to them. */
  box(isDrawn: boolean): void
}

export function useSelection(canvas: Canvas): Selection {
  const latest = useRef(canvas)
  latest.current = canvas
  return useMemo(() => {
    let pending: Set<string> | null = null
    let boxed = false
    const take = (id: string, selected: boolean) => {
      // React Flow tells nodes and edges one after the other.
      if (pending === null) {
        // React Flow does not tell of parts that went, such as those of a step that was undone.
        const { selected: before, graph, drawn } = latest.current
        const there = new Set([graph.nodes, graph.edges, drawn.edges].flat().map((one) => one.id))
        pending = new Set(before.filter((one) => there.has(one)))
        queueMicrotask(() => {
          const ids = [...pending!]
          pending = null
          latest.current.onSelect(ids)
        })
      }
      if (selected) pending.add(id)
      else pending.delete(id)
    }
    return {
      onNodes: (changes) => {
        for (const change of changes) if (change.type === 'select') take(change.id, change.selected)
      },
      onEdges: (changes) => {
        for (const change of changes)
          if (change.type === 'select' && !(boxed && change.selected)) take(change.id, change.selected)
      },
      box: (isDrawn) => {
        boxed = isDrawn
      },
    }
  }, [])
}

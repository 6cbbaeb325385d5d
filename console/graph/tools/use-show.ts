/**
 * Selects a node and brings it to the middle: a collapsed group that holds it is opened, and so is its flow where flows
 * are listed. An MCP server is shown by an agent that uses it.
 */
import { useReactFlow } from '@xyflow/react'
import { useCallback, useEffect, useRef, useState } from 'react'
import type { Canvas } from '../canvas.ts'
import { attachmentFold, kindFold } from '../drawing/fold.ts'
import { moveMs } from '../hands/use-fit.ts'
import type { NodeKind } from '../types.ts'

export function useShow(canvas: Canvas): (id: string) => void {
  const flow = useReactFlow()
  const [wanted, setWanted] = useState<string | null>(null)
  const { layout } = canvas
  useEffect(() => {
    const box = wanted === null ? undefined : layout.boxes.get(wanted)
    if (!box) return
    setWanted(null)
    void flow.setCenter(box.x + box.width / 2, box.y + box.height / 2, {
      zoom: flow.getZoom(),
      duration: moveMs(),
    })
  }, [wanted, layout, flow])
  const latest = useRef(canvas)
  latest.current = canvas
  return useCallback((id: string) => {
    const { drawn, flows, graph, isListed, view, setView, onSelect } = latest.current
    if (isListed || (view.flow !== null && !latest.current.layout.boxes.has(id))) {
      const flow = flows.find(({ ids }) => ids.has(id))
      if (flow) setView({ flow: flow.id })
    }
    const inside = drawn.standIn.get(id)
    if (inside) {
      const folded = new Set(view.folded)
      folded.delete(
        inside.startsWith('group:') ? kindFold(inside.slice(6) as NodeKind) : attachmentFold(inside),
      )
      setView({ folded })
    }
    onSelect([id])
    setWanted(graph.edges.find(({ kind, to }) => kind === 'uses' && to === id)?.from ?? id)
  }, [])
}

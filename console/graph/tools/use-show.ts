/** Selects a node and brings it to the middle; a collapsed group that holds it is opened. */
import { useReactFlow } from '@xyflow/react'
import { useCallback, useEffect, useRef, useState } from 'react'
import type { Canvas } from '../canvas.ts'
import { attachmentFold, kindFold } from '../drawing/fold.ts'
import type { NodeKind } from '../types.ts'

const READABLE = 0.8

export function useShow(canvas: Canvas): (id: string) => void {
  const flow = useReactFlow()
  const [wanted, setWanted] = useState<string | null>(null)
  const { layout } = canvas
  useEffect(() => {
    const box = wanted === null ? undefined : layout.boxes.get(wanted)
    if (!box) return
    setWanted(null)
    const zoom = Math.max(READABLE, flow.getZoom())
    void flow.setCenter(box.x + box.width / 2, box.y + box.height / 2, { zoom })
  }, [wanted, layout, flow])
  const latest = useRef(canvas)
  latest.current = canvas
  return useCallback((id: string) => {
    const { drawn, view, setView, onSelect } = latest.current
    const inside = drawn.standIn.get(id)
    if (inside) {
      const folded = new Set(view.folded)
      folded.delete(
        inside.startsWith('group:') ? kindFold(inside.slice(6) as NodeKind) : attachmentFold(inside),
      )
      setView({ folded })
    }
    onSelect([id])
    setWanted(id)
  }, [])
}

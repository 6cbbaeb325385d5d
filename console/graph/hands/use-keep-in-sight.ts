/** When the drawing gets narrower, as beside a panel, what is selected stays in sight. */
import { useReactFlow } from '@xyflow/react'
import { type RefObject, useEffect, useRef } from 'react'
import type { Canvas } from '../canvas.ts'

const MARGIN = 12

export function useKeepInSight(
  canvas: Pick<Canvas, 'layout' | 'selected'>,
  root: RefObject<HTMLElement | null>,
): void {
  const flow = useReactFlow()
  const latest = useRef(canvas)
  latest.current = canvas
  useEffect(() => {
    let width = root.current?.clientWidth ?? 0
    const watcher = new ResizeObserver(() => {
      const frame = root.current?.getBoundingClientRect()
      if (!frame || frame.width >= width) {
        width = frame?.width ?? width
        return
      }
      width = frame.width
      const { layout, selected } = latest.current
      const box = layout.boxes.get(selected[0] ?? '')
      if (!box) return
      const { x } = flow.flowToScreenPosition({ x: box.x + box.width, y: box.y })
      const beyond = x + MARGIN - frame.right
      if (beyond <= 0) return
      const view = flow.getViewport()
      void flow.setViewport({ ...view, x: view.x - beyond })
    })
    if (root.current) watcher.observe(root.current)
    return () => watcher.disconnect()
  }, [flow, root])
}

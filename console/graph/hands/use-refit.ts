/** When the drawing gets lower or higher, as under a banner that comes late, all of it is brought into view again. */
import { useReactFlow } from '@xyflow/react'
import { type RefObject, useEffect, useRef } from 'react'

export const FIT = { padding: 0.08, maxZoom: 1 }

/** @returns for React Flow: who moved the view by hand keeps it as it is. */
export function useRefit(root: RefObject<HTMLElement | null>): {
  onMoveStart(event: MouseEvent | TouchEvent | null): void
} {
  const flow = useReactFlow()
  const isOwn = useRef(false)
  useEffect(() => {
    let height = root.current?.clientHeight ?? 0
    let frame = 0
    const watcher = new ResizeObserver(() => {
      const now = root.current?.clientHeight ?? height
      if (now === height) return
      height = now
      if (isOwn.current) return
      cancelAnimationFrame(frame)
      // React Flow observes its container's size itself.
      frame = requestAnimationFrame(() => void flow.fitView(FIT))
    })
    if (root.current) watcher.observe(root.current)
    return () => {
      watcher.disconnect()
      cancelAnimationFrame(frame)
    }
  }, [flow, root])
  return {
    // Without an event it was moved by a program: by this, or by the toolbar.
    onMoveStart: (event) => {
      if (event !== null) isOwn.current = true
    },
  }
}

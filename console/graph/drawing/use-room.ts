/** How much room there is for the drawing, followed as panels open and the window changes. */
import { type RefObject, useLayoutEffect, useMemo, useState } from 'react'
import type { Room } from './fit.ts'

/** Height of the toolbar where it floats over the drawing, in pixels. */
const FLOATING = 44

/** @param isUnder whether the toolbar floats over it. @returns of no width until it is measured */
export function useRoom(stage: RefObject<HTMLElement | null>, isUnder: boolean): Room {
  const [size, setSize] = useState({ width: 0, height: 0 })
  useLayoutEffect(() => {
    const box = stage.current
    if (!box) return
    const tell = () =>
      setSize((was) =>
        was.width === box.clientWidth && was.height === box.clientHeight
          ? was
          : { width: box.clientWidth, height: box.clientHeight },
      )
    tell()
    const watching = new ResizeObserver(tell)
    watching.observe(box)
    return () => watching.disconnect()
  }, [stage])
  return useMemo(() => ({ ...size, top: isUnder ? FLOATING : 0 }), [size, isUnder])
}

/** How high something may be that fills the window from where it begins, whatever stands above it. */
import { type RefObject, useLayoutEffect, useState } from 'react'

/** Padding of the page below it, in pixels. */
const BELOW = 16

/**
 * @param box what is to fill the window. @param least pixels it has at least, where the page then scrolls.
 * @returns its height as CSS
 */
export function useRoomBelow(box: RefObject<HTMLElement | null>, least: number): string {
  const [top, setTop] = useState<number | null>(null)
  useLayoutEffect(() => {
    const tell = () => {
      const shown = box.current
      if (shown) setTop(Math.round(shown.getBoundingClientRect().top + window.scrollY))
    }
    tell()
    // What stands above it comes and goes with what is known: the page changes its height with it.
    const watching = new ResizeObserver(tell)
    watching.observe(document.body)
    return () => watching.disconnect()
  }, [box])
  return top === null ? `${least}px` : `max(${least}px, calc(100dvh - ${top + BELOW}px))`
}

/** In place of react-remove-scroll: a page does not scroll behind a dialog, and nothing moves as its bar goes. */
import { type ReactNode, useLayoutEffect } from 'react'

/** Dialogs that are open: the page scrolls again once the last has gone. */
let open = 0

/** @param props enabled: a dialog is open; what else is said of it does not matter here */
export function RemoveScroll({ enabled = true, children }: { enabled?: boolean; children: ReactNode }) {
  useLayoutEffect(() => {
    if (!enabled) return
    const { style, clientWidth } = document.documentElement
    if (open === 0) {
      // Read before the bar goes: its place stays empty.
      style.scrollbarGutter = window.innerWidth > clientWidth ? 'stable' : ''
      style.overflow = 'hidden'
    }
    open += 1
    return () => {
      open -= 1
      if (open > 0) return
      style.scrollbarGutter = ''
      style.overflow = ''
    }
  }, [enabled])
  return children
}

/** Classes of what is fixed to the right edge: its place stays, so they say nothing. */
RemoveScroll.classNames = { zeroRight: '', fullWidth: '' }

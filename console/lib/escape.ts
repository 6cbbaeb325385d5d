/** Escape closes the innermost thing that is open, and nothing around it. */
import type { KeyboardEvent } from 'react'

const DIALOGS = '.mantine-Modal-content, .mantine-Drawer-content, .mantine-Spotlight-content'
/** What the component kit sets on a field whose list is open. */
const OPEN_LIST = '[data-mantine-stop-propagation="true"]'

/**
 * Dialogs of the kit close one by one only where they are told of each other, and else all at once. Must be called
 * before any is drawn: its listener comes first.
 * @param closePalette closes the command palette, which has no button for it
 */
export function closeInnermostOnEscape(closePalette: () => void): void {
  window.addEventListener(
    'keydown',
    (event) => {
      if (event.key !== 'Escape' || event.isComposing) return
      if (event.target instanceof Element && event.target.matches(OPEN_LIST)) return
      const open = [...document.querySelectorAll<HTMLElement>(DIALOGS)]
      if (open.length < 2) return
      event.stopImmediatePropagation()
      event.preventDefault()
      const inner = open.reduce((top, one) => (layerOf(one) >= layerOf(top) ? one : top))
      if (inner.matches('.mantine-Spotlight-content')) closePalette()
      else inner.querySelector<HTMLElement>('.mantine-CloseButton-root')?.click()
    },
    { capture: true },
  )
}

/** Dialogs lie over each other by z-index, and by where they are in the document where that is the same. */
function layerOf(dialog: HTMLElement): number {
  const inner = dialog.closest<HTMLElement>('[class*="-inner"]')
  return Number(getComputedStyle(inner ?? dialog).zIndex) || 0
}

/** Whether nothing inside, such as an open list or a menu, takes this Escape for itself. */
export const isOutermost = ({ target, currentTarget, defaultPrevented }: KeyboardEvent): boolean =>
  !defaultPrevented &&
  // What is drawn elsewhere in the document is inside all the same, to React.
  currentTarget.contains(target as Node) &&
  !(target as Element).matches(OPEN_LIST)

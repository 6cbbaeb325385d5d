/** Browsers print no backgrounds: in the dark scheme a page would be pale text on white paper. */

const SCHEME = 'data-mantine-color-scheme'

/** Prints pages in the light scheme, whichever is on the screen. */
export function printLight(): void {
  const root = document.documentElement
  let onScreen: string | null = null
  window.addEventListener('beforeprint', () => {
    onScreen = root.getAttribute(SCHEME)
    root.setAttribute(SCHEME, 'light')
  })
  window.addEventListener('afterprint', () => {
    if (onScreen !== null) root.setAttribute(SCHEME, onScreen)
    onScreen = null
  })
}

/**
 * The page's own sign that it is ready: once a page is on the screen and listens to its keys, the root element
 * names its path in `data-page`. Whatever drives the console from outside waits for it.
 */
import { useEffect } from 'react'
import { useLocation } from 'react-router'

/** Comes after the page in the tree: effects run in that order, so that those of the page have run. */
export function PageReady() {
  const { pathname } = useLocation()
  // biome-ignore lint/correctness/useExhaustiveDependencies: it is set anew for each page.
  useEffect(() => {
    document.documentElement.dataset.page = window.location.pathname
  }, [pathname])
  return null
}

/**
 * The page's own sign that it is ready: once a page is on the screen and listens to its keys, the root element
 * names its path in `data-page`. Whatever drives the console from outside waits for it.
 */
import { useEffect } from 'react'
import { useLocation } from 'react-router'

/** Comes after the page in the tree: effects run in that order, so that those of the page have run. */
export function PageReady() {
  const { pathname } = useLocation()
  useEffect(() => {
    // That of what is drawn: the window's is of the next page already while that one loads.
    document.documentElement.dataset.page = pathname
  }, [pathname])
  return null
}

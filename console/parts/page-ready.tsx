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
    // That of the page on the screen: the window may be on its way to another. Written as the window writes it.
    document.documentElement.dataset.page = new URL(pathname, window.location.origin).pathname
  }, [pathname])
  return null
}

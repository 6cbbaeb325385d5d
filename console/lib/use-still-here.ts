import { useCallback } from 'react'
import { useLocation } from 'react-router'

/**
 * For what changes the address a moment later, such as once typing has stopped: a page stays drawn until the next
 * one is loaded, and must not call back who has gone on.
 * @returns whether the address is still that of the page that is drawn
 */
export function useStillHere(): () => boolean {
  const { pathname } = useLocation()
  return useCallback(() => window.location.pathname === pathname, [pathname])
}

/** The name that acts of this browser are shown with, typed once; a key's name and a proxy's header go before it. */
import { useSyncExternalStore } from 'react'

const KEY = 'svc:name'
const listeners = new Set<() => void>()

/** Null: none was typed. */
export const actorName = (): string | null => window.localStorage.getItem(KEY)

export function setActorName(name: string): void {
  if (name.trim()) window.localStorage.setItem(KEY, name.trim().slice(0, 100))
  else window.localStorage.removeItem(KEY)
  for (const listener of listeners) listener()
}

const subscribe = (listener: () => void) => {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

export const useActorName = (): string | null => useSyncExternalStore(subscribe, actorName)

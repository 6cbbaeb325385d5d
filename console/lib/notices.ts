/**
 * Notices in a corner: what was done, with Undo, and what failed. The component kit's own package for them is larger than
 * what the shell has left of its 200 kB (the console's brief, section 7; test/console/bundle.test.ts).
 */
import type { ReactNode } from 'react'

export interface Notice {
  /** A later one of the same id replaces it. */
  id: string
  title?: string
  message: ReactNode
  color?: string
  /** Milliseconds it stands, unless a pointer or the focus is on it. */
  autoClose: number
  /** Called when it is gone, closed or timed out. */
  onClose?: () => void
}

const STANDS_MS = 4_000
/** More would hide the page: the oldest goes. */
const MOST = 5

let shown: readonly Notice[] = []
let last = 0
const told = new Set<() => void>()

function set(next: readonly Notice[]): void {
  const gone = shown.filter((one) => !next.includes(one))
  shown = next
  for (const tell of told) tell()
  for (const { onClose } of gone) onClose?.()
}

export const notifications = {
  show(notice: Omit<Notice, 'id' | 'autoClose'> & Partial<Notice>): void {
    last += 1
    const made = { id: `notice-${last}`, autoClose: STANDS_MS, ...notice }
    set([...shown.filter(({ id }) => id !== made.id), made].slice(-MOST))
  },
  hide(id: string): void {
    set(shown.filter((one) => one.id !== id))
  },
}

/** For useSyncExternalStore. */
export const onNotices = (tell: () => void): (() => void) => {
  told.add(tell)
  return () => told.delete(tell)
}

export const shownNotices = (): readonly Notice[] => shown

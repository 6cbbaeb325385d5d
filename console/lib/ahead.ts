/**
 * A page that a pointer rests on, or that the focus is on, is loaded before it is asked for: its files, and what it reads
 * first. Little each time: files are loaded once, and few reads are kept, for seconds.
 */
import { readsAhead } from './first-reads.ts'

/** A pointer that only passes rests less, milliseconds. */
const RESTS_MS = 80

let timer: ReturnType<typeof setTimeout> | undefined
let on: string | null = null

function turnTo(event: Event): void {
  const link =
    event.target instanceof Element ? event.target.closest<HTMLAnchorElement>('a[href^="/"]') : null
  const href = link?.pathname === window.location.pathname ? null : (link?.href ?? null)
  if (href === on) return
  on = href
  clearTimeout(timer)
  if (link && href) timer = setTimeout(() => load(link), RESTS_MS)
}

function load({ pathname, search, origin, target }: HTMLAnchorElement): void {
  if (origin !== window.location.origin || (target !== '' && target !== '_self')) return
  window.svcPages?.load(pathname)
  const read = window.svcPages?.readOf(pathname, search)
  if (read) readsAhead.begin(read)
}

/** Once, when the console begins; nothing for those who save data. */
export function loadAhead(): void {
  const { connection } = navigator as Navigator & { connection?: { saveData?: boolean } }
  if (connection?.saveData) return
  document.addEventListener('pointerover', turnTo, { passive: true })
  document.addEventListener('focusin', turnTo)
}

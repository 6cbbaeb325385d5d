/**
 * What a page asks first is asked by index.html while the files of the console are still on their way; here its
 * answers are handed on, each once.
 */

declare global {
  interface Window {
    /** By path, as they were asked. Absent: nothing was asked, such as where a login is under way. */
    svcFirst?: Record<string, Promise<Response>>
    /** What first.js knows of pages: loads their files, gives what they ask first, and asks it. */
    svcPages?: {
      load: (pathname: string) => void
      readOf: (pathname: string, search: string) => string | null
      ask: (path: string) => Promise<Response>
    }
  }
}

/** An answer that nobody took so long is not news any more, milliseconds since the page began. */
const TAKEN_MS = 30_000

/** An answer that was asked ahead is as good as one in the cache of the page, milliseconds. */
const AHEAD_MS = 5_000
const AHEAD_MOST = 4
const ahead = new Map<string, { answer: Promise<Response>; at: number }>()

/** Asks what a page will ask, once for a while. */
export function readAhead(path: string): void {
  const now = performance.now()
  for (const [asked, { at }] of ahead) if (now - at > AHEAD_MS) ahead.delete(asked)
  if (ahead.has(path) || ahead.size >= AHEAD_MOST) return
  const answer = window.svcPages?.ask(path)
  if (answer) ahead.set(path, { answer, at: now })
}

/** Something is written: what was asked ahead, before or meanwhile, may be what was there before it. */
export function dropReadsAhead(): void {
  ahead.clear()
}

/** @returns the answer that is on its way; undefined: ask for it */
export function firstRead(method: string, path: string): Promise<Response> | undefined {
  if (method !== 'GET') return undefined
  const asked = ahead.get(path)
  ahead.delete(path)
  if (asked && performance.now() - asked.at <= AHEAD_MS) return asked.answer
  const early = globalThis.window?.svcFirst
  const found = early?.[path]
  if (!early || !found) return undefined
  delete early[path]
  return performance.now() < TAKEN_MS ? found : undefined
}

/** What was asked as somebody who is no more is asked anew. */
export function forgetFirstReads(): void {
  delete window.svcFirst
  dropReadsAhead()
}

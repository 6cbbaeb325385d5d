/**
 * What a page asks first is asked by index.html while the files of the console are still on their way; here its
 * answers are handed on, each once.
 */
import { ReadsAhead } from './reads-ahead.ts'

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

/** What pages will ask that a pointer rests on. */
export const readsAhead = new ReadsAhead((path) => window.svcPages?.ask(path))

/** @returns the answer that is on its way; undefined: ask for it */
export function firstRead(method: string, path: string): Promise<Response> | undefined {
  if (method !== 'GET') return undefined
  const ahead = readsAhead.take(path)
  if (ahead) return ahead
  const early = globalThis.window?.svcFirst
  const found = early?.[path]
  if (!early || !found) return undefined
  delete early[path]
  return performance.now() < TAKEN_MS ? found : undefined
}

/** What was asked as somebody who is no more is asked anew. */
export function forgetFirstReads(): void {
  delete window.svcFirst
  readsAhead.drop()
}

/** Tells those who wait for money that some may be free. */
import type { Timers } from '../clock.ts'

/** What Ask gives back is not told here: those who wait look again by themselves. */
const LOOK_MS = 2_000

export interface Freed {
  /** A call of a model has ended. */
  tell(): void
  /** Resolves when one has, or after a while. @throws the reason of the signal */
  wait(signal: AbortSignal): Promise<void>
}

export function createFreed(timers: Timers): Freed {
  const waiting = new Set<() => void>()
  return {
    tell: () => {
      for (const go of [...waiting]) go()
    },
    wait: (signal) =>
      new Promise<void>((resolve, reject) => {
        signal.throwIfAborted()
        const end = (settle: () => void) => {
          callOff()
          waiting.delete(go)
          signal.removeEventListener('abort', abort)
          settle()
        }
        const go = () => end(resolve)
        const abort = () => end(() => reject(signal.reason))
        const callOff = timers.after(LOOK_MS, go)
        waiting.add(go)
        signal.addEventListener('abort', abort, { once: true })
      }),
  }
}

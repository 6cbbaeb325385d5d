/**
 * The loop of every worker that takes up what waits in rows: it looks at once when nudged, one look at a time, and
 * again after a pause where a look failed. What is found is taken up by whoever looks; this only decides when.
 */
import type { Timers } from '../clock.ts'

export interface WorkerLoop {
  /** Something may be due. */
  nudge(): void
  /** Looks again in a while, or at once when nudged before. @param ms from now */
  again(ms: number): void
  /** No look begins any more. */
  stop(): void
}

const SHORTEST_PAUSE_MS = 1_000
const LONGEST_PAUSE_MS = 30_000

/**
 * @param look takes up what is due. @returns after how many ms to look again; null: not before a nudge.
 * @param onError told what a look throws.
 */
export function createWorkerLoop({
  look,
  timers,
  onError,
}: {
  look(): Promise<number | null>
  timers: Timers
  onError(error: Error): void
}): WorkerLoop {
  let isLooking = false
  let isNudged = false
  let isStopped = false
  /** A look failed: until the pause is over, nudges wait. */
  let isPaused = false
  let failures = 0
  let callOff = () => {}

  async function lookOn(): Promise<void> {
    isLooking = true
    callOff()
    try {
      let next: number | null = null
      while (isNudged && !isStopped) {
        isNudged = false
        next = await look()
      }
      failures = 0
      if (next !== null) again(next)
    } catch (error) {
      onError(error instanceof Error ? error : new Error(String(error)))
      isPaused = true
      again(pauseOf(++failures))
    }
    isLooking = false
    // Nudged while a look failed: what waits then waits for the pause.
    isNudged = false
  }

  function again(ms: number): void {
    callOff()
    if (isStopped) return
    callOff = timers.after(ms, () => {
      isPaused = false
      nudge()
    })
  }

  function nudge(): void {
    if (isStopped || isPaused) return
    isNudged = true
    if (!isLooking) void lookOn()
  }

  return {
    nudge,
    again: (ms) => {
      if (!isPaused) again(ms)
    },
    stop: () => {
      isStopped = true
      callOff()
    },
  }
}

/** Milliseconds after so many failures in a row: a second, then twice as long each time, half a minute at most. */
export function pauseOf(failures: number): number {
  return Math.min(SHORTEST_PAUSE_MS * 2 ** (failures - 1), LONGEST_PAUSE_MS)
}

/** Waits for all of them, but no longer than so long. @param ms none: as long as it takes */
export async function settled(work: Iterable<Promise<unknown>>, timers: Timers, ms: number): Promise<void> {
  const all = Promise.allSettled([...work])
  await new Promise<void>((resolve) => {
    const cancel = timers.after(ms, resolve)
    void all.then(() => {
      cancel()
      resolve()
    })
  })
}

/** Injected time, so that nothing in the engine reads the wall clock, or sleeps, by itself. */
export interface Clock {
  /** Wall time, epoch milliseconds. */
  now(): number
}

export const systemClock: Clock = { now: () => Date.now() }

/** Waiting, injected likewise. */
export interface Timers {
  /** Calls `fn` once after at least `ms` milliseconds. @returns how to call it off. */
  after(ms: number, fn: () => void): () => void
}

/** Node's own timers; they do not keep the process alive by themselves. */
export const systemTimers: Timers = {
  after(ms, fn) {
    const handle = setTimeout(fn, ms)
    handle.unref()
    return () => clearTimeout(handle)
  },
}

/** Injected time, so that nothing in the engine reads the wall clock, or sleeps, by itself. */
export interface Clock {
  /** Wall time, epoch milliseconds. */
  now(): number
}

export const systemClock: Clock = { now: () => Date.now() }

/**
 * The clock of several threads.
 * @param memory of eight bytes, in which tests set epoch milliseconds as a float; absent: the wall clock.
 */
export function clockIn(memory: SharedArrayBuffer | undefined): Clock {
  if (!memory) return systemClock
  const time = new Float64Array(memory)
  return { now: () => time[0]! }
}

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

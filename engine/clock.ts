/** Injected time, so that nothing in the engine reads the wall clock by itself. */
export interface Clock {
  /** Wall time, epoch milliseconds. */
  now(): number
}

export const systemClock: Clock = { now: () => Date.now() }

/** Injected time, so that nothing in the engine reads the wall clock, or sleeps, by itself. */
export interface Clock {
  /** Wall time, epoch milliseconds. */
  now(): number
  /** Milliseconds of a clock that nobody sets; absent: the wall clock is all there is. */
  elapsed?(): number
}

export const systemClock: Clock = { now: () => Date.now(), elapsed: () => performance.now() }

/** A clock that was further ahead was wrong by more than anybody wants to make up for, ms. */
const MADE_UP_MS = 24 * 60 * 60_000

/**
 * A clock that is not set back: it goes on at half the pace until the wall clock has caught up. What ends by a time
 * that was told before, such as a burst or a cooldown, would else last longer by as much as the clock was set back.
 * @param from what was told before the start, epoch ms
 */
export function neverSetBack(clock: Clock, from: number): Clock {
  let last = { at: from, elapsed: clock.elapsed?.() ?? 0 }
  return {
    now(): number {
      const [now, elapsed] = [clock.now(), clock.elapsed?.()]
      if (elapsed === undefined) return now
      const on = last.at + (elapsed - last.elapsed) / 2
      const at = on > now + MADE_UP_MS ? now : Math.max(now, on)
      last = { at, elapsed }
      return Math.trunc(at)
    },
  }
}

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

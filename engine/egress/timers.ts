/** Injected waiting, so that nothing in the engine sleeps by itself and tests move time by hand. */

export interface Timers {
  /** Calls `fn` once after at least `ms` milliseconds. @returns how to call it off. */
  after(ms: number, fn: () => void): () => void
}

/** What a host offers; the process hands in Node's own pair. */
type Schedule = (fn: () => void, ms: number) => { unref?(): unknown }
type Cancel = (handle: never) => void

/** Timers over a host's pair of functions. They do not keep the process alive by themselves. */
export function timersOf(schedule: Schedule, cancel: Cancel): Timers {
  return {
    after(ms, fn) {
      const handle = schedule(fn, ms)
      handle.unref?.()
      return () => cancel(handle as never)
    },
  }
}

/**
 * A promise bounded in time and by a signal. The promise itself runs on: what it holds has to end by
 * another way.
 * @param ms milliseconds.
 * @returns its value, or which bound came first. @throws what the promise throws, within the bounds.
 */
export function within<T>(
  timers: Timers,
  ms: number,
  signal: AbortSignal | undefined,
  promise: Promise<T>,
): Promise<{ value: T } | 'timeout' | 'aborted'> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) {
      promise.catch(() => {})
      return resolve('aborted')
    }
    const abort = () => end(() => resolve('aborted'))
    const cancel = timers.after(ms, () => end(() => resolve('timeout')))
    const end = (settle: () => void) => {
      cancel()
      signal?.removeEventListener('abort', abort)
      settle()
    }
    signal?.addEventListener('abort', abort, { once: true })
    promise.then(
      (value) => end(() => resolve({ value })),
      (error) => end(() => reject(error)),
    )
  })
}

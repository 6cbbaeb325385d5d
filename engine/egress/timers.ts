/** Bounded waiting. */
import type { Timers } from '../clock.ts'

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

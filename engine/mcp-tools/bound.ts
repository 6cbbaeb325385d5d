/** Work bounded in time and by signals, which it is told of. */
import type { Timers } from '../clock.ts'

export interface Bounds {
  timers: Timers
  ms: number
  signals: readonly (AbortSignal | undefined)[]
}

/** Ended by its time or by who asked for it. */
export class CutOff extends Error {}

/**
 * @returns what `run` answers. @throws what it throws; CutOff, or an Error that a signal was aborted
 * with, whichever comes first. What goes on after that is told by the signal `run` is given.
 */
export async function bounded<T>(
  { timers, ms, signals }: Bounds,
  run: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const own = new AbortController()
  const given = signals.filter((signal) => signal !== undefined)
  const abort = (event: Event) => own.abort((event.target as AbortSignal).reason)
  const cancel = timers.after(ms, () => own.abort(new CutOff(`no answer within ${Math.round(ms / 1_000)} s`)))
  for (const signal of given) signal.addEventListener('abort', abort, { once: true })
  try {
    return await new Promise<T>((resolve, reject) => {
      const cut = () => reject(own.signal.reason instanceof Error ? own.signal.reason : new CutOff('cut off'))
      own.signal.addEventListener('abort', cut, { once: true })
      if (given.some((signal) => signal.aborted)) return reject(new CutOff('cut off'))
      run(own.signal).then(resolve, reject)
    })
  } finally {
    cancel()
    for (const signal of given) signal.removeEventListener('abort', abort)
  }
}

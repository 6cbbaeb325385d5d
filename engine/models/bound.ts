/** The bounds of a call: its time, its caller's signal, and for each try how long nothing may come. */
import type { Clock, Timers } from '../clock.ts'
import type { Provider } from './config.ts'
import { ModelFault } from './types.ts'

/** One try of a call. */
export interface Trial {
  /** Cut off with the try, or with the call. */
  signal: AbortSignal
  /** Nothing came for as long as may be. */
  isIdle: boolean
  /** Something came. */
  heard(): void
  /** A promise, until the bound: what hangs is left behind. */
  race<T>(promise: Promise<T>): Promise<T>
  end(): void
}

export interface Bound {
  signal: AbortSignal
  trial(): Trial
  /** What the bound was, once it was reached. */
  fault(provider: Provider): ModelFault | null
  release(): void
}

export interface BoundOptions {
  /** Milliseconds for all of it; undefined: none. */
  timeoutMs: number | undefined
  /** Milliseconds of a try without a byte. */
  idleMs: number
  signal: AbortSignal | undefined
}

/** The deadline of a call and its caller's signal as one. */
export function boundOf(time: Clock & Timers, { timeoutMs, idleMs, signal: caller }: BoundOptions): Bound {
  const controller = new AbortController()
  const { signal } = controller
  let reached: 'timeout' | 'aborted' | null = null
  const cut = (why: 'timeout' | 'aborted') => {
    reached ??= why
    controller.abort()
  }
  const cancel = timeoutMs === undefined ? () => {} : time.after(timeoutMs, () => cut('timeout'))
  const abort = () => cut('aborted')
  if (caller?.aborted) abort()
  else caller?.addEventListener('abort', abort, { once: true })
  return {
    signal,
    trial: () => trialOf(time, idleMs, signal),
    fault(provider) {
      if (reached === null) return null
      const text =
        reached === 'timeout' ? `no reply within ${secondsOf(timeoutMs ?? 0)} s` : 'the call was cut off'
      return new ModelFault(reached, `${provider.id}: ${text}`, provider.id)
    },
    release() {
      cancel()
      caller?.removeEventListener('abort', abort)
    },
  }
}

const secondsOf = (ms: number): number => Math.round(ms / 1_000)

/** What a try that nothing came of for so long comes to. */
export const idleFault = (provider: Provider, idleMs: number): ModelFault =>
  new ModelFault('timeout', `${provider.id}: nothing came for ${secondsOf(idleMs)} s`, provider.id, null, {
    waitMs: null,
  })

function trialOf(time: Clock & Timers, idleMs: number, call: AbortSignal): Trial {
  const controller = new AbortController()
  const { signal } = controller
  let heardAt = time.now()
  let callOff = () => {}
  const end = () => {
    callOff()
    controller.abort()
  }
  const trial: Trial = {
    signal,
    isIdle: false,
    heard: () => {
      heardAt = time.now()
    },
    race: (promise) =>
      new Promise((resolve, reject) => {
        const stop = () => reject(new Error('cut off'))
        if (signal.aborted) stop()
        signal.addEventListener('abort', stop, { once: true })
        promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop))
      }),
    end() {
      call.removeEventListener('abort', end)
      // What is still open of the try is closed.
      end()
    },
  }
  // One timer for a try, not one for each of its thousands of pieces.
  const watch = (ms: number) => {
    callOff = time.after(ms, () => {
      const left = heardAt + idleMs - time.now()
      if (left > 0) return watch(left)
      trial.isIdle = true
      end()
    })
  }
  if (call.aborted) end()
  else {
    call.addEventListener('abort', end, { once: true })
    watch(idleMs)
  }
  return trial
}

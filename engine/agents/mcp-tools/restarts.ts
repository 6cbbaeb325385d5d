/** Programs that ended are started again within a run; those that do not start are left alone between runs. */
import type { Clock, Timers } from '../../clock.ts'
import type { Connection } from './connection.ts'

/* Starting again what has ended. */

/** Of one program within a run. */
const STARTS_MAX = 4
const WAIT_MS = 1_000

/**
 * A connection to a program that is started again by the call after it ended: after 1, 2 and 4 s, three times at most.
 * @throws Error with a sentence where the first start fails
 */
export async function keptRunning(open: () => Promise<Connection>, timers: Timers): Promise<Connection> {
  let now = await open()
  let starts = 1
  let isClosed = false
  let starting: Promise<Connection> | null = null
  const again = async (): Promise<Connection> => {
    const why = now.over()
    if (starts >= STARTS_MAX)
      throw new Error(`${why}; it was started ${starts} times and is not again in this run`)
    await now.close()
    await new Promise<void>((resolve) => void timers.after(WAIT_MS * 2 ** (starts - 1), resolve))
    if (isClosed) throw new Error('the run has ended')
    starts++
    now = await open()
    if (isClosed) await now.close()
    return now
  }
  const live = async (): Promise<Connection> => {
    if (now.over() === null) return now
    starting ??= again().finally(() => {
      starting = null
    })
    return starting
  }
  return {
    list: async () => (await live()).list(),
    call: async (tool, args, signal) => (await live()).call(tool, args, signal),
    over: () => now.over(),
    close: async () => {
      isClosed = true
      await now.close()
    },
  }
}

/* Between runs. */

/** From one start that fails to the next. */
const REST_MS = 1_000
const REST_MAX_MS = 60_000

/** Programs that did not start are left alone for a while, which doubles: a run must not wait for what cannot be. */
export function createRests(clock: Clock) {
  const failed = new Map<string, { times: number; until: number; why: string }>()
  return {
    /** Why one is not started now; null: it may be. @param name address of a program */
    of(name: string): string | null {
      const rest = failed.get(name)
      const left = rest ? rest.until - clock.now() : 0
      return left > 0 ? `${rest!.why}; it is started again in ${Math.ceil(left / 1_000)} s` : null
    },
    tell(name: string, why: string | null): void {
      if (why === null) return void failed.delete(name)
      const times = (failed.get(name)?.times ?? 0) + 1
      const ms = Math.min(REST_MAX_MS, REST_MS * 2 ** (times - 1))
      failed.set(name, { times, until: clock.now() + ms, why })
    },
  }
}

export type Rests = ReturnType<typeof createRests>

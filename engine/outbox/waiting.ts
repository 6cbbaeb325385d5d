/**
 * Callers who wait for a firing. Each asks at once, and again whenever a commit left something to be
 * delivered; who came first is asked first. Nothing is kept: a caller that goes away was never there.
 */
import type { Timers } from '../clock.ts'
import type { Leased } from './senders/fetch.ts'

/** How a waiting caller takes a delivery, and gives one back that it is no longer there for. */
export interface Taking {
  claim(): Promise<Leased | null>
  giveBack(leased: Leased): Promise<void>
}

export interface Waiting {
  /**
   * @param timeoutMs how long to wait; 0 asks once.
   * @param signal the caller went away: nothing is taken for it.
   * @returns null: none came in that time
   */
  wait(taking: Taking, timeoutMs: number, signal: AbortSignal | undefined): Promise<Leased | null>
  /** Something may wait to be fetched. */
  nudge(): void
  /** Lets everybody go. */
  stop(): void
}

interface Waiter {
  taking: Taking
  isAsking: boolean
  /** Something came while it was asking. */
  isNudged: boolean
  settle(leased: Leased | null): void
  fail(error: unknown): void
}

/** @param onError told what giving back throws; its lease then ends by itself */
export function createWaiting(timers: Timers, onError: (error: Error) => void): Waiting {
  const waiters = new Set<Waiter>()
  let isStopped = false

  /** One claim at a time: two would take two. */
  async function ask(waiter: Waiter): Promise<void> {
    waiter.isNudged = true
    if (waiter.isAsking) return
    waiter.isAsking = true
    try {
      while (waiter.isNudged && waiters.has(waiter)) {
        waiter.isNudged = false
        const leased = await waiter.taking.claim()
        if (leased && waiters.has(waiter)) waiter.settle(leased)
        else if (leased) await waiter.taking.giveBack(leased).catch(onError)
      }
    } catch (error) {
      waiter.fail(error)
    }
    waiter.isAsking = false
  }

  return {
    nudge: () => {
      for (const waiter of waiters) void ask(waiter)
    },
    stop: () => {
      isStopped = true
      for (const waiter of waiters) waiter.settle(null)
    },
    wait: (taking, timeoutMs, signal) =>
      new Promise((resolve, reject) => {
        let callOff = () => {}
        const leave = () => {
          waiters.delete(waiter)
          callOff()
          signal?.removeEventListener('abort', gone)
        }
        const waiter: Waiter = {
          taking,
          isAsking: false,
          isNudged: false,
          settle: (leased) => {
            leave()
            resolve(leased)
          },
          fail: (error) => {
            leave()
            reject(error)
          },
        }
        const gone = () => waiter.settle(null)
        waiters.add(waiter)
        signal?.addEventListener('abort', gone)
        if (isStopped || signal?.aborted) return gone()
        void ask(waiter).then(() => {
          if (!waiters.has(waiter)) return
          if (timeoutMs <= 0) gone()
          else callOff = timers.after(timeoutMs, gone)
        })
      }),
  }
}

/** Time that stands still until a test moves it. */
import type { Clock, Timers } from '../../../../engine/clock.ts'

export interface ManualTime extends Clock, Timers {
  /** Moves time on and calls what falls due, in order. */
  advance(ms: number): void
  /** Milliseconds until each waiting timer, the nearest first. */
  waits(): number[]
}

export function manualTime(start = Date.UTC(2026, 0, 2, 3, 4, 5)): ManualTime {
  let now = start
  let waiting: { at: number; fn: () => void }[] = []
  const sorted = () => waiting.sort((a, b) => a.at - b.at)
  return {
    now: () => now,
    after(ms, fn) {
      const timer = { at: now + ms, fn }
      waiting.push(timer)
      return () => {
        waiting = waiting.filter((one) => one !== timer)
      }
    },
    advance(ms) {
      const until = now + ms
      for (let next = sorted()[0]; next && next.at <= until; next = sorted()[0]) {
        now = next.at
        waiting.shift()
        next.fn()
      }
      now = until
    },
    waits: () => sorted().map(({ at }) => at - now),
  }
}

/** Posts what waits in rows, some at once: rows are the queue, so what a stopped daemon did not post the next one does. */
import type { Clock, Timers } from './clock.ts'
import { createLooking } from './looking.ts'

export interface Posting {
  /** Something may wait. */
  nudge(): void
  /** Begins no other, and waits for what is under way. */
  stop(): Promise<void>
}

const LOOK_AGAIN_MS = 1_000
const PAUSE_MS = 10_000

/**
 * @param due those that are due and not in `busy`. @param next when the next is, epoch ms; null: none waits.
 * @param post posts one and records what came of it; what it throws is told, and the rest waits for a pause.
 */
export function createPosting<T extends { runId: string }>({
  due,
  next,
  post,
  atOnce,
  clock,
  timers,
  onError,
}: {
  due(limit: number, busy: readonly string[]): Promise<readonly T[]>
  next(): Promise<number | null>
  post(one: T): Promise<void>
  atOnce: number
  clock: Clock
  timers: Timers
  onError(error: Error): void
}): Posting {
  const posting = new Map<string, Promise<void>>()
  const looking = createLooking({ look, timers, onError })

  async function look(): Promise<number | null> {
    const free = atOnce - posting.size
    for (const one of free > 0 ? await due(free, [...posting.keys()]) : []) posting.set(one.runId, take(one))
    const at = await next()
    return at === null ? null : Math.max(LOOK_AGAIN_MS, at - clock.now())
  }

  async function take(one: T): Promise<void> {
    let isRecorded = true
    try {
      await post(one)
    } catch (error) {
      isRecorded = false
      onError(error as Error)
    }
    posting.delete(one.runId)
    if (isRecorded) looking.nudge()
    else looking.again(PAUSE_MS)
  }

  return {
    nudge: looking.nudge,
    stop: async () => {
      looking.stop()
      await Promise.allSettled(posting.values())
    },
  }
}

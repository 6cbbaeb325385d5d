/**
 * A read in steps, so that others have their turn between two of them. Each step sees one snapshot of the
 * store; what an answer speaks for is fixed by the first.
 */
import { SvcError } from '../errors.ts'
import type { ReadContext } from './timeline/context.ts'

export type Steps<T> = Generator<void, T, void>

/** A list in pieces, one for each step. */
export function* pagesOf<T>(list: readonly T[], size: number): Generator<T[], void, void> {
  for (let at = 0; at < list.length; at += size) yield list.slice(at, at + size)
}

/** All of it in one snapshot, which is the caller's. */
export function atOnce<T>(steps: Steps<T>): T {
  for (;;) {
    const { done, value } = steps.next()
    if (done) return value
  }
}

/** Step by step; whatever waits to be read comes between. */
export async function inTurns<T>(steps: Steps<T>, snapshot: Snapshot): Promise<T> {
  for (;;) {
    const { done, value } = await snapshot(() => steps.next())
    if (done) return value
    await new Promise((resolve) => setImmediate(resolve))
  }
}

/**
 * Lets few of what looks at very many rows be at work at the same time, so that the rows of few are in memory, and not of
 * all that were asked at once; the others wait in order, and reads that are no part of it come between the steps of each.
 * @param most at work at the same time
 * @returns runs what it is given, and settles as it does; whoever waits for a turn leaves the line once its signal is
 *   aborted, and rejects with its reason
 * @example
 * const inOrder = fewAtOnce(1)
 * await Promise.all([inOrder(first), inOrder(second)]) // `second` is called once `first` has settled
 */
export function fewAtOnce(most: number): <T>(run: () => Promise<T>, signal?: AbortSignal) => Promise<T> {
  const take = createPlaces(most)
  return async (run, signal) => {
    const leave = await take(1, signal)
    try {
      return await run()
    } finally {
      leave()
    }
  }
}

/** Takes places, of which there are no more than those there are. */
type TakePlaces = (count: number, signal?: AbortSignal) => Promise<() => void>

/**
 * Places of which each is somebody's at a time; who finds too few free waits in order, and has all that it asked for at
 * once, so that no two wait for what the other holds.
 * @returns takes so many, or all where there are not so many, and gives back what leaves them. Whoever waits leaves the
 *   line once its signal is aborted, and rejects with its reason
 */
export function createPlaces(most: number): TakePlaces {
  const waiting: { count: number; go(): void }[] = []
  let free = most
  const handOn = () => {
    for (let next = waiting[0]; next && next.count <= free; next = waiting[0]) {
      waiting.shift()
      free -= next.count
      setImmediate(next.go)
    }
  }
  const turn = (count: number, signal: AbortSignal | undefined) =>
    new Promise<void>((resolve, reject) => {
      const leave = () => {
        const at = waiting.indexOf(one)
        // What was handed over already is handed on by whoever has it.
        if (at < 0) return
        waiting.splice(at, 1)
        reject(signal!.reason)
        handOn()
      }
      const go = () => {
        signal?.removeEventListener('abort', leave)
        resolve()
      }
      const one = { count, go }
      waiting.push(one)
      signal?.addEventListener('abort', leave, { once: true })
    })
  return async (asked, signal) => {
    signal?.throwIfAborted()
    const count = Math.min(asked, most)
    // Whoever asks does not come before those that wait.
    if (waiting.length > 0 || count > free) await turn(count, signal)
    else free -= count
    let isTaken = true
    const leave = () => {
      if (!isTaken) return
      isTaken = false
      free += count
      handOn()
    }
    if (signal?.aborted) leave()
    signal?.throwIfAborted()
    return leave
  }
}

/* Reads on one view of the store. */

export type Snapshot = <T>(answer: () => T) => Promise<T>

/**
 * Runs each read on one snapshot of the store.
 * @param isReader true on a connection of its own, which must catch up before each read.
 * @returns a read fails with `unavailable` once the connection is closed: a long one is in the midst of its steps then
 */
export function snapshotsOf(ctx: ReadContext, isReader: boolean): Snapshot {
  // Differs from the last one if another connection has committed since; a reader writes nothing itself.
  const version = isReader ? ctx.db.prepare<[], number>('PRAGMA data_version').pluck() : null
  let seen: number | undefined
  const catchUp = (answer: () => unknown): unknown => {
    const now = version?.get()
    if (now === undefined || now !== seen) {
      ctx.index.refresh(isReader)
      ctx.names.refresh()
      seen = now
    }
    return version ? ctx.names.hold(answer) : answer()
  }
  // Deferred: the snapshot is taken by the first statement, and everything reads from it.
  const view = isReader ? ctx.db.transaction(catchUp).deferred : catchUp
  return async <T>(answer: () => T) => {
    if (!ctx.db.open) throw new SvcError('unavailable', 'the daemon is stopping', { retryAfter: 5 })
    return view(answer) as T
  }
}

/**
 * A read in steps, so that others have their turn between two of them. Each step sees one snapshot of the
 * store; what an answer speaks for is fixed by the first.
 */
import type { Snapshot } from '../snapshot.ts'

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

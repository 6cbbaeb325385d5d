/** When a source is polled next (SPEC.md, Limits: backoff up to one hour, honouring Retry-After). */

const LONGEST_BACKOFF_MS = 3_600_000

/**
 * After a poll that worked. Polls keep their pace from start to start; one that took long is followed by
 * a pause all the same. What was missed meanwhile is not made up for.
 * @param began epoch ms. @param ended epoch ms.
 */
export function afterPoll(began: number, ended: number, intervalMs: number): number {
  return Math.max(began + intervalMs, ended + intervalMs / 2)
}

/**
 * After one that failed: twice as long with each error in a row, up to an hour, spread so that sources
 * of one upstream do not return together; never sooner than the interval.
 * @param errors in a row, this one included. @param retryAfterMs what the upstream asked for; it wins.
 * @param random from 0 to below 1.
 */
export function afterError(
  ended: number,
  intervalMs: number,
  errors: number,
  retryAfterMs: number | null,
  random: number,
): number {
  if (retryAfterMs !== null) return ended + Math.max(intervalMs, Math.min(retryAfterMs, LONGEST_BACKOFF_MS))
  const wait = Math.min(intervalMs * 2 ** Math.min(errors, 30), LONGEST_BACKOFF_MS)
  return ended + Math.max(intervalMs, Math.round(wait / 2 + (wait / 2) * random))
}

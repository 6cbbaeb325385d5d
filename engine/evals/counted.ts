/** Events that stand for more of their kind, as a thinned stream keeps them: loaded as as many as they were. */
import { fail } from '../errors.ts'

/** Events of one scenario once all are loaded, noise aside. */
const LOADED_MAX = 1_000_000

interface Countable {
  t: number
  arrives?: number
  count?: number
  until?: number
}

/** An event as it is loaded; `isCopy`: one before it stands for it in the file. */
export type Counted<T> = T & { isCopy?: true }

/**
 * Each event as often as it counts, evenly over the time from `t` to `until`, so that every figure over the events is
 * that of the stream as it was.
 * @throws SvcError invalid where a count is no whole number from 1, or all of them are more than can be loaded
 */
export function counted<T extends Countable>(events: readonly T[]): readonly Counted<T>[] {
  if (events.every(({ count = 1 }) => count === 1)) return events
  requireCounts(events)
  return events.flatMap((event): Counted<T>[] => {
    const { count = 1, t, until = t, arrives } = event
    const step = count > 1 ? (until - t) / (count - 1) : 0
    return Array.from({ length: count }, (_, i) => ({
      ...event,
      t: t + i * step,
      ...(arrives === undefined ? {} : { arrives: Math.min(0, arrives + i * step) }),
      ...(i === 0 ? {} : { count: 1, isCopy: true as const }),
    }))
  })
}

function requireCounts(events: readonly Countable[]): void {
  let all = 0
  for (const [i, { count = 1, t, until = t }] of events.entries()) {
    if (!Number.isInteger(count) || count < 1)
      fail('invalid', `events[${i}].count must be a whole number from 1`, { field: 'count' })
    if (!(until >= t && until <= 0))
      fail('invalid', `events[${i}].until must be between its t and 0`, { field: 'until' })
    all += count
    if (all > LOADED_MAX)
      fail('invalid', `count: the events stand for more than ${LOADED_MAX.toLocaleString('en')}`, {
        field: 'count',
      })
  }
}

/** What a trigger should do, worked out from scratch for every event: slow, and plain to read. */
import type { AggregateCondition, SequenceCondition } from '../../../../schemas/types.ts'

export interface Plain {
  id: number
  ts: number
  at: number
  key: string
  value: number | null
  text: string
  /** Steps of a sequence it is. */
  steps: readonly number[]
}

export interface Crossed {
  id: number
  value: number | null
  ids: number[]
}

/** The window of the first end that meets the predicate, of those the newest event is in. */
export function aggregated(
  events: readonly Plain[],
  condition: AggregateCondition,
  windowMs: number,
  holds: (value: number) => boolean,
): Crossed | null {
  const event = events.at(-1)!
  const counts = (one: Plain) =>
    condition.aggregate === 'count' || condition.aggregate === 'distinct' || one.value !== null
  if (!counts(event)) return null
  const same = events.filter((one) => one.key === event.key && counts(one))
  const sorted = [...same].sort((a, b) => a.ts - b.ts || a.id - b.id)
  const ends = sorted.filter(({ ts }) => ts > event.ts && ts < event.ts + windowMs).map(({ ts }) => ts)
  // The window that ends with the event holds those before it of the same instant, none after.
  const own = sorted.filter(
    ({ ts, id }) => ts > event.ts - windowMs && (ts < event.ts || (ts === event.ts && id <= event.id)),
  )
  const windows = [own, ...ends.map((end) => sorted.filter(({ ts }) => ts > end - windowMs && ts <= end))]
  for (const window of windows) {
    const value = aggregateOf(window, condition)
    if (holds(value)) return { id: event.id, value, ids: window.map(({ id }) => id).sort((a, b) => a - b) }
  }
  return null
}

function aggregateOf(window: readonly Plain[], { aggregate }: AggregateCondition): number {
  const numbers = window.map(({ value }) => value!)
  switch (aggregate) {
    case 'sum':
      return numbers.reduce((a, b) => a + b, 0)
    case 'avg':
      return numbers.reduce((a, b) => a + b, 0) / numbers.length
    case 'min':
      return Math.min(...numbers)
    case 'max':
    case 'any':
      return Math.max(...numbers)
    case 'distinct':
      return new Set(window.map(({ text }) => text)).size
    default:
      return window.length
  }
}

/** Whether any chain of steps within the span goes through the newest event: tries them all. */
export function sequenced(events: readonly Plain[], condition: SequenceCondition, withinMs: number): boolean {
  const event = events.at(-1)!
  const sorted = events.filter(({ key }) => key === event.key).sort((a, b) => a.ts - b.ts || a.id - b.id)
  const chains = (step: number, from: number): Plain[][] => {
    if (step === condition.sequence.length) return [[]]
    return sorted.flatMap((one, at) =>
      at >= from && one.steps.includes(step) ? chains(step + 1, at + 1).map((rest) => [one, ...rest]) : [],
    )
  }
  return chains(0, 0).some((chain) => chain.includes(event) && chain.at(-1)!.ts - chain[0]!.ts <= withinMs)
}

/** Times of log lines to the nanosecond, in one form of fixed width, so that they compare as texts. */

/** `2026-11-20T12:00:00.123456789Z`: always UTC, always nine digits. */
export type Stamp = string

const RFC3339 = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d)$/

/** @param text RFC 3339 with any fraction and zone; null where it is no such time. */
export function parseStamp(text: string): Stamp | null {
  const match = RFC3339.exec(text)
  if (!match) return null
  const [, day, time, fraction = '', zone] = match
  const nanos = fraction.padEnd(9, '0')
  if (zone === 'Z') return `${day}T${time}.${nanos}Z`
  const ms = Date.parse(`${day}T${time}${zone}`)
  return Number.isNaN(ms) ? null : `${new Date(ms).toISOString().slice(0, 19)}.${nanos}Z`
}

/** @param ms epoch milliseconds. */
export const stampOf = (ms: number): Stamp => `${new Date(ms).toISOString().slice(0, 23)}000000Z`

/** Epoch milliseconds; the rest is cut. */
export const msOf = (stamp: Stamp): number => Date.parse(`${stamp.slice(0, 23)}Z`)

/** As the engine takes it in a query: Unix seconds with a fraction. @param ms epoch milliseconds */
export function sinceOf(ms: number): string {
  const from = Math.max(0, Math.floor(ms))
  return `${Math.floor(from / 1000)}.${String(from % 1000).padStart(3, '0')}000000`
}

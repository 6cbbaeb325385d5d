/** Times as people read them. */

const UNITS: [number, string][] = [
  [86_400_000, 'd'],
  [3_600_000, 'h'],
  [60_000, 'm'],
  [1_000, 's'],
]

/** "3m ago", "in 5s", "just now". @param now epoch ms. */
export function relative(iso: string, now: number): string {
  const ms = now - Date.parse(iso)
  const size = Math.abs(ms)
  for (const [unit, name] of UNITS)
    if (size >= unit)
      return ms >= 0 ? `${Math.floor(size / unit)}${name} ago` : `in ${Math.floor(size / unit)}${name}`
  return 'just now'
}

const pad = (n: number, width = 2): string => String(n).padStart(width, '0')

/** Local time to the millisecond: 14:03:07.120, with the day when it is another one. */
export function clock(iso: string, now: number): string {
  const at = new Date(iso)
  const time = `${pad(at.getHours())}:${pad(at.getMinutes())}:${pad(at.getSeconds())}.${pad(at.getMilliseconds(), 3)}`
  return new Date(now).toDateString() === at.toDateString()
    ? time
    : `${pad(at.getMonth() + 1)}-${pad(at.getDate())} ${time}`
}

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

/**
 * Local time for lists and heads: 07:58 today; Nov 14, 07:58 this year; else 2025-11-14 07:58.
 * @param at instant, and now, ms since the epoch @param seconds whether they are told, too: 07:58:39
 */
export function moment(at: number, now: number, seconds = false): string {
  const [then, today] = [new Date(at), new Date(now)]
  const time = `${pad(then.getHours())}:${pad(then.getMinutes())}${seconds ? `:${pad(then.getSeconds())}` : ''}`
  if (then.toDateString() === today.toDateString()) return time
  if (then.getFullYear() === today.getFullYear())
    return `${MONTHS[then.getMonth()]} ${then.getDate()}, ${time}`
  return `${then.getFullYear()}-${pad(then.getMonth() + 1)}-${pad(then.getDate())} ${time}`
}

/** 12,345 */
export const count = (n: number): string => n.toLocaleString('en-US')

/** Value of a datetime-local input for an instant, and back. */
export function toLocalInput(iso: string): string {
  const at = new Date(iso)
  return `${at.getFullYear()}-${pad(at.getMonth() + 1)}-${pad(at.getDate())}T${pad(at.getHours())}:${pad(at.getMinutes())}:${pad(at.getSeconds())}`
}
export const fromLocalInput = (value: string): string | null =>
  value && !Number.isNaN(Date.parse(value)) ? new Date(value).toISOString() : null

/** 15m in milliseconds; 0 for what is no length of time. */
export function durationMs(text: string): number {
  const [, n, unit] = /^(\d+(?:\.\d+)?)(s|m|h|d)$/.exec(text.trim()) ?? []
  return Number(n ?? 0) * (UNITS.find(([, name]) => name === unit)?.[0] ?? 0)
}

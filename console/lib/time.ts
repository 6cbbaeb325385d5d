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

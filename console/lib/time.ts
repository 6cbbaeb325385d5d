/**
 * Times, lengths of time and numbers as people read them: the one place where they are put into words (the table
 * "Format" of the console's brief). Times are of the browser's zone, which the head of the console names once.
 */

const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

const pad = (n: number, width = 2): string => String(n).padStart(width, '0')

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

/**
 * Local time for lists and heads: 07:58 today; Nov 14, 07:58 this year; else 2025-11-14 07:58.
 * @param at instant, and now, ms since the epoch @param seconds whether they are told, too: 07:58:39
 */
export function moment(at: number, now: number, seconds = false): string {
  const then = new Date(at)
  return dated(then, new Date(now), `${minuteOf(then)}${seconds ? `:${pad(then.getSeconds())}` : ''}`)
}

/** The same to the millisecond, for timelines: 14:03:07.120. @param iso instant @param now epoch ms */
export function clock(iso: string, now: number): string {
  const then = new Date(iso)
  const rest = `${pad(then.getSeconds())}.${pad(then.getMilliseconds(), 3)}`
  return dated(then, new Date(now), `${minuteOf(then)}:${rest}`)
}

const minuteOf = (then: Date): string => `${pad(then.getHours())}:${pad(then.getMinutes())}`

/** With the day where it is not today's, and with the year where it is not this one. */
function dated(then: Date, today: Date, time: string): string {
  if (then.toDateString() === today.toDateString()) return time
  if (then.getFullYear() === today.getFullYear())
    return `${MONTHS[then.getMonth()]} ${then.getDate()}, ${time}`
  return `${then.getFullYear()}-${pad(then.getMonth() + 1)}-${pad(then.getDate())} ${time}`
}

/** A local day: Nov 14, in another year 2025-11-14. @param at and now, ms since the epoch */
export function day(at: number, now: number): string {
  const [then, today] = [new Date(at), new Date(now)]
  return then.getFullYear() === today.getFullYear()
    ? `${MONTHS[then.getMonth()]} ${then.getDate()}`
    : `${then.getFullYear()}-${pad(then.getMonth() + 1)}-${pad(then.getDate())}`
}

/** UTC+1, UTC-3:30: the zone of this browser on a day. */
export function zoneName(on: Date): string {
  const minutes = -on.getTimezoneOffset()
  const size = Math.abs(minutes)
  const rest = size % 60 ? `:${pad(size % 60)}` : ''
  return minutes === 0 ? 'UTC' : `UTC${minutes < 0 ? '-' : '+'}${Math.floor(size / 60)}${rest}`
}

/** An instant to copy or compare: as here, in UTC, and as ISO 8601. @param now epoch ms */
export function instantWords(iso: string, now: number): { local: string; utc: string; iso: string } {
  const at = new Date(iso)
  const whole = at.toISOString()
  return {
    local: `${moment(at.getTime(), now, true)} ${zoneName(at)}`,
    utc: `${whole.slice(0, 10)} ${whole.slice(11, 19)} UTC`,
    iso: whole,
  }
}

/** 34 s, 12 min, 2 h 5 min, 3 d. */
export function lasting(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / SECOND))
  if (seconds < 60) return `${seconds} s`
  const minutes = Math.floor(seconds / 60)
  if (minutes < 60) return `${minutes} min`
  const hours = Math.floor(minutes / 60)
  if (hours < 48) return minutes % 60 && hours < 10 ? `${hours} h ${minutes % 60} min` : `${hours} h`
  return `${Math.floor(hours / 24)} d`
}

/** 930 ms, 1.2 s, then as `lasting` has it; null: —. */
export function took(ms: number | null): string {
  if (ms === null) return '—'
  if (ms < 1_000) return `${Math.round(ms)} ms`
  return ms < 9_950 ? `${(ms / 1_000).toFixed(1)} s` : lasting(ms)
}

/** "26 min ago", "in 5 s", "just now". @param iso instant @param now epoch ms */
export function ago(iso: string, now: number): string {
  const ms = now - Date.parse(iso)
  if (Math.abs(ms) < SECOND) return 'just now'
  return ms > 0 ? `${lasting(ms)} ago` : `in ${lasting(-ms)}`
}

/** A whole number in groups of three digits: 1,234,567. Without Intl, whose first use takes a page ten milliseconds. */
export const grouped = (n: number): string =>
  Math.abs(n) < 1e21 ? String(n).replace(/\B(?=(\d{3})+(?!\d))/g, ',') : n.toLocaleString('en-US')

const formats = new Map<string, Intl.NumberFormat>()

/** A number to `max` significant digits: 1,234.5, or compact 1.28M. Formats are kept: making one costs more than using it. */
export function digits(n: number, max: number, notation: 'standard' | 'compact' = 'standard'): string {
  const key = `${max} ${notation}`
  const format =
    formats.get(key) ?? new Intl.NumberFormat('en-US', { maximumSignificantDigits: max, notation })
  formats.set(key, format)
  return format.format(n)
}

/** 28,410; from 100,000 on 128k, 1.28M. */
export function count(n: number): string {
  if (Math.abs(n) >= 100_000) return digits(n, 3, 'compact').replace('K', 'k')
  return Number.isInteger(n) ? grouped(n) : n.toLocaleString('en-US')
}

/** "1 event", "28,410 events". */
export const countEvents = (n: number): string => `${count(n)} ${n === 1 ? 'event' : 'events'}`

/** A measured value: three digits that count, and no fewer than it has before the point. */
export const value = (n: number): string =>
  Number.isInteger(n) || Math.abs(n) >= 100 ? count(Math.round(n)) : digits(n, 3)

/** A sample as it was measured, to eight digits. */
export const exactly = (n: number): string => digits(n, 8)

/** $0.86, $1,234.50; <$0.01; null: not priced, —. */
export function money(usd: number | null): string {
  if (usd === null) return '—'
  if (usd === 0) return '$0'
  if (Math.abs(usd) < 0.01) return usd > 0 ? '<$0.01' : '>-$0.01'
  const [whole, cents] = Math.abs(usd).toFixed(2).split('.')
  return `${usd < 0 ? '-' : ''}$${grouped(Number(whole))}.${cents}`
}

/** Value of a datetime-local input for an instant, and back. */
export function toLocalInput(iso: string): string {
  const at = new Date(iso)
  return `${at.getFullYear()}-${pad(at.getMonth() + 1)}-${pad(at.getDate())}T${pad(at.getHours())}:${pad(at.getMinutes())}:${pad(at.getSeconds())}`
}
export const fromLocalInput = (value: string): string | null =>
  value && !Number.isNaN(Date.parse(value)) ? new Date(value).toISOString() : null

const UNITS: Readonly<Record<string, number>> = { s: SECOND, m: MINUTE, h: HOUR, d: DAY }

/** 15m in milliseconds; 0 for what is no length of time. */
export function durationMs(text: string): number {
  const [, n, unit] = /^(\d+(?:\.\d+)?)(s|m|h|d)$/.exec(text.trim()) ?? []
  return Number(n ?? 0) * (UNITS[unit ?? ''] ?? 0)
}

const INSTANTS = /\d{4}-\d\d-\d\dT[\d:.]+Z/g

/** A sentence of the daemon with the instants in it as they are shown here. @param now epoch ms */
export const withLocalTimes = (sentence: string, now: number): string =>
  sentence.replaceAll(INSTANTS, (iso) => moment(Date.parse(iso), now, true))

/** Times as example events have them. */
const TIMES = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z|\b1\d{9}(?:\d{3}|\d{6}|\d{9})?\b/g
const timeless = (text: string): string => text.replaceAll(TIMES, '')

/** @returns whether two texts differ in nothing but the times in them */
export const isSameButTimes = (a: string, b: string): boolean => timeless(a) === timeless(b)

/**
 * Event times as payloads give them: ISO 8601 (SPEC.md, Webhook connector config), or epoch
 * milliseconds. Strict: a day or an hour that does not exist is no time.
 */

const DAY_MS = 86_400_000
/** Ten years: what is older is a clock that was never set, or a date in another unit. */
const PAST_MS = 3_653 * DAY_MS
/** A time further ahead would stay on top of every read. */
const FUTURE_MS = DAY_MS
const TEXT_MAX = 64

export interface EventTime {
  /** Epoch ms, or null when ingest time is to be used. */
  ts: number | null
  /** The time as given, where it is a time but too far off to be used. */
  claimed: string | null
}

const ISO =
  /^(\d{4})-(\d\d)-(\d\d)(?:[Tt ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d+))?)? ?([Zz]|[+-]\d\d(?::?\d\d)?)?)?$/

/** The first and the last time that is used, epoch ms. */
export const eventTimeSpan = (nowMs: number): [number, number] => [nowMs - PAST_MS, nowMs + FUTURE_MS]

/**
 * @param value ISO 8601 text (without a zone it is UTC; digits past the milliseconds are cut; a leap
 *   second is the last millisecond of its minute) or epoch milliseconds. Anything else is no time.
 * @param nowMs epoch ms. Times from ten years back to 24 hours ahead are used.
 */
export function parseEventTime(value: unknown, nowMs: number): EventTime {
  const ts =
    typeof value === 'string' ? parseText(value) : typeof value === 'number' ? Math.trunc(value) : null
  if (ts === null || !Number.isFinite(ts)) return { ts: null, claimed: null }
  const [earliest, latest] = eventTimeSpan(nowMs)
  if (ts < earliest || ts > latest) return { ts: null, claimed: String(value).trim() }
  return { ts, claimed: null }
}

/** Digits past those of a double are a number, far off in milliseconds, that was kept as text. */
const parseText = (text: string): number | null =>
  /^-?\d{16,64}$/.test(text) ? Number(text) : parseIso(text)

/** Epoch ms, or null when it is not a time that exists. */
function parseIso(given: string): number | null {
  const plain = parsePlain(given)
  if (plain !== null) return plain
  if (given.length > TEXT_MAX) return null
  const match = ISO.exec(given.trim())
  if (!match) return null
  const [year, month, day, hour, minute, second] = match
    .slice(1, 7)
    .map((digits) => Number(digits ?? '0')) as [number, number, number, number, number, number]
  if (month < 1 || month > 12 || day < 1 || day > daysOf(year, month)) return null
  if (hour > 23 || minute > 59 || second > 60) return null
  const offset = offsetMs(match[8])
  if (offset === null) return null
  const ms = second === 60 ? 59_999 : second * 1_000 + Number((match[7] ?? '').slice(0, 3).padEnd(3, '0'))
  // Not Date.UTC with all parts: it takes the years 0 to 99 for 1900 to 1999.
  const midnight = new Date(0).setUTCFullYear(year, month - 1, day)
  return midnight + hour * 3_600_000 + minute * 60_000 + ms - offset
}

const ZERO = 0x30
/** The day last read: the times of a body mostly share it. */
let lastDay = ''
let lastMidnight = 0

/**
 * The form nearly all senders use, `2026-11-20T12:00:00.000Z`, a tenth of the work of the general
 * one. Null where it is another form, or where the general one must say whether it exists.
 */
function parsePlain(given: string): number | null {
  if (given.length !== 24 || given[10] !== 'T' || given[13] !== ':' || given[16] !== ':') return null
  if (given[19] !== '.' || given[23] !== 'Z') return null
  const hour = pair(given, 11)
  const minute = pair(given, 14)
  const second = pair(given, 17)
  const ms = digit(given, 20) * 100 + pair(given, 21)
  // A comparison with NaN is false: a character that is no digit is not let through.
  if (!(hour < 24 && minute < 60 && second < 60 && ms < 1_000)) return null
  const day = given.slice(0, 10)
  if (day !== lastDay) {
    const midnight = parseIso(day)
    if (midnight === null) return null
    lastDay = day
    lastMidnight = midnight
  }
  return lastMidnight + hour * 3_600_000 + minute * 60_000 + second * 1_000 + ms
}

function pair(text: string, at: number): number {
  return digit(text, at) * 10 + digit(text, at + 1)
}

function digit(text: string, at: number): number {
  const value = text.charCodeAt(at) - ZERO
  return value >= 0 && value <= 9 ? value : Number.NaN
}

function daysOf(year: number, month: number): number {
  if (month === 2) return (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0 ? 29 : 28
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31
}

/** Milliseconds ahead of UTC, or null when no zone has such an offset. */
function offsetMs(zone: string | undefined): number | null {
  if (zone === undefined || zone === 'Z' || zone === 'z') return 0
  const digits = zone.slice(1).replace(':', '')
  const hours = Number(digits.slice(0, 2))
  const minutes = Number(digits.slice(2) || '0')
  if (hours > 23 || minutes > 59) return null
  return (zone.startsWith('-') ? -1 : 1) * (hours * 60 + minutes) * 60_000
}

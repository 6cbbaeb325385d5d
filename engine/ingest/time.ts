/**
 * Event times as payloads give them, the one place where all connectors meet: ISO 8601 (SPEC.md, Webhook
 * connector config), the forms of mail, HTTP and logs, and seconds, milli-, micro- and nanoseconds since 1970
 * as number or text. Strict: a day or an hour that does not exist is no time.
 */
import { instantOf, parseWritten } from './time-text.ts'

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
  /** What was given for a time, where it is in no form that is known. */
  unknown?: string
}

/** A time that its connector knows by itself. */
export interface KnownTime {
  /** Epoch ms. */
  ms: number
  given: string
}

/** A zone may be named behind its offset, as Go writes it. */
const ISO =
  /^(\d{4})-(\d\d)-(\d\d)(?:[Tt ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d+))?)? ?([Zz]|UTC|GMT|[+-]\d\d(?::?\d\d)?)?(?: [A-Z]{1,5})?)?$/

/** The first and the last time that is used, epoch ms. */
export const eventTimeSpan = (nowMs: number): [number, number] => [nowMs - PAST_MS, nowMs + FUTURE_MS]

const NONE: EventTime = { ts: null, claimed: null }
const CLAIMED_MAX = 200
/** Numbers below each are in that unit: the times that are used lie a thousandfold apart. */
const UNITS: readonly [below: number, perMs: number][] = [
  [1e11, 1e-3],
  [1e14, 1],
  [1e17, 1e3],
  [Number.POSITIVE_INFINITY, 1e6],
]
const NUMBER = /^[+-]?\d{1,64}(?:\.\d{0,64})?$/

/**
 * @param value text in a form above (without a zone it is UTC; digits past the milliseconds are cut; a leap
 *   second is the last millisecond of its minute), a number since 1970 whose size tells its unit, or what the
 *   connector knows. Null and empty text stand for no time; anything else is told as not understood.
 * @param nowMs epoch ms. Times from ten years back to 24 hours ahead are used.
 */
export function parseEventTime(value: unknown, nowMs: number): EventTime {
  if (value === undefined || value === null || value === '') return NONE
  const ts = epochMs(value)
  const given = typeof value === 'object' && 'given' in value ? String(value.given) : textOf(value)
  if (ts === null || !Number.isFinite(ts)) return { ts: null, claimed: null, unknown: given }
  const [earliest, latest] = eventTimeSpan(nowMs)
  if (ts < earliest || ts > latest) return { ts: null, claimed: given }
  return { ts, claimed: null }
}

function epochMs(value: unknown): number | null {
  if (typeof value === 'string') return parseText(value)
  if (typeof value === 'number') return sinceEpoch(value)
  return isKnown(value) ? value.ms : null
}

const isKnown = (value: unknown): value is KnownTime =>
  typeof value === 'object' && value !== null && 'ms' in value && 'given' in value

const textOf = (value: unknown): string =>
  (typeof value === 'object' ? (JSON.stringify(value) ?? '') : String(value).trim()).slice(0, CLAIMED_MAX)

const parseText = (text: string): number | null =>
  parsePlain(text) ??
  (NUMBER.test(text)
    ? sinceEpoch(Number(text))
    : (parseIso(text) ?? (text.length > TEXT_MAX ? null : parseWritten(text.trim()))))

function sinceEpoch(number: number): number {
  const size = Math.abs(number)
  const perMs = UNITS.find(([below]) => size < below)?.[1] ?? 1
  // Rounded to the microsecond first: 1790000000.123 has no exact double.
  return Math.trunc(Math.round((number / perMs) * 1_000) / 1_000)
}

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
  const fraction = Number((match[7] ?? '').slice(0, 3).padEnd(3, '0'))
  return instantOf({ year, month, day, hour, minute, second, ms: fraction, zone: match[8] })
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

/**
 * Event times as payloads give them, the one place where all connectors meet: ISO 8601 (SPEC.md, Webhook
 * connector config), the forms of mail, HTTP and logs, and seconds, milli-, micro- and nanoseconds since 1970
 * as number or text. Strict: a day or an hour that does not exist is no time.
 */

const DAY_MS = 86_400_000
/** Ten years: what is older is a clock that was never set, or a date in another unit. */
const PAST_MS = 3_653 * DAY_MS
/** A time further ahead would stay on top of every read. */
const FUTURE_MS = DAY_MS
/** So far the clock of a sender may be ahead of ours: what is over was over when it was told. */
export const CLOCKS_MS = 60_000
const TEXT_MAX = 80

export interface EventTime {
  /** Epoch ms, or null when ingest time is to be used. */
  ts: number | null
  /** The time as given, where it is a time but too far off to be used. */
  claimed: string | null
  /** What was given for a time, where it is in no form that is known. */
  unknown?: string
}

/** A time that its connector knows by itself. */
interface KnownTime {
  /** Epoch ms. */
  ms: number
  given: string
}

/** A text that, where it says no zone, is in this one. */
export interface LocalTime {
  zone: Zone
  given: string
}

const CLOCK = '(\\d{1,2}):(\\d\\d)(?::(\\d\\d)(?:[.,](\\d+))?)?(?: ?([AaPp][Mm])\\b)?'
/** A zone may be named behind its offset, as Go writes it, or in brackets (RFC 9557), as Java and JavaScript do; one that is named alone is the zone. */
const ISO = new RegExp(
  `^(\\d{4})-(\\d\\d)-(\\d\\d)(?:[Tt ]${CLOCK} ?([Zz]|[A-Z]{2,5}|[+-]\\d\\d(?::?\\d\\d)?)?(?: ([A-Z]{1,5})|(?<=[Zz]|[+-]\\d\\d(?::?\\d\\d)?)\\[[\\w+/-]{1,40}\\])?)?$`,
)

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
/** From 1e17 on, as UNITS has it. */
const NANOS = /^0*[1-9]\d{17,63}$/
/** Spaces that break no line, which newer Java and browsers put before AM and PM. */
const NARROW = /[\u202f\u00a0]/g
const NUMBER = /^[+-]?\d{1,64}(?:\.\d{0,64})?$/

/**
 * @param value text in a form above (without a zone it is UTC; in a zone whose name says no offset it is no time; digits past the milliseconds are cut; a leap
 *   second is the last millisecond of its minute), a number since 1970 whose size tells its unit, or what the
 *   connector knows. Null and empty text stand for no time; anything else is told as not understood.
 * @param nowMs epoch ms. Times from ten years back to 24 hours ahead are used.
 */
export function parseEventTime(value: unknown, nowMs: number): EventTime {
  if (value === undefined || value === null || value === '') return NONE
  const ts = epochMs(value, nowMs)
  const given = typeof value === 'object' && 'given' in value ? String(value.given) : textOf(value)
  if (ts === null || !Number.isFinite(ts)) return { ts: null, claimed: null, unknown: given }
  const [earliest, latest] = eventTimeSpan(nowMs)
  if (ts < earliest || ts > latest) return { ts: null, claimed: given }
  return { ts, claimed: null }
}

function epochMs(value: unknown, nowMs: number): number | null {
  if (typeof value === 'string') return parseText(value, nowMs)
  if (typeof value === 'number') return sinceEpoch(value)
  if (typeof value !== 'object' || value === null || !('given' in value)) return null
  if ('ms' in value) return (value as KnownTime).ms
  const { given, zone } = value as LocalTime
  return parseText(given, nowMs, zone)
}

const textOf = (value: unknown): string =>
  (typeof value === 'object' ? (JSON.stringify(value) ?? '') : String(value).trim()).slice(0, CLAIMED_MAX)

const parseText = (text: string, nowMs: number, local: Zone = UTC): number | null =>
  parsePlain(text) ??
  (NUMBER.test(text)
    ? NANOS.test(text)
      ? nanosToMs(text)
      : sinceEpoch(Number(text))
    : (parseIso(text, local) ??
      (text.length > TEXT_MAX ? null : parseWritten(text.trim().replace(NARROW, ' '), nowMs, local))))

/**
 * By its digits: a number has but every 256th nanosecond of now, so that a whole millisecond would be the one before.
 * @param nanos digits alone, since 1970. @returns epoch ms, what is past it cut
 */
export const nanosToMs = (nanos: string): number => Number(nanos.slice(0, -6))

function sinceEpoch(number: number): number {
  const size = Math.abs(number)
  const perMs = UNITS.find(([below]) => size < below)?.[1] ?? 1
  // Rounded to the microsecond first: 1790000000.123 has no exact double.
  return Math.trunc(Math.round((number / perMs) * 1_000) / 1_000)
}

/** Epoch ms, or null when it is not a time that exists. */
function parseIso(given: string, local: Zone): number | null {
  const plain = parsePlain(given)
  if (plain !== null) return plain
  if (given.length > TEXT_MAX) return null
  const match = ISO.exec(given.trim())
  if (!match) return null
  const [, year, month, day, hour, minute, second, fraction, half, zone, name] = match
  return instantOf({
    ...{ year: Number(year), month: Number(month), day: Number(day) },
    ...{ hour: hour ?? '00', minute: Number(minute ?? '0'), second: Number(second ?? '0') },
    ...{ ms: msOf(fraction), half, zone, name, local },
  })
}

const msOf = (fraction = ''): number => Number(fraction.slice(0, 3).padEnd(3, '0'))

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
    const midnight = parseIso(day, UTC)
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

/* Times in words: of mail (RFC 5322), HTTP (RFC 9110), C's asctime, access logs, syslog, and ISO 8601 otherwise spelled. */

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']
/** Zones of RFC 5322 (obs-zone), hours ahead of UTC. */
const ZONES: Readonly<Record<string, number>> = {
  ...{ Z: 0, UT: 0, UTC: 0, GMT: 0, EST: -5, EDT: -4, CST: -6, CDT: -5, MST: -7, MDT: -6, PST: -8, PDT: -7 },
}
const ZONE = '(Z|[+-]\\d\\d:?\\d\\d|[A-Z]{2,3})'
const LONG_MONTH = '(?:January|February|March|April|June|July|August|September|October|November|December)'
const DAY_NAME = '(?:[A-Z][a-z]{2,8},? )?'

type Part = 'year' | 'month' | 'day' | 'hour' | 'minute' | 'second' | 'fraction' | 'half' | 'zone' | 'name'

/** Places in a match. */
interface Form {
  pattern: RegExp
  parts: readonly Part[]
}

const FORMS: readonly Form[] = [
  {
    // Sun, 22 Nov 2026 10:59:00 +0000; Sunday, 22-Nov-26 10:59:00 GMT has two digits of its year, and is no time here
    pattern: new RegExp(
      `^${DAY_NAME}(\\d{1,2})[ -]([A-Za-z]{3})[ -](\\d{4}),? ${CLOCK} ?${ZONE}?(?: \\(([A-Z]{1,5})\\))?$`,
    ),
    parts: ['day', 'month', 'year', 'hour', 'minute', 'second', 'fraction', 'half', 'zone', 'name'],
  },
  {
    // Sun Nov 22 10:59:00 2026; date(1) has its zone before the year
    pattern: new RegExp(`^[A-Z][a-z]{2} ([A-Z][a-z]{2}) {1,2}(\\d{1,2}) ${CLOCK} (?:${ZONE} )?(\\d{4})$`),
    parts: ['month', 'day', 'hour', 'minute', 'second', 'fraction', 'half', 'zone', 'year'],
  },
  {
    // 22/Nov/2026:10:59:00 +0000
    pattern: new RegExp(`^(\\d{1,2})/([A-Za-z]{3})/(\\d{4}):${CLOCK} ?${ZONE}?$`),
    parts: ['day', 'month', 'year', 'hour', 'minute', 'second', 'fraction', 'half', 'zone'],
  },
  {
    // 20261122T105900Z
    pattern: /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)?(?:[.,](\d+))?(Z|[+-]\d\d(?::?\d\d)?)?$/,
    parts: ['year', 'month', 'day', 'hour', 'minute', 'second', 'fraction', 'zone'],
  },
  {
    // 2026/11/22 10:59:00, as nginx and Go write it
    pattern: new RegExp(`^(\\d{4})/(\\d\\d)/(\\d\\d) ${CLOCK} ?${ZONE}?$`),
    parts: ['year', 'month', 'day', 'hour', 'minute', 'second', 'fraction', 'half', 'zone'],
  },
  {
    // Nov 22, 2026, 10:59:00 AM, as Java and browsers write it for people
    pattern: new RegExp(
      `^${DAY_NAME}([A-Z][a-z]{2}|${LONG_MONTH}) (\\d{1,2}), (\\d{4}),? ${CLOCK} ?${ZONE}?$`,
    ),
    parts: ['month', 'day', 'year', 'hour', 'minute', 'second', 'fraction', 'half', 'zone'],
  },
  {
    // Nov 22 10:59:00 (RFC 3164), whose zone a file connector knows
    pattern: new RegExp(`^([A-Z][a-z]{2}) {1,2}(\\d{1,2}) ${CLOCK} ?${ZONE}?$`),
    parts: ['month', 'day', 'hour', 'minute', 'second', 'fraction', 'half', 'zone'],
  },
]

/**
 * Epoch ms of a time in one of these forms, of the local zone where it has none, the last that has been where it has no year; null
 * where it is none, or no time that exists.
 */
function parseWritten(text: string, nowMs: number, local: Zone): number | null {
  for (const { pattern, parts } of FORMS) {
    const match = pattern.exec(text)
    if (!match) continue
    const found = (part: Part): string | undefined =>
      parts.includes(part) ? match[1 + parts.indexOf(part)] : undefined
    const month = found('month')!
    const rest = {
      month: /\D/.test(month) ? MONTHS.indexOf(month.slice(0, 3).toLowerCase()) + 1 : Number(month),
      day: Number(found('day')),
      ...{ hour: found('hour')!, minute: Number(found('minute')), second: Number(found('second') ?? '0') },
      ...{
        ms: msOf(found('fraction')),
        half: found('half'),
        zone: found('zone'),
        name: found('name'),
        local,
      },
    }
    const year = found('year')
    const now = new Date(nowMs).getUTCFullYear()
    if (year !== undefined) return instantOf({ year: Number(year), ...rest })
    const times = [now + 1, now, now - 1].map((one) => instantOf({ year: one, ...rest }))
    return times.find((at) => at !== null && at <= nowMs + FUTURE_MS) ?? null
  }
  return null
}

/** A time in parts, months from 1. */
interface TimeParts {
  year: number
  month: number
  day: number
  /** Its digits: one alone is an hour of half a day. */
  hour: string
  minute: number
  second: number
  ms: number
  /** AM or PM. */
  half: string | undefined
  /** Offset or name. */
  zone: string | undefined
  /** Name behind it: of the same zone, or the zone where nothing else says it. Undefined both: `local`. */
  name: string | undefined
  local: Zone
}

/** Epoch ms; null for a time that does not exist. A leap second is the last millisecond of its minute. */
function instantOf({ year, month, day, minute, second, ms, ...rest }: TimeParts): number | null {
  const { zone, name, local } = rest
  if (month < 1 || month > 12 || day < 1 || day > daysOf(year, month)) return null
  const hour = hourOf(rest)
  if (hour === null || minute > 59 || second > 60) return null
  const said = zone ?? name
  const offset = said === undefined ? 0 : offsetMs(said)
  // What would say the half of the day stands where no clock writes it.
  if (offset === null || name === 'AM' || name === 'PM') return null
  const inMinute = second === 60 ? 59_999 : second * 1_000 + ms
  // Not Date.UTC with all parts: it takes the years 0 to 99 for 1900 to 1999.
  const midnight = new Date(0).setUTCFullYear(year, month - 1, day)
  const at = midnight + hour * 3_600_000 + minute * 60_000 + inMinute - offset
  return said === undefined ? local(at) : at
}

/** 0 to 23, or null where no clock shows it. */
function hourOf({ hour, half }: Pick<TimeParts, 'hour' | 'half'>): number | null {
  const shown = Number(hour)
  if (half === undefined) return hour.length === 2 && shown < 24 ? shown : null
  if (shown < 1 || shown > 12) return null
  return (shown % 12) + (/^p/i.test(half) ? 12 : 0)
}

function daysOf(year: number, month: number): number {
  if (month === 2) return (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0 ? 29 : 28
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31
}

/** Milliseconds ahead of UTC, or null where no zone has such an offset, or none alone has such a name: IST, BST. */
function offsetMs(zone: string): number | null {
  const named = ZONES[zone.toUpperCase()]
  if (named !== undefined) return named * 3_600_000
  if (!/^[+-]\d/.test(zone)) return null
  const digits = zone.slice(1).replace(':', '')
  const hours = Number(digits.slice(0, 2))
  const minutes = Number(digits.slice(2) || '0')
  if (hours > 23 || minutes > 59) return null
  return (zone.startsWith('-') ? -1 : 1) * (hours * 60 + minutes) * 60_000
}

/* Zones by their names, for times that say none. */

/** Makes epoch ms of a local time, which is given as if it were of UTC. */
export type Zone = (wall: number) => number

const UTC: Zone = (wall) => wall

/** Twice, for hours beside a change of the clock. @param offsetAt ms ahead of UTC at an instant. */
const zoneOf =
  (offsetAt: (epoch: number) => number): Zone =>
  (wall) =>
    wall - offsetAt(wall - offsetAt(wall))

/** The zone of this process: of the machine, or of the variable TZ. */
export const ownZone: Zone = zoneOf((epoch) => -new Date(epoch).getTimezoneOffset() * 60_000)

/** Whether it is a name of the database of time zones, such as Europe/Berlin. */
function isZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en-US', { timeZone: name })
    return true
  } catch {
    // RangeError is how Intl says no.
    return false
  }
}

/** Rules of a config's zone. @returns a sentence per fault. */
export const zoneFaults = (zone: string | undefined): string[] =>
  zone === undefined || isZone(zone)
    ? []
    : ['zone must be the name of a time zone, such as Europe/Berlin or UTC']

/** @param zone a valid name; undefined: UTC. @returns a function that marks a text as a local time of the zone, for where the text names none */
export function timesIn(zone: string | undefined): (given: unknown) => unknown {
  if (zone === undefined) return (given) => given
  const local = compileZone(zone)
  return (given) =>
    typeof given === 'string' && given !== '' ? ({ given, zone: local } satisfies LocalTime) : given
}

/** @param name one that `isZone`. */
export function compileZone(name: string): Zone {
  if (name === 'UTC') return UTC
  const { format } = new Intl.DateTimeFormat('en-US', { timeZone: name, timeZoneName: 'longOffset' })
  return zoneOf((epoch) => {
    const [, sign, hours, minutes] = /GMT([+-])(\d\d):(\d\d)/.exec(format(epoch)) ?? []
    const ms = (Number(hours ?? 0) * 60 + Number(minutes ?? 0)) * 60_000
    return sign === '-' ? -ms : ms
  })
}

/* What is said of times that are in no form that is known: to the sender, and on the source. */

const UNTIMED_FORMS =
  'A time is ISO 8601, RFC 5322, or a number since 1970; its zone is an offset, UTC or one that RFC 5322 names.'

/** To the sender, beside how many they are. @param sample what one of them gave for a time. */
export const untimedNotice = ({ sample }: { sample: string }): string =>
  `times such as ${shown(sample)} were not understood: those items have the time of their arrival. ${UNTIMED_FORMS}`

/** On the source. @param untimed how many events since the start, and what the last of them gave. */
export function untimedHealth({ count, sample }: { count: number; sample: string }): string {
  const [these, have] = count === 1 ? ['1 event was', 'it has'] : [`${count} events was`, 'they have']
  return `The time of ${these} not understood, such as ${shown(sample)}: ${have} the time of arrival. ${UNTIMED_FORMS}`
}

/** On the source. @param given how many events since the start, and the time of the first of them */
export function skewedHealth({ count, sample }: { count: number; sample: string }): string {
  const [these, have] = count === 1 ? ['1 event was', 'it has'] : [`${count} events was`, 'they have']
  return `The time of ${these} too far off, such as ${shown(sample)}: ${have} the time of arrival. A time from ten years back to 24 hours ahead is used: check the clock of the sender, and the form of its times.`
}

const shown = (sample: string): string => JSON.stringify(sample.slice(0, 80))

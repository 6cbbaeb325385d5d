/** Times in words: of mail (RFC 5322), HTTP (RFC 9110), C's asctime, access logs, and ISO 8601 without dashes. */

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']
/** Zones of RFC 5322 (obs-zone), hours ahead of UTC. */
const ZONES: Readonly<Record<string, number>> = {
  ...{ Z: 0, UT: 0, UTC: 0, GMT: 0, EST: -5, EDT: -4, CST: -6, CDT: -5, MST: -7, MDT: -6, PST: -8, PDT: -7 },
}
const CLOCK = '(\\d\\d):(\\d\\d)(?::(\\d\\d)(?:[.,](\\d+))?)?'
const ZONE = '(Z|[+-]\\d\\d:?\\d\\d|[A-Z]{2,3})'
const DAY_NAME = '(?:[A-Z][a-z]{2,8},? )?'

/** Places in a match. */
interface Form {
  pattern: RegExp
  parts: readonly ('year' | 'month' | 'day' | 'hour' | 'minute' | 'second' | 'fraction' | 'zone')[]
}

const FORMS: readonly Form[] = [
  {
    // Sun, 22 Nov 2026 10:59:00 +0000; Sunday, 22-Nov-26 10:59:00 GMT has two digits of its year, and is no time here
    pattern: new RegExp(
      `^${DAY_NAME}(\\d{1,2})[ -]([A-Za-z]{3})[ -](\\d{4}),? ${CLOCK} ?${ZONE}?(?: \\([A-Z]{1,5}\\))?$`,
    ),
    parts: ['day', 'month', 'year', 'hour', 'minute', 'second', 'fraction', 'zone'],
  },
  {
    // Sun Nov 22 10:59:00 2026
    pattern: new RegExp(`^[A-Z][a-z]{2} ([A-Z][a-z]{2}) {1,2}(\\d{1,2}) ${CLOCK} (?:UTC |GMT )?(\\d{4})$`),
    parts: ['month', 'day', 'hour', 'minute', 'second', 'fraction', 'year'],
  },
  {
    // 22/Nov/2026:10:59:00 +0000
    pattern: new RegExp(`^(\\d{1,2})/([A-Za-z]{3})/(\\d{4}):${CLOCK} ?${ZONE}?$`),
    parts: ['day', 'month', 'year', 'hour', 'minute', 'second', 'fraction', 'zone'],
  },
  {
    // 20261122T105900Z
    pattern: /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)?(?:[.,](\d+))?(Z|[+-]\d\d(?::?\d\d)?)?$/,
    parts: ['year', 'month', 'day', 'hour', 'minute', 'second', 'fraction', 'zone'],
  },
]

/** Epoch ms of a time in one of these forms, UTC where it has no zone; null where it is none, or no time that exists. */
export function parseWritten(text: string): number | null {
  for (const { pattern, parts } of FORMS) {
    const match = pattern.exec(text)
    if (!match) continue
    const found = (part: Form['parts'][number]): string => match[1 + parts.indexOf(part)] ?? ''
    const has = (part: Form['parts'][number]): boolean => parts.includes(part)
    const month = /\D/.test(found('month'))
      ? MONTHS.indexOf(found('month').toLowerCase()) + 1
      : Number(found('month'))
    return instantOf({
      year: Number(found('year')),
      month,
      day: Number(found('day')),
      hour: Number(found('hour')),
      minute: Number(found('minute')),
      second: Number(found('second')),
      ms: Number(found('fraction').slice(0, 3).padEnd(3, '0')),
      zone: has('zone') && found('zone') !== '' ? found('zone') : undefined,
    })
  }
  return null
}

/** A time in parts, months from 1. */
export interface TimeParts {
  year: number
  month: number
  day: number
  hour: number
  minute: number
  second: number
  ms: number
  /** Offset or name; undefined: UTC. */
  zone: string | undefined
}

/** Epoch ms; null for a time that does not exist. A leap second is the last millisecond of its minute. */
export function instantOf({ year, month, day, hour, minute, second, ms, zone }: TimeParts): number | null {
  if (month < 1 || month > 12 || day < 1 || day > daysOf(year, month)) return null
  if (hour > 23 || minute > 59 || second > 60) return null
  const offset = offsetMs(zone)
  if (offset === null) return null
  const inMinute = second === 60 ? 59_999 : second * 1_000 + ms
  // Not Date.UTC with all parts: it takes the years 0 to 99 for 1900 to 1999.
  const midnight = new Date(0).setUTCFullYear(year, month - 1, day)
  return midnight + hour * 3_600_000 + minute * 60_000 + inMinute - offset
}

function daysOf(year: number, month: number): number {
  if (month === 2) return (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0 ? 29 : 28
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31
}

/** Milliseconds ahead of UTC, or null when no zone has such an offset or name. */
function offsetMs(zone: string | undefined): number | null {
  if (zone === undefined) return 0
  const named = ZONES[zone.toUpperCase()]
  if (named !== undefined) return named * 3_600_000
  if (!/^[+-]\d/.test(zone)) return null
  const digits = zone.slice(1).replace(':', '')
  const hours = Number(digits.slice(0, 2))
  const minutes = Number(digits.slice(2) || '0')
  if (hours > 23 || minutes > 59) return null
  return (zone.startsWith('-') ? -1 : 1) * (hours * 60 + minutes) * 60_000
}

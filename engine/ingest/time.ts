/** Event times as payloads give them (SPEC.md, Webhook connector: ISO 8601; epoch ms by connectors). */

const DAY_MS = 86_400_000
const PAST_MS = 3_653 * DAY_MS
const FUTURE_MS = DAY_MS

export interface EventTime {
  /** Epoch ms, or null when ingest time is to be used. */
  ts: number | null
  /** The time as given, where it is a time but too far off to be used. */
  claimed: string | null
}

const ISO =
  /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,12}))?)?\s*(Z|z|[+-]\d\d:?\d\d|[+-]\d\d)?)?$/

/**
 * @param value ISO 8601 text (without a zone it is UTC) or epoch milliseconds.
 * @param nowMs epoch ms. Times from ten years back to a day ahead are used.
 */
export function parseEventTime(value: unknown, nowMs: number): EventTime {
  const ts =
    typeof value === 'string'
      ? parseIso(value.trim())
      : typeof value === 'number' && Number.isFinite(value)
        ? Math.trunc(value)
        : null
  if (ts === null) return { ts: null, claimed: null }
  if (ts < nowMs - PAST_MS || ts > nowMs + FUTURE_MS) return { ts: null, claimed: String(value).slice(0, 64) }
  return { ts, claimed: null }
}

/** Epoch ms, or null when it is not a time that exists. */
function parseIso(text: string): number | null {
  const match = ISO.exec(text)
  if (!match) return null
  const [year, month, day, hour, minute] = [
    match[1],
    match[2],
    match[3],
    match[4] ?? '0',
    match[5] ?? '0',
  ].map(Number) as [number, number, number, number, number]
  let second = Number(match[6] ?? '0')
  let ms = Math.trunc(Number(`0.${match[7] ?? '0'}`) * 1000)
  // A leap second is the last millisecond of its minute: the day has no place for it.
  if (second === 60) [second, ms] = [59, 999]
  const days = new Date(Date.UTC(2000, month, 0)).getUTCDate()
  const leap = month === 2 && (year % 4 !== 0 || (year % 100 === 0 && year % 400 !== 0)) ? 28 : days
  if (month < 1 || month > 12 || day < 1 || day > leap || hour > 23 || minute > 59 || second > 59) return null
  const date = new Date(0)
  date.setUTCFullYear(year, month - 1, day)
  date.setUTCHours(hour, minute, second, ms)
  return date.getTime() - zoneMs(match[8])
}

function zoneMs(zone: string | undefined): number {
  if (zone === undefined || zone === 'Z' || zone === 'z') return 0
  const sign = zone.startsWith('-') ? -1 : 1
  const digits = zone.slice(1).replace(':', '')
  return sign * (Number(digits.slice(0, 2)) * 60 + Number(digits.slice(2) || '0')) * 60_000
}

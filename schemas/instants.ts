/** Times as requests give them: one rule for bodies, queries and tools. */

/** ISO 8601 with its zone; seconds may be left out. */
const INSTANT =
  /^(\d{4})-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])[T ](?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d+)?)?(?:Z|[+-](?:[01]\d|2[0-3]):?[0-5]\d)$/i

/** Whether a text is an instant, such as `2026-11-20T12:00:00Z` or `2026-11-20T12:00+01:00`, on a day that there is. */
export function isInstant(text: string): boolean {
  const [, year, month, day] = INSTANT.exec(text) ?? []
  // The last of a month is the day before the first of the next.
  return day !== undefined && Number(day) <= new Date(Date.UTC(Number(year), Number(month), 0)).getUTCDate()
}

/** Seconds of Unix time from 2001 on, or its milliseconds: 10 digits or 13. */
const UNIX = /^[1-9]\d{9}(?:\d{3})?$/

/** @returns the instant that a text is the Unix time of; null where it is none */
export const readUnixTime = (text: string): string | null =>
  UNIX.test(text) ? new Date(Number(text) * (text.length === 10 ? 1_000 : 1)).toISOString() : null

/**
 * An instant as a model writes it that is shown UTC alone: without its zone, as a day, which begins at midnight, or in Unix time.
 * @returns the instant with its zone; null where the text is none
 */
export function readInstant(text: string): string | null {
  const given = text.trim()
  const time = /^\d{4}-\d{2}-\d{2}$/.test(given) ? `${given}T00:00` : given
  return readUnixTime(given) ?? [time, `${time}Z`].find(isInstant) ?? null
}

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

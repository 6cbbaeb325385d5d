/** Durations: a number and one of s, m, h, d, such as 5s, 15m, 1.5h, 7d (SPEC.md, Sources and labels 1). */
import { fail } from '../errors.ts'

const UNIT_MS = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const
/** Longest window: a hundred years, so that sums stay exact. */
const MAX_MS = 36_525 * 86_400_000

/**
 * Milliseconds of a duration. @param field named in the error.
 * @throws SvcError invalid
 */
export function parseDuration(text: string, field: string): number {
  const match = /^(\d+(?:\.\d+)?)([smhd])$/.exec(text)
  const ms = match ? Number(match[1]) * UNIT_MS[match[2] as keyof typeof UNIT_MS] : Number.NaN
  if (!(ms > 0 && ms <= MAX_MS))
    fail('invalid', `${field} must be a number above 0 and one of s, m, h, d, such as 15m`, { field })
  return Math.round(ms)
}

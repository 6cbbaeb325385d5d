/** What the header Retry-After asks for (RFC 9110, 10.2.3): one reading for all that honour it. */

/** The three forms of an HTTP date (RFC 9110, 5.6.7); Date.parse takes many texts that are none. */
const HTTP_DATE = /^(Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? .{10,32}$/
/** Whole seconds by the RFC; fractions are sent by some providers of models. */
const SECONDS = /^\d+(\.\d+)?$/

/**
 * @param header seconds or a date, as received. @param now epoch ms.
 * @returns ms to wait from now, 0 for a date that is over, without a bound: each caller has its own; null where the
 *   header is absent or neither of both
 * @example readRetryAfter('30', now) // 30000
 */
export function readRetryAfter(header: string | null | undefined, now: number): number | null {
  const text = header?.trim() ?? ''
  if (SECONDS.test(text)) return Number(text) * 1_000
  if (!HTTP_DATE.test(text)) return null
  // Of asctime's form, which names no zone, the time is UTC.
  const at = Date.parse(text.endsWith('GMT') ? text : `${text} GMT`)
  return Number.isNaN(at) ? null : Math.max(0, at - now)
}

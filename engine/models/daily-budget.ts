/** What agents and Ask may spend together in 24 hours. */

/** US dollars as a refusal names them. */
export const usd = (value: number): string => `$${Number(value.toPrecision(4))}`

/**
 * @param spent of the last 24 hours, what is reserved included. @param ceiling what the next call could
 *   cost. @param budget null: there is none. All US dollars.
 * @returns why the call must not be made; null: it may
 */
export function overDaily(spent: number, ceiling: number, budget: number | null): string | null {
  if (budget === null || spent + ceiling <= budget) return null
  return `the next call could cost ${usd(ceiling)}, which passes the ${usd(budget)} of 24 hours; raise the daily budget under Settings, Agents`
}

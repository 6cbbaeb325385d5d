/** What agents and Ask may spend together in 24 hours. */

const DAY_MS = 86_400_000

/** US dollars as a refusal names them. */
export const usd = (value: number): string => `$${Number(value.toPrecision(4))}`

/** Why a call of a model is not made. */
export interface CallRefusal {
  reason: string
  /** Only calls under way hold the money: it is free again once they have ended, but for what they cost. */
  waits: boolean
}

/** What is known of spending, US dollars. */
export interface SpendQueries {
  /** Since an instant, epoch ms; what calls under way hold is in it. */
  spentSince: { get(of: { since: number }): number | undefined }
  /** What calls under way hold. */
  held: { get(): number | undefined }
}

/**
 * @param now epoch ms. @param ceiling what the next call could cost. @param budget null: there is none.
 *   All US dollars.
 * @returns why the call must not be made; null: it may
 */
export function overDaily(
  queries: SpendQueries,
  now: number,
  ceiling: number,
  budget: number | null,
): CallRefusal | null {
  const spent = queries.spentSince.get({ since: now - DAY_MS }) ?? 0
  if (budget === null || spent + ceiling <= budget) return null
  return {
    reason: `the next call could cost ${usd(ceiling)}, which passes the ${usd(budget)} of 24 hours; raise the daily budget under Settings, Agents`,
    waits: spent - (queries.held.get() ?? 0) + ceiling <= budget,
  }
}

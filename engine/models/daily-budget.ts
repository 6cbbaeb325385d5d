/** What agents and Ask may spend together in 24 hours. */
import { type Budget, usd } from './reserving.ts'

const DAY_MS = 86_400_000

/** What is known of spending, US dollars. */
export interface SpendQueries {
  /** Since an instant, epoch ms; what calls under way hold is in it. */
  spentSince: { get(of: { since: number }): number | undefined }
  /** What calls under way hold. */
  held: { get(): number | undefined }
}

/** @param now epoch ms. @param budget US dollars; null: there is none, and the list is empty */
export function dailyBudgets(queries: SpendQueries, now: number, budget: number | null): Budget[] {
  if (budget === null) return []
  const spent = queries.spentSince.get({ since: now - DAY_MS }) ?? 0
  const name = `the ${usd(budget)} of 24 hours; raise the daily budget under Settings, Agents`
  return [{ name, budget, spent, held: queries.held.get() ?? 0 }]
}

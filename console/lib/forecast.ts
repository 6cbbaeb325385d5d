/** What an agent may cost, in words. */
import type { AgentForecast } from '../../schemas/types.ts'
import { count, money } from './time.ts'

/** How much of its budget is spent, 0 to 1; null: it has none. */
export function spendShare({
  spent_usd,
  budget_usd,
}: Pick<AgentForecast, 'spent_usd' | 'budget_usd'>): number | null {
  if (budget_usd === null) return null
  return budget_usd <= 0 ? 1 : Math.min(1, Math.max(0, spent_usd / budget_usd))
}

export function forecastWords(forecast: AgentForecast): string {
  const { runs_per_day, cost_per_run_usd, per_month_usd, budget_usd, spent_usd, days_left } = forecast
  if (runs_per_day === 0) return 'No runs in the last seven days, so no estimate.'
  if (cost_per_run_usd === null) return 'No run of the last seven days has a price, so the cost is unknown.'
  const pace = `At the pace of the last seven days it costs ${money(per_month_usd)} a month`
  if (budget_usd === null) return `${pace}; it has no budget.`
  if (spent_usd >= budget_usd) return `${pace}; its budget is used up.`
  return days_left === null ? `${pace}.` : `${pace}; its budget lasts ${daysWords(days_left)}.`
}

function daysWords(days: number): string {
  if (days < 1) return 'less than a day'
  const whole = Math.floor(days)
  return whole === 1 ? 'one more day' : `${count(whole)} more days`
}

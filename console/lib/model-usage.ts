/** What models were used for, as bars and rows show it. */
import type { ModelSpend, ModelSpendDay } from '../../schemas/types.ts'
import { count, money } from './time.ts'

const DAY_MS = 86_400_000

export interface UsageBar {
  /** ISO day, UTC. */
  day: string
  calls: number
  tokens: number
  /** US dollars of the costed calls; null: none of them was. */
  cost: number | null
  uncosted: number
}

export const tokensOf = (spend: Pick<ModelSpend, 'input_tokens' | 'output_tokens'>): number =>
  spend.input_tokens + spend.output_tokens

/** Every day of the window, those without calls too. @param now epoch ms */
export function usageBars(days: readonly ModelSpendDay[], window: number, now: number): UsageBar[] {
  const known = new Map(days.map((day) => [day.day.slice(0, 10), day]))
  return Array.from({ length: window }, (_, i) => {
    const day = new Date(now - (window - 1 - i) * DAY_MS).toISOString().slice(0, 10)
    const spend = known.get(day)
    return {
      day,
      calls: spend?.calls ?? 0,
      tokens: spend ? tokensOf(spend) : 0,
      cost: spend ? spend.cost_usd : 0,
      uncosted: spend?.uncosted_calls ?? 0,
    }
  })
}

/** US dollars of the day that is not over, UTC; null: no call of it has a price. @param now epoch ms */
export const costToday = (days: readonly ModelSpendDay[], now: number): number | null =>
  usageBars(days, 1, now)[0]!.cost

/** What a bar is as high as: dollars, where any call was priced, else tokens. */
export function barHeights(bars: readonly UsageBar[]): { by: 'cost' | 'tokens'; heights: number[] } {
  const by = bars.some(({ cost }) => (cost ?? 0) > 0) ? 'cost' : 'tokens'
  const values = bars.map((bar) => bar[by] ?? 0)
  const top = Math.max(...values, 0)
  return { by, heights: values.map((value) => (top === 0 ? 0 : value / top)) }
}

/** "$1.20, and 3 calls without a price": what is not known is said. */
export function costWords({
  cost_usd,
  uncosted_calls,
}: Pick<ModelSpend, 'cost_usd' | 'uncosted_calls'>): string {
  const uncosted =
    uncosted_calls === 0
      ? ''
      : `${count(uncosted_calls)} ${uncosted_calls === 1 ? 'call' : 'calls'} without a price`
  if (cost_usd === null) return uncosted || money(0)
  return uncosted ? `${money(cost_usd)}, and ${uncosted}` : money(cost_usd)
}

export function barWords({ day, calls, tokens, cost, uncosted }: UsageBar): string {
  if (calls === 0) return `${day}: no calls`
  return `${day}: ${count(calls)} ${calls === 1 ? 'call' : 'calls'}, ${count(tokens)} tokens, ${costWords({ cost_usd: cost, uncosted_calls: uncosted })}`
}

/**
 * What a call may cost, reserved of every budget that it counts for before it is made: never more than is
 * left. Where a budget pays for a shorter reply only, the call is made with that much room, so that a budget
 * is reached before anything is refused for it (SPEC.md, Limits: agent budget); where calls under way hold
 * the money, it waits for them.
 */
import type { ModelRequest, Models } from './types.ts'

/** US dollars as a refusal names them. */
export const usd = (value: number): string => `$${Number(value.toPrecision(4))}`

/** Why a call of a model is not made as it was asked for. */
export interface CallRefusal {
  reason: string
  /** Only calls under way hold the money: it is free again once they have ended, but for what they cost. */
  waits: boolean
  /** US dollars that may be reserved now. */
  left: number
  /** The same if calls under way cost nothing. */
  free: number
}

/** A budget that a call counts for. US dollars. */
export interface Budget {
  /** As a refusal names it, such as `the $2 of one run; raise run_budget_usd`. */
  name: string
  budget: number
  /** What is held by calls under way is in it. */
  spent: number
  held: number
}

/** @param ceiling what the call could cost. @returns why it must not be made; null: it may */
export function refusalOf(budgets: readonly Budget[], ceiling: number): CallRefusal | null {
  const over = budgets.find(({ budget, spent }) => spent + ceiling > budget)
  if (!over) return null
  return {
    reason: `the next call could cost ${usd(ceiling)}, which passes ${over.name}`,
    waits: budgets.every(({ budget, spent, held }) => spent - held + ceiling <= budget),
    left: Math.min(...budgets.map(({ budget, spent }) => budget - spent)),
    free: Math.min(...budgets.map(({ budget, spent, held }) => budget - spent + held)),
  }
}

/** Tokens of a reply; one with less room says nothing. */
const LEAST_ROOM = 256

type Asked = Pick<
  ModelRequest,
  'provider' | 'model' | 'fallback' | 'system' | 'messages' | 'tools' | 'maxTokens'
>

export interface Reserved {
  maxTokens: number
  /** US dollars; null: the model is unpriced. */
  ceilingUsd: number | null
}

/**
 * @param begin reserves it, and writes that the call is made; or says why not.
 * @param moneyFreed resolves when a call that held money has ended. @throws an abort
 * @returns with how much room the call is made; or why it must not be
 */
export async function reserveCall(
  models: Pick<Models, 'ceilingUsd'>,
  request: Asked,
  begin: (reserved: Reserved) => Promise<CallRefusal | null>,
  moneyFreed: () => Promise<void>,
): Promise<Reserved | string> {
  const whole = { maxTokens: request.maxTokens, ceilingUsd: await models.ceilingUsd(request) }
  let asked: Reserved = whole
  for (;;) {
    const refusal = await begin(asked)
    if (refusal === null) return asked
    if (!refusal.waits) {
      const less = await roomFor(models, { ...request, maxTokens: asked.maxTokens - 1 }, refusal.left)
      if (less) {
        asked = less
        continue
      }
      const isHeld = refusal.free > refusal.left && (await roomFor(models, request, refusal.free))
      if (!isHeld) return refusal.reason
    }
    await moneyFreed()
    asked = whole
  }
}

/** The longest reply that so many dollars pay for, its prompt too; null: none that says anything. */
async function roomFor(
  models: Pick<Models, 'ceilingUsd'>,
  request: Asked,
  dollars: number,
): Promise<Reserved | null> {
  const none = await models.ceilingUsd({ ...request, maxTokens: 0 })
  const all = await models.ceilingUsd(request)
  if (none === null || all === null || none >= dollars) return null
  // With a fallback it is the dearer of two, which lies below the line between these two points.
  const part = all > none ? Math.min(1, (dollars - none) / (all - none)) : 1
  const maxTokens = Math.floor(part * request.maxTokens)
  if (maxTokens < LEAST_ROOM) return null
  return { maxTokens, ceilingUsd: await models.ceilingUsd({ ...request, maxTokens }) }
}

/* What agents and Ask may spend together in 24 hours. */

const DAY_MS = 86_400_000

/** What is known of spending, US dollars. */
interface SpendQueries {
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

/** MeasuredFigures of what first messages showed. */
import { meanOf } from './eval-statistics.ts'
import type { EvalMeasured } from './types.ts'

/** Means of some. */
export interface MeasuredFigures {
  incidents: number
  recall: number
  /** Incidents that name a root, and those of them that show one. */
  withRoot: number
  roots: number
  tokens: number
  overBudget: number
  ms: number
}

export function measuredFigures(some: readonly EvalMeasured[]): MeasuredFigures {
  const withRoot = some.filter(({ root }) => root !== null)
  return {
    incidents: some.length,
    recall: meanOf(some.map(({ recall }) => recall)),
    withRoot: withRoot.length,
    roots: withRoot.filter(({ root }) => root).length,
    tokens: Math.round(meanOf(some.map(({ tokens }) => tokens))),
    overBudget: some.filter(({ tokens, budget }) => tokens > budget).length,
    ms: Math.round(meanOf(some.map(({ ms }) => ms))),
  }
}

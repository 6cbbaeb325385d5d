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
  /** Tokens of all messages for each fact that is shown; null: none is, or nobody counted. */
  tokensPerFact: number | null
  /** Mean place of the first line that shows a root, as a share of the message; null: none does. */
  position: number | null
  /** Share of those that were ranked in which the service is among the first 1, 3 and 5 suspects; null: none was. */
  firstSuspects: [one: number, three: number, five: number] | null
}

export function measuredFigures(some: readonly EvalMeasured[]): MeasuredFigures {
  const withRoot = some.filter(({ root }) => root !== null)
  const facts = some.reduce((sum, { shown = 0 }) => sum + shown, 0)
  const positions = some.flatMap(({ position }) => position ?? [])
  const ranks = some.flatMap(({ rank }) => rank ?? [])
  const within = (first: number) => meanOf(ranks.map((rank) => Number(rank > 0 && rank <= first)))
  return {
    incidents: some.length,
    recall: meanOf(some.map(({ recall }) => recall)),
    withRoot: withRoot.length,
    roots: withRoot.filter(({ root }) => root).length,
    tokens: Math.round(meanOf(some.map(({ tokens }) => tokens))),
    overBudget: some.filter(({ tokens, budget }) => tokens > budget).length,
    ms: Math.round(meanOf(some.map(({ ms }) => ms))),
    tokensPerFact: facts ? Math.round(some.reduce((sum, { tokens }) => sum + tokens, 0) / facts) : null,
    position: positions.length ? meanOf(positions) : null,
    firstSuspects: ranks.length ? [within(1), within(3), within(5)] : null,
  }
}

/** As tables show it. */
export const suspectsText = ({ firstSuspects }: MeasuredFigures): string =>
  firstSuspects?.map((share) => share.toFixed(2)).join(' ') ?? '–'

/** As tables show it. */
export const positionText = ({ position }: MeasuredFigures): string =>
  position === null ? '–' : `${Math.round(100 * position)} %`

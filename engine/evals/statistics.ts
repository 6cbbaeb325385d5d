/** Figures over scenarios, with how sure they are. A scenario is the unit: repeats of it are not independent. */
import { randomOf } from './noise.ts'

const RESAMPLES = 2_000

export interface Interval {
  mean: number
  /** 95 %, by bootstrap over the values (Efron 1979, percentile method). */
  low: number
  high: number
}

/** @param values one of each scenario. @returns zeros of none; the same for the same values */
export function intervalOf(values: readonly number[]): Interval {
  if (values.length === 0) return { mean: 0, low: 0, high: 0 }
  const random = randomOf(`bootstrap ${values.join()}`)
  const means: number[] = []
  for (let i = 0; i < RESAMPLES; i++) {
    let sum = 0
    for (let n = 0; n < values.length; n++) sum += values[Math.floor(random() * values.length)]!
    means.push(sum / values.length)
  }
  means.sort((a, b) => a - b)
  const at = (share: number) => means[Math.min(RESAMPLES - 1, Math.floor(share * RESAMPLES))]!
  return { mean: meanOf(values), low: at(0.025), high: at(0.975) }
}

export const meanOf = (values: readonly number[]): number =>
  values.length ? values.reduce((sum, value) => sum + value, 0) / values.length : 0

export interface Comparison {
  /** Mean difference of the second to the first, over the scenarios that both have. */
  difference: Interval
  scenarios: number
  /** What the interval shows. */
  verdict: 'better' | 'worse' | 'not shown'
}

/** The second against the first, pair by pair. @param of mean score by scenario */
export function compare(first: ReadonlyMap<string, number>, second: ReadonlyMap<string, number>): Comparison {
  const pairs = [...first].filter(([id]) => second.has(id))
  const difference = intervalOf(pairs.map(([id, score]) => second.get(id)! - score))
  return {
    difference,
    scenarios: pairs.length,
    verdict: difference.low > 0 ? 'better' : difference.high < 0 ? 'worse' : 'not shown',
  }
}

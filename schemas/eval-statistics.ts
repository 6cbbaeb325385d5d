/**
 * Means over scenarios, with how sure they are. A scenario is the unit: repeats of one are not independent. Pure, since
 * the console draws reports that it was given as a file.
 */

const RESAMPLES = 2_000

export interface Interval {
  mean: number
  /** 95 %, by bootstrap over the values (Efron 1979, percentile method). */
  low: number
  high: number
}

/** @param values one of each scenario. @returns zeros where there are none; the same for the same values */
export function intervalOf(values: readonly number[]): Interval {
  if (values.length === 0) return { mean: 0, low: 0, high: 0 }
  const random = randomFrom(values.join())
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

/** @returns 0 of none */
export const meanOf = (values: readonly number[]): number =>
  values.length ? values.reduce((sum, value) => sum + value, 0) / values.length : 0

export interface Comparison {
  /** Mean difference of the second to the first, over the scenarios that both have. */
  difference: Interval
  scenarios: number
  /** better or worse: the interval of the difference does not hold 0. */
  verdict: 'better' | 'worse' | 'not shown'
}

/** The second against the first, scenario by scenario. @param first, second mean score by scenario */
export function compare(first: ReadonlyMap<string, number>, second: ReadonlyMap<string, number>): Comparison {
  const pairs = [...first].filter(([id]) => second.has(id))
  const difference = intervalOf(pairs.map(([id, score]) => second.get(id)! - score))
  return {
    difference,
    scenarios: pairs.length,
    verdict: difference.low > 0 ? 'better' : difference.high < 0 ? 'worse' : 'not shown',
  }
}

/** Numbers from 0 to 1 (mulberry32), begun by a hash of the text (FNV-1a): no Node here. */
function randomFrom(seed: string): () => number {
  let state = 0x81_1c_9d_c5
  for (let i = 0; i < seed.length; i++) state = Math.imul(state ^ seed.charCodeAt(i), 0x01_00_01_93)
  return () => {
    state = (state + 0x6d_2b_79_f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

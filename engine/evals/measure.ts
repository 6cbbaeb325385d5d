/** How much of what one must see a first message shows: recall of labelled facts, over a pack; no model. */
import type { EvalMeasured } from '../../schemas/types.ts'
import { cautiousTokens } from '../context/index.ts'
import { factsIn } from './facts.ts'
import type { Pack } from './incident.ts'
import { loadedWith, type WayName, ways } from './ways.ts'

export interface MeasureOptions {
  /** Lines of noise around each incident. */
  noise: readonly number[]
  /** Tokens. */
  budgets: readonly number[]
  ways?: readonly WayName[]
  /** Milliseconds, for how long each took. */
  clock(): number
  /** Tokens of a text; the cautious count when absent. */
  tokensOf?(text: string): number
  /** Told after each incident. */
  onIncident?(id: string): void
}

/** Each incident at each level of noise and budget, shown in each way. */
export function measure(pack: Pack, options: MeasureOptions): EvalMeasured[] {
  const { noise, budgets, clock, tokensOf = cautiousTokens } = options
  const measured: EvalMeasured[] = []
  for (const { id, load } of pack.incidents) {
    const incident = load()
    const { kind, entity } = incident.truth
    const facts = incident.truth.facts.filter(({ weak }) => !weak)
    for (const level of facts.length ? noise : []) {
      const loaded = loadedWith(incident, pack.noise, level, pack.variant)
      for (const way of options.ways ?? (['brief', 'plain'] as const))
        for (const budget of budgets) {
          const began = clock()
          const text = ways[way](loaded, budget)
          const ms = clock() - began
          const seen = factsIn(text, facts, entity)
          const roots = seen.filter(({ role }) => role === 'root')
          measured.push({
            ...{ id, kind, way, budget, ms, noise: level },
            recall: seen.filter(({ shown }) => shown).length / seen.length,
            root: roots.length ? roots.some(({ shown }) => shown) : null,
            tokens: tokensOf(text),
            missed: seen.filter(({ shown }) => !shown).map((fact) => fact.id),
          })
        }
    }
    options.onIncident?.(id)
  }
  return measured
}

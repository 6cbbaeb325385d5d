/** How much of what one must see a first message shows: recall of labelled facts, over a pack; no model. */
import { cautiousTokens } from '../context/index.ts'
import { factsIn } from './facts.ts'
import type { Pack } from './incident.ts'
import { loadedWith, type WayName, ways } from './ways.ts'

export interface Measured {
  id: string
  kind: string
  noise: number
  budget: number
  way: WayName
  /** Share of facts shown. */
  recall: number
  /** Whether one root cause is; null: the incident names none. */
  root: boolean | null
  tokens: number
  ms: number
  missed: string[]
}

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
export function measure(pack: Pack, options: MeasureOptions): Measured[] {
  const { noise, budgets, clock, tokensOf = cautiousTokens } = options
  const measured: Measured[] = []
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

/** Means of some. */
export interface Figures {
  incidents: number
  recall: number
  /** Incidents that name a root, and those of them that show one. */
  withRoot: number
  roots: number
  tokens: number
  overBudget: number
  ms: number
}

export function figuresOf(some: readonly Measured[]): Figures {
  const mean = (values: readonly number[]) =>
    values.reduce((sum, value) => sum + value, 0) / (values.length || 1)
  const withRoot = some.filter(({ root }) => root !== null)
  return {
    incidents: some.length,
    recall: mean(some.map(({ recall }) => recall)),
    withRoot: withRoot.length,
    roots: withRoot.filter(({ root }) => root).length,
    tokens: Math.round(mean(some.map(({ tokens }) => tokens))),
    overBudget: some.filter(({ tokens, budget }) => tokens > budget).length,
    ms: Math.round(mean(some.map(({ ms }) => ms))),
  }
}

/** In the order of the first of each. */
export function groupedBy<K>(some: readonly Measured[], key: (one: Measured) => K): Map<K, Measured[]> {
  const groups = new Map<K, Measured[]>()
  for (const one of some) {
    const group = groups.get(key(one))
    if (group) group.push(one)
    else groups.set(key(one), [one])
  }
  return groups
}

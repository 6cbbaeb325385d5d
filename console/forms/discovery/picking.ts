/** What a discovery offers to choose from, and what it says of the choice, by the shape of its answers. */
import { count, exactly } from '../../lib/time.ts'

/** An answer of POST /api/sources/discover. */
export type Found = Record<string, unknown>

/** Asks the upstream again, with more in the config. */
export type Ask = (more: Record<string, unknown>, signal: AbortSignal) => Promise<Found>

/** Metrics to choose from. */
export interface Offer {
  metrics: string[]
  /** Labels the list can be narrowed by. */
  labels: string[]
  /** How many can be chosen. */
  most: number
  /** There are more than are listed. */
  isCut: boolean
}

/** What is chosen, kept while one goes back and forth. */
export interface Choice {
  names: ReadonlySet<string>
  search: string
  /** Only metrics that carry this label are listed. */
  label: string | null
  /** Entity label that is wanted in place of the suggested one. */
  key: string | null
}

export interface SampledMetric {
  name: string
  type: string
  /** Over which its rate is proposed in place of its value. */
  rate_over?: string
  /** Absent where it has no value at present. */
  sample: number | null
  labels: Record<string, string>
}

/** A label that can be the entity. */
export interface KeyChoice {
  name: string
  cardinality: number
  values_preview: string[]
}

export interface Sampled {
  metrics: SampledMetric[]
  /** The entity label in what is proposed. */
  key: string | null
  suggested: string | null
  choices: KeyChoice[]
  proposed: Record<string, unknown>
}

const MOST = 40

/** @returns null where the answer offers nothing to choose from. */
export function offerOf({ catalog, selected_max: most, truncated }: Found): Offer | null {
  const { metrics, labels } = (catalog ?? {}) as { metrics?: unknown; labels?: unknown }
  if (!Array.isArray(metrics)) return null
  return {
    metrics,
    labels: Array.isArray(labels) ? labels : [],
    most: typeof most === 'number' ? most : MOST,
    isCut: truncated === true,
  }
}

/** The metrics that carry a label, of an answer to `for_label`. */
export function carryingOf({ metrics_for_label: metrics, truncated }: Found): {
  metrics: string[]
  isCut: boolean
} {
  return { metrics: Array.isArray(metrics) ? metrics : [], isCut: truncated === true }
}

/** What was sampled, of an answer to `selected`. */
export function sampledOf(found: Found): Sampled {
  const suggested = found.suggested_key as { name: string } | null | undefined
  return {
    metrics: (found.preview ?? []) as SampledMetric[],
    key: (found.key as string | null | undefined) ?? null,
    suggested: suggested?.name ?? null,
    choices: (found.key_choices ?? []) as KeyChoice[],
    proposed: (found.proposed_config ?? {}) as Record<string, unknown>,
  }
}

/** Names that contain every word of the search, in any case of letters. */
export function matching(names: readonly string[], search: string): readonly string[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean)
  if (words.length === 0) return names
  return names.filter((name) => {
    const small = name.toLowerCase()
    return words.every((word) => small.includes(word))
  })
}

/** The choice with one name more or less; one over the limit is not taken in. */
export function toggled(chosen: ReadonlySet<string>, name: string, most: number): ReadonlySet<string> {
  const next = new Set(chosen)
  if (!next.delete(name) && next.size < most) next.add(name)
  return next
}

/** The choice with all of these; null where they are none, nothing new, or more than the limit lets in. */
export function withAll(
  chosen: ReadonlySet<string>,
  names: readonly string[],
  most: number,
): ReadonlySet<string> | null {
  if (names.length === 0 || names.length > most) return null
  const next = new Set([...chosen, ...names])
  return next.size > most || next.size === chosen.size ? null : next
}

/** "2 values: cart, pay"; with three dots where there are more. */
export function valuesText({ cardinality, values_preview: values }: KeyChoice): string {
  const shown = values.join(', ') + (cardinality > values.length ? ', …' : '')
  return `${count(cardinality)} ${cardinality === 1 ? 'value' : 'values'}: ${shown}`
}

/** A value as it is read in a table. */
export function sampleText(sample: number | null): string {
  return sample === null ? 'no value now' : exactly(sample)
}

/** "12 metrics". */
export const metricsText = (n: number): string => `${count(n)} ${n === 1 ? 'metric' : 'metrics'}`

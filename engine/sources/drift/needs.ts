/** Which labels a declared part depends on, each with the field that says so. */
import type { AgentSpec, Filter, Label, SourceSpec, TriggerSpec } from '../../../schemas/types.ts'

export interface Need {
  /** Path in the part's document, such as filters[0].field. */
  field: string
  label: string
  /** Sources any of which is enough to have it. */
  sources: readonly string[]
  /** The entity is needed on most events; any other label on some. */
  isEntity: boolean
  /** The connector names it by itself, so that nobody meant more by it than that there is an entity. */
  isProposed?: boolean
}

/** Fields of filters and groups that are no labels, or any. */
const NO_LABELS = new Set(['event_type', 'key_value', 'source', 'text'])
const isLabel = (field: string): boolean => !NO_LABELS.has(field) && !field.startsWith('payload.')

/** The primary label. @param proposed labels of the connector where none are given. */
export function needsOfSource(
  name: string,
  { config = {} }: Partial<SourceSpec>,
  proposed: readonly Label[] = [],
): Need[] {
  const labels = ((config as { labels?: Label[] }).labels ?? []).map((label, i) => ({ label, i }))
  const isProposed = (label: Label): boolean =>
    proposed.some((one) => one.name === label.name && fieldOf(one) === fieldOf(label))
  return labels
    .filter(({ label }) => label.primary)
    .map(({ label, i }) => ({
      field: `config.labels[${i}]`,
      label: label.name,
      sources: [name],
      isEntity: true,
      isProposed: isProposed(label),
    }))
}

/** Labels that a connector names by itself. */
export const proposedLabels = (connector: { mode: string }): readonly Label[] =>
  (connector as { labels?: Label[] }).labels ?? []

const fieldOf = (label: Label): unknown => ('field' in label ? label.field : undefined)

/** Labels that filters compare, that it groups and keys by, and that it aggregates. */
export function needsOfTrigger({ sources, filters = [], key_field: key, condition }: TriggerSpec): Need[] {
  const named: [field: string, label: string][] = [
    ...ofFilters(filters, 'filters'),
    ...(key ? ([['key_field', key]] as [string, string][]) : []),
  ]
  if ('group_by' in condition)
    for (const [i, label] of (condition.group_by ?? []).entries())
      named.push([`condition.group_by[${i}]`, label])
  if ('field' in condition && typeof condition.field === 'string')
    named.push(['condition.field', condition.field])
  if ('sequence' in condition)
    for (const [i, step] of condition.sequence.entries())
      named.push(...ofFilters(step.filters, `condition.sequence[${i}].filters`))
  return named
    .filter(([, label]) => isLabel(label))
    .map(([field, label]) => ({ field, label, sources, isEntity: false }))
}

/** That a label is missing is what `exists: false` asks for. */
function ofFilters(filters: readonly Filter[], at: string): [string, string][] {
  return filters.flatMap(({ field, op, value }, i): [string, string][] =>
    op === 'exists' && String(value) === 'false' ? [] : [[`${at}[${i}].field`, field]],
  )
}

/** The label its write-back is keyed by. @param sources of the triggers that wake it. */
export function needsOfAgent(
  { webhook_key_label: label }: Partial<AgentSpec>,
  sources: readonly string[],
): Need[] {
  return label ? [{ field: 'webhook_key_label', label, sources, isEntity: false }] : []
}

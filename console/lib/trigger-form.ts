/** A trigger as its form edits it. */
import type { Filter, Trigger, TriggerWrite } from '../../schemas/types.ts'

export type Aggregate = 'count' | 'sum' | 'avg' | 'max' | 'min' | 'any'
export type FilterOp = Filter['op']
export interface FilterRow {
  field: string
  op: FilterOp
  /** As typed; a list for `in` is separated by commas. */
  value: string
}

export interface TriggerDraft {
  name: string
  sources: string[]
  kind: 'threshold' | 'schedule'
  aggregate: Aggregate
  field: string
  op: string
  number: string
  window: string
  group_by: string[]
  every: string
  filters: FilterRow[]
  key_field: string
  context_window: string
  cooldown: string
  description: string
}

export const NEW_TRIGGER: TriggerDraft = {
  name: '',
  sources: [],
  kind: 'threshold',
  aggregate: 'count',
  field: '',
  op: '>',
  number: '5',
  window: '5m',
  group_by: [],
  every: '1h',
  filters: [],
  key_field: '',
  context_window: '15m',
  cooldown: '5m',
  description: '',
}

export const FILTER_OPS: { value: FilterOp; label: string }[] = [
  { value: 'eq', label: 'is' },
  { value: 'neq', label: 'is not' },
  { value: 'contains', label: 'contains' },
  { value: 'in', label: 'is one of' },
  { value: 'gt', label: 'is above' },
  { value: 'gte', label: 'is at least' },
  { value: 'lt', label: 'is below' },
  { value: 'lte', label: 'is at most' },
]

export function draftOf(trigger: Trigger): TriggerDraft {
  const { condition } = trigger
  const shared: TriggerDraft = {
    ...NEW_TRIGGER,
    name: trigger.name,
    sources: trigger.sources,
    filters: (trigger.filters ?? []).map(({ field, op, value }) => ({
      field,
      op,
      value: Array.isArray(value) ? value.join(', ') : String(value),
    })),
    key_field: trigger.key_field ?? '',
    context_window: trigger.emit?.context_window ?? NEW_TRIGGER.context_window,
    cooldown: trigger.cooldown ?? NEW_TRIGGER.cooldown,
    description: trigger.description ?? '',
  }
  if ('every' in condition) return { ...shared, kind: 'schedule', every: condition.every }
  const [op = '>', number = '5'] = condition.predicate.split(' ')
  return {
    ...shared,
    aggregate: condition.aggregate,
    field: condition.field ?? '',
    op,
    number,
    window: condition.window,
    group_by: condition.group_by ?? [],
  }
}

/** The draft as the API takes it. @param kept what the form does not show: the rest of a schedule, the kind. */
export function writeOf(draft: TriggerDraft, kept?: Trigger): TriggerWrite {
  const condition =
    draft.kind === 'schedule'
      ? { ...(kept && 'every' in kept.condition ? kept.condition : {}), every: draft.every }
      : {
          aggregate: draft.aggregate,
          ...(draft.aggregate !== 'count' && draft.field ? { field: draft.field } : {}),
          predicate: `${draft.op} ${draft.number}`,
          window: draft.window,
          ...(draft.group_by.length ? { group_by: draft.group_by } : {}),
        }
  const kind = kept?.emit?.kind
  return {
    name: draft.name.trim(),
    sources: draft.sources,
    condition,
    filters: draft.filters.filter(({ field }) => field.trim() !== '').map(filterOf),
    key_field: draft.key_field.trim(),
    emit: { ...(kind && kind !== draft.name ? { kind } : {}), context_window: draft.context_window },
    cooldown: draft.cooldown,
    description: draft.description,
  } as TriggerWrite
}

function filterOf({ field, op, value }: FilterRow): Filter {
  if (op !== 'in') return { field: field.trim(), op, value: typed(value) }
  const values = value
    .split(',')
    .map((entry) => entry.trim())
    .filter(Boolean)
    .map(typed)
  return { field: field.trim(), op, value: values } as Filter
}

/** A number where it is one: numeric filters compare numbers. */
function typed(value: string): string | number {
  return /^-?\d+(\.\d+)?$/.test(value.trim()) ? Number(value) : value
}

/** The condition as a sentence that changes as one types. */
export function sentenceOf(draft: TriggerDraft): string {
  const sources = draft.sources.join(', ') || 'no source yet'
  if (draft.description.trim()) return `When ${draft.description.trim()}.`
  if (draft.kind === 'schedule') return `Every ${draft.every}, with a summary of ${sources}.`
  const what =
    draft.aggregate === 'count'
      ? 'the number of events'
      : `${draft.aggregate} of ${draft.field || 'a number label'}`
  const ops: Record<string, string> = {
    '>': 'above',
    '>=': 'at least',
    '<': 'below',
    '<=': 'at most',
    '==': 'exactly',
  }
  const filters = draft.filters.filter(({ field }) => field.trim())
  const where = filters.length
    ? ` where ${filters.map(({ field, op, value }) => `${field} ${FILTER_OPS.find((o) => o.value === op)?.label} ${value}`).join(' and ')}`
    : ''
  return `When ${what} is ${ops[draft.op] ?? draft.op} ${draft.number} within ${draft.window} on ${sources}${where}, at most once every ${draft.cooldown} per ${draft.key_field || 'entity'}.`
}

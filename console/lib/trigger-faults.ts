/** What a trigger that is typed lacks, by the field: the rules of its schema that can be told without asking. */
import type { FieldErrors } from './field-errors.ts'
import { countsEvents, isDuration, type TriggerDraft } from './trigger-draft.ts'

const DURATION = 'A duration, for example 30s, 5m, 1h or 2d'

/** @returns sentences by the path of their field, in the order of the form; none: it can be saved */
export function faultsOf(draft: TriggerDraft): FieldErrors {
  const found: FieldErrors = {}
  const need = (path: string, holds: boolean, fault: string): void => {
    if (!holds) found[path] = fault
  }
  conditionFaults(draft, need)
  need('sources', draft.sources.length > 0, 'Choose at least one source')
  for (const [i, row] of draft.filters.entries())
    need(`filters[${i}]`, isBlank(row) || row.field.trim() !== '', 'Choose the field to look at')
  const lengths: [path: string, text: string, isOptional: boolean][] = [
    ['cooldown', draft.cooldown, false],
    ['emit.context_window', draft.context_window, false],
    ['max_late', draft.max_late, false],
    ['storm.quiet', draft.quiet, true],
    ['storm.max_wait', draft.max_wait, true],
  ]
  for (const [path, text, isOptional] of lengths)
    need(path, (isOptional && text.trim() === '') || isDuration(text), DURATION)
  for (const [i, { max, per }] of draft.limits.entries()) {
    need(`storm.limits[${i}].max`, max !== '', 'A number is needed')
    need(`storm.limits[${i}].per`, isDuration(per), DURATION)
  }
  return found
}

/** A row that says nothing at all is left out, and no fault. */
const isBlank = ({ field, value, values }: TriggerDraft['filters'][number]): boolean =>
  field === '' && value === '' && values.length === 0

function conditionFaults(
  draft: TriggerDraft,
  need: (path: string, holds: boolean, fault: string) => void,
): void {
  const { kind, aggregate } = draft
  if (kind === 'threshold') {
    const needsField = !countsEvents(aggregate) && aggregate !== 'any'
    need('condition.field', !needsField || draft.field.trim() !== '', 'Choose a label or field')
    need('condition.predicate', draft.number !== '', 'A number is needed')
    need('condition.window', isDuration(draft.window), DURATION)
    need('condition.resolve', draft.resolve !== 'when' || draft.resolve_number !== '', 'A number is needed')
  }
  if (kind === 'event')
    need(
      'condition.resolve',
      draft.over_equal.length === 0 || !draft.over_filters.every(isBlank),
      'Say which event ends it',
    )
  if (kind === 'silence') need('condition.absent_for', isDuration(draft.absent_for), DURATION)
  if (kind === 'change') need('condition.change_of', draft.change_of.trim() !== '', 'Choose a label or field')
  if (kind === 'sequence') {
    need('condition.within', isDuration(draft.within), DURATION)
    for (const [i, { filters }] of draft.steps.entries())
      need(`condition.sequence[${i}].filters`, !filters.every(isBlank), 'Say what this step looks for')
  }
  if (kind === 'schedule' && draft.timing === 'every')
    need('condition.every', isDuration(draft.every), DURATION)
  if (kind === 'schedule' && draft.timing === 'cron')
    need(
      'condition.cron',
      draft.cron.trim().split(/\s+/).length === 5,
      'Five fields: minute, hour, day, month, weekday',
    )
}

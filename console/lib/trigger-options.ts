/** What the sentence of a trigger leaves out, so that it is folded: each with its fields and its default. */
import { NEW_TRIGGER, type TriggerDraft } from './trigger-draft.ts'

interface Option {
  /** Fields of the draft. */
  fields: (keyof TriggerDraft)[]
  /** Paths of refusals about them. */
  paths: string[]
}

const OF_ALL: readonly Option[] = [
  { fields: ['key_field'], paths: ['key_field'] },
  { fields: ['context_window'], paths: ['emit.context_window'] },
  { fields: ['max_late'], paths: ['max_late'] },
  { fields: ['severity_field'], paths: ['severity_field'] },
  { fields: ['emit_kind'], paths: ['emit.kind'] },
  { fields: ['description'], paths: ['description'] },
]
const OF_EVENTS: readonly Option[] = [
  { fields: ['joined'], paths: ['joined'] },
  { fields: ['quiet'], paths: ['storm.quiet'] },
  { fields: ['max_wait'], paths: ['storm.max_wait'] },
  { fields: ['min_count'], paths: ['storm.min_count'] },
  { fields: ['limits'], paths: ['storm.limits', ...[0, 1, 2, 3, 4].map((i) => `storm.limits[${i}]`)] },
]

/** Those that this kind of trigger has. */
export function optionsOf({ kind }: Pick<TriggerDraft, 'kind'>): Option[] {
  if (kind === 'schedule') return [...OF_ALL, { fields: ['cooldown'], paths: ['cooldown'] }]
  if (kind === 'event')
    return [...OF_ALL, ...OF_EVENTS, { fields: ['over_filters', 'over_equal'], paths: ['condition.resolve'] }]
  if (kind !== 'threshold') return [...OF_ALL, ...OF_EVENTS]
  return [...OF_ALL, ...OF_EVENTS, { fields: ['resolve'], paths: ['condition.resolve'] }]
}

/** How many are not as they are by default. */
export const changedOptions = (draft: TriggerDraft): number =>
  optionsOf(draft).filter(({ fields }) =>
    fields.some((field) => JSON.stringify(draft[field]) !== JSON.stringify(NEW_TRIGGER[field])),
  ).length

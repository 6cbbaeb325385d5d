/** A name for a trigger, made from what its sentence says until somebody types another. */
import type { TriggerDraft } from './trigger-draft.ts'

const LENGTH_MAX = 64

/**
 * Such as app-logs-errors. Blank while there is no source to call it after.
 * @param taken names there are: a number makes it another
 */
export function nameFrom(draft: TriggerDraft, taken: readonly string[]): string {
  const [source] = draft.sources
  if (source === undefined) return ''
  const base = slug(`${source}-${whatOf(draft)}`).slice(0, LENGTH_MAX - 4)
  const used = new Set(taken)
  let name = base
  for (let n = 2; used.has(name); n += 1) name = `${base}-${n}`
  return name
}

function whatOf(draft: TriggerDraft): string {
  switch (draft.kind) {
    case 'silence':
      return 'silence'
    case 'sequence':
      return 'sequence'
    case 'schedule':
      return 'summary'
    case 'change':
      return [last(draft.change_of), 'change'].filter(Boolean).join('-')
    default:
      return draft.field.trim() !== '' && draft.kind === 'threshold' && !/count|rate/.test(draft.aggregate)
        ? last(draft.field)
        : counted(draft)
  }
}

/** "event_type is error" counts errors. */
function counted({ filters }: TriggerDraft): string {
  const word = filters.find(({ op, value }) => op === 'eq' && /^[A-Za-z][\w-]*$/.test(value))?.value
  if (word) return word.endsWith('s') ? word : `${word}s`
  const [row] = filters.filter(({ field }) => field.trim() !== '')
  return row ? [last(row.field), row.value].filter(Boolean).join('-') : 'events'
}

/** payload.http.status as status. */
const last = (field: string): string => field.trim().split('.').at(-1) ?? ''

const slug = (text: string): string =>
  text
    .toLowerCase()
    .replace(/[^a-z0-9_.-]+/g, '-')
    .replace(/-{2,}/g, '-')
    .replace(/^[^a-z0-9]+|[^a-z0-9]+$/g, '')

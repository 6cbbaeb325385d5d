/** Labels while they are edited, and as the API takes them. */
import type { Label } from '../../schemas/types.ts'

/** A label while it is edited: both ways of giving its value are kept. */
export interface LabelDraft {
  id: number
  name: string
  kind: 'field' | 'const'
  value: string
  primary: boolean
  type: 'string' | 'number'
  pattern: string
  replace: string
  map?: Record<string, string>
}

let nextId = 1
export const emptyLabel = (primary = false): LabelDraft => ({
  id: nextId++,
  name: '',
  kind: 'field',
  value: '',
  primary,
  type: 'string',
  pattern: '',
  replace: '',
})

export function toDrafts(labels: readonly Label[]): LabelDraft[] {
  return labels.map((label) => ({
    ...emptyLabel(label.primary ?? false),
    name: label.name,
    kind: 'field' in label ? 'field' : 'const',
    value: 'field' in label ? label.field : String(label.const),
    type: label.type ?? 'string',
    ...('field' in label
      ? { pattern: label.pattern ?? '', replace: label.replace ?? '', map: label.map }
      : {}),
  }))
}

/** The labels as the API takes them; rows without a name are left out. */
export function toLabels(drafts: readonly LabelDraft[]): Label[] {
  return drafts
    .filter((draft) => draft.name.trim() !== '')
    .map((draft): Label => {
      const shared = {
        name: draft.name.trim(),
        ...(draft.primary ? { primary: true } : {}),
        ...(draft.type === 'number' ? { type: 'number' as const } : {}),
      }
      if (draft.kind === 'const')
        return { ...shared, const: draft.type === 'number' ? Number(draft.value) : draft.value }
      return {
        ...shared,
        field: draft.value.trim(),
        ...(draft.pattern
          ? { pattern: draft.pattern, ...(draft.replace ? { replace: draft.replace } : {}) }
          : {}),
        ...(draft.map ? { map: draft.map } : {}),
      }
    })
}

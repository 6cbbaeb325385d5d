/** What each part of the trigger editor is given. */
import type { FieldErrors } from '../../lib/field-errors.ts'
import type { TriggerDraft } from '../../lib/trigger-draft.ts'
import type { KnownFields } from '../../lib/use-known-fields.ts'

export interface Part {
  draft: TriggerDraft
  set: <K extends keyof TriggerDraft>(field: K, value: TriggerDraft[K]) => void
  errors: FieldErrors
  known: KnownFields
}

/** What the daemon finds wrong with a draft, by step and by field. */
import type { DraftProblem } from '../../../../schemas/types.ts'
import { type FieldErrors, fieldErrors } from '../../../lib/field-errors.ts'
import { operationsOf, stepOf } from '../../draft/draft.ts'
import { nodeId, type PartRef } from '../../draft/ids.ts'
import type { Editor } from './use-editor.ts'

export interface Problem extends DraftProblem {
  /** Step it comes from, from 0; null: the draft as a whole. */
  step: number | null
  /** Node it is about; null: none. */
  node: string | null
}

/** Why the draft cannot be applied as it is. */
export function problemsOf({ draft, preview }: Pick<Editor, 'draft' | 'preview'>): Problem[] {
  if (!draft) return []
  if (preview.error)
    return [{ operation: null, field: null, message: preview.error.message, step: null, node: null }]
  const operations = operationsOf(draft)
  return (preview.answer?.problems ?? []).map((problem) => {
    const operation = problem.operation === null ? undefined : operations[problem.operation]
    return {
      ...problem,
      step: problem.operation === null ? null : stepOf(draft, problem.operation),
      node: operation && operation.kind !== 'project' ? nodeId(operation) : null,
    }
  })
}

/** What is wrong with the fields of a part. */
export function faultsOf(editor: Editor, part: PartRef): FieldErrors {
  const faults: FieldErrors = {}
  for (const { node, field, message } of problemsOf(editor)) {
    if (node !== nodeId(part)) continue
    Object.assign(faults, fieldErrors(new Error(message)))
    if (field) faults[field] ??= message
  }
  return faults
}

/** The rules that a draft breaks, each with the operation that breaks it. */
import type { DraftProblem, Operation } from '../../../schemas/types.ts'
import { SvcError } from '../../errors.ts'

/** Refusals of what was asked for; anything else is a fault, and no problem of the draft. */
const OF_THE_DRAFT: ReadonlySet<string> = new Set(['invalid', 'not_found', 'conflict', 'wrong_state'])

/** @returns the error as one of the draft. @throws what is none */
export function refusalOf(error: unknown): SvcError {
  if (error instanceof SvcError && OF_THE_DRAFT.has(error.code)) return error
  throw error
}

/** @param operation its index; null: found once all were staged, and then it is looked for */
export function problemOf(
  error: SvcError,
  operation: number | null,
  operations: readonly Operation[],
): DraftProblem {
  return {
    operation: operation ?? operationAbout(error, operations),
    field: fieldOf(error),
    // The index is a field of its own here.
    message: error.message.replace(/^operations\[\d+\](\.|: )/, ''),
  }
}

/** Whether a problem only follows from an operation that was refused before: what it was to make is not there. */
export function followsFrom(error: SvcError, refused: readonly Operation[]): boolean {
  const missing = /(?:is named|has the id or name) ([^;]+)/.exec(error.message)?.[1]?.split(', ') ?? []
  return refused.some(({ name }) => missing.includes(name))
}

function operationAbout({ extra: { about } }: SvcError, operations: readonly Operation[]): number | null {
  if (operations.length === 1) return 0
  if (!about) return null
  const found = operations.findLastIndex(
    ({ kind, name }) => kind === about.kind && (name === about.name || kind === 'project'),
  )
  return found === -1 ? null : found
}

/** Rules of the schemas name the field first, and not beside the message. */
function fieldOf({ message, extra }: SvcError): string | null {
  const field = extra.field ?? /^([a-z_]+(?:[.[][\w.[\]/]+)?) (?:must|is|has) /.exec(message)?.[1]
  return field?.replace(/^operations\[\d+\]\.?/, '') || null
}

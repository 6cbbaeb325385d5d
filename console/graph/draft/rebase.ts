/** What others changed meanwhile: a draft moves on to their version, field by field. */
import type { MergeConflict, Operation } from '../../../schemas/types.ts'
import { type Draft, type SecretField, type Step, withoutSteps } from './draft.ts'
import { without, withValue } from './patch.ts'

export type Side = 'mine' | 'theirs'

/** A conflict by its object and field. */
export const conflictKey = ({ kind, name, path }: Pick<MergeConflict, 'kind' | 'name' | 'path'>): string =>
  `${kind}:${name}${path}`

/**
 * The draft on another version. Where mine is kept, the steps are replayed over theirs; where theirs
 * is taken, the steps lose that field, and those that then say nothing are dropped.
 * @param version that was shown with the conflicts
 */
export function rebased(
  draft: Draft,
  version: number,
  conflicts: readonly MergeConflict[],
  choice: ReadonlyMap<string, Side>,
): Draft {
  const theirs = conflicts.filter((conflict) => choice.get(conflictKey(conflict)) === 'theirs')
  const yielded = draft.steps.map((step) => theirs.reduce(yielding, step))
  const isEmpty = ({ operations, tidied }: Step): boolean => operations.length === 0 && !tidied
  return {
    base: version,
    steps: withoutSteps(yielded, isEmpty),
    cursor: yielded.slice(0, draft.cursor).filter((step) => !isEmpty(step)).length,
  }
}

function yielding(step: Step, conflict: MergeConflict): Step {
  // A part whose field is theirs stays, in the project and with its wires: a deletion is taken back as a whole.
  if (step.operations.some((operation) => operation.op === 'delete' && isAbout(operation, conflict))) {
    const { secrets: _secrets, ...rest } = step
    return { ...rest, operations: [] }
  }
  const operations: Operation[] = []
  const secrets: SecretField[] = []
  step.operations.forEach((operation, at) => {
    const left = yielded(operation, conflict)
    if (!left) return
    for (const secret of step.secrets ?? [])
      if (secret.operation === at && !(isAbout(operation, conflict) && covers(conflict.path, secret.path)))
        secrets.push({ ...secret, operation: operations.length })
    operations.push(left)
  })
  const { secrets: _secrets, ...rest } = step
  return { ...rest, operations, ...(secrets.length ? { secrets } : {}) }
}

const covers = (outer: string, inner: string): boolean => inner === outer || inner.startsWith(`${outer}/`)

/** A conflict names a project by its name, an operation by its id: there is one project in a draft. */
const isAbout = ({ kind, name }: Operation, conflict: MergeConflict): boolean =>
  kind === conflict.kind && (kind === 'project' || name === conflict.name)

/** The operation without its word on a field; null: it says nothing any more. */
function yielded(operation: Operation, conflict: MergeConflict): Operation | null {
  if (!isAbout(operation, conflict) || !operation.spec) return operation
  if (operation.op === 'put') {
    const theirs = conflict.theirs === null ? undefined : conflict.theirs
    return { ...operation, spec: { ...withValue(operation.spec, conflict.path, theirs) } }
  }
  const spec = without(operation.spec, conflict.path)
  return Object.keys(spec).length ? { ...operation, spec: { ...spec } } : null
}

/** What applying a commit as it is would write over. Pure, and safe in a browser. */
import type { CatalogDifference, ChangePlan } from './types.ts'

/**
 * Edits by hand that a plan undoes. What the plan does not touch stays, such as a part with `sync: warn`.
 * @param differences between files and instance, of the same commit
 */
export function overwrittenBy(
  plan: Pick<ChangePlan, 'changes'>,
  differences: readonly CatalogDifference[],
): CatalogDifference[] {
  const touched = new Set(
    plan.changes.flatMap(({ action, kind, name, fields }) =>
      action === 'none'
        ? []
        : ['', ...fields.map(({ path }) => path)].map((path) => `${kind} ${name} ${path}`),
    ),
  )
  return differences.filter(
    ({ kind, name, path, changed_in: where }) => where !== 'files' && touched.has(`${kind} ${name} ${path}`),
  )
}

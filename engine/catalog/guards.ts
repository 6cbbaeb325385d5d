/** What keeps a plan from deleting more than was meant. */
import type { Catalog, CatalogProblem, ChangePlan } from '../../schemas/types.ts'
import { kindWord } from '../changes/declared.ts'
import type { Locate } from './import-run.ts'
import { isEmptyCatalog } from './warnings.ts'

/** Objects that an import deletes at most, unless it is told otherwise. */
const MAX_DELETIONS = 10
const NAMED_MOST = 10

interface Bounds {
  allow_empty?: boolean | undefined
  max_deletions?: number | undefined
}

/** @returns a problem when the plan deletes more than the bounds let it. */
export function guardProblems(
  plan: ChangePlan,
  catalog: Catalog,
  { allow_empty = false, max_deletions = MAX_DELETIONS }: Bounds,
  locate: Locate,
): CatalogProblem[] {
  if (plan.deletes === 0) return []
  const at = { ...locate([]), path: '' }
  if (isEmptyCatalog(catalog) && !allow_empty)
    return [
      {
        ...at,
        message: `the file declares nothing, and pruning by it would delete ${deletedIn(plan)}; allow_empty (--allow-empty) says that this is meant`,
      },
    ]
  if (plan.deletes <= max_deletions) return []
  return [
    {
      ...at,
      message: `${plan.deletes} objects would be deleted, and at most ${max_deletions} may be: ${deletedIn(plan)}; max_deletions (--max-deletions ${plan.deletes}) raises that`,
    },
  ]
}

function deletedIn({ changes, deletes }: ChangePlan): string {
  const names = changes
    .filter(({ action }) => action === 'delete')
    .slice(0, NAMED_MOST)
    .map(({ kind, name }) => `${kindWord(kind)} ${name}`)
  return `${names.join(', ')}${deletes > NAMED_MOST ? ` and ${deletes - NAMED_MOST} more` : ''}`
}

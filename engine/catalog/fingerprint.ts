/**
 * The fingerprint of a plan: of the file, of what is done with it, of every change and of the version of
 * each object it changes. An approval names it, so that nothing else is done in its name.
 */
import { createHash } from 'node:crypto'
import type { ChangePlan } from '../../schemas/types.ts'

/**
 * @param basis the objects that change with their versions, as of Committed. Ids of projects that the
 *   plan makes are drawn anew each time and are no part of it; secrets are masked in the plan.
 * @returns 64 hex digits
 */
export function fingerprintOf(
  yaml: string,
  prune: boolean,
  plan: ChangePlan,
  basis: readonly string[],
): string {
  const changes = plan.changes
    .filter(({ action }) => action !== 'none')
    .map(({ action, kind, name, fields }) => [action, kind, name, fields])
  return createHash('sha256')
    .update(JSON.stringify([yaml, prune, changes, basis]))
    .digest('hex')
}

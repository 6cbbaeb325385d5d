/** Rolling back the instance, or one project with the parts it uses or used. */

import type { ChangeApplied } from '../../schemas/types.ts'
import type { ChangeKind, Doc } from '../changes/declared.ts'
import { documentOf } from '../changes/documents.ts'
import type { Edit } from '../changes/edit.ts'
import type { Declared } from './declared.ts'
import { requireProject } from './skill-writes.ts'
import type { WriteBy } from './write.ts'

/** @param project id or name; absent: everything. @throws SvcError not_found; invalid; conflict */
export function rollBack(
  declared: Declared,
  id: number,
  { project, dryRun }: { project?: string | undefined; dryRun: boolean },
  by: WriteBy,
): ChangeApplied {
  const { changes } = declared
  const key = project === undefined ? null : requireProject(declared, project)
  const isMeant = (edit: Edit) => {
    if (key === null) return () => true
    const then = changes.documentAt('project', key, id) ?? undefined
    const parts = new Set([...partsIn(edit.get('project', key)), ...partsIn(then)])
    return (kind: ChangeKind, other: string) =>
      kind === 'project' ? other === key : parts.has(`${kind}:${other}`)
  }
  const { plan, changeSet } = changes.rollback(id, isMeant, by, dryRun)
  return { change_set: changeSet, plan, version: changes.version() }
}

function partsIn(doc: Doc | undefined): string[] {
  const { uses } = documentOf('project', doc ?? { uses: {} })
  return Object.entries(uses).flatMap(([kind, names]) =>
    Object.keys(names ?? {}).map((name) => `${kind}:${name}`),
  )
}

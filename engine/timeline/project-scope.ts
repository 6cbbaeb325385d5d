/** Which sources a project reads (SPEC.md, Authentication 4: a project key reads that project). */
import { fail } from '../errors.ts'
import type { Database } from '../store/handle.ts'
import type { SourceNames } from './source-names.ts'

export interface ProjectScope {
  ids: string[]
  /** Ids of its sources. */
  members: number[]
  /** Ids of the sources findings are written to: of these only what was recorded in the project. */
  findings: number[]
}

/** @param words ids or names: what any of them reads. @throws SvcError invalid */
export function projectScope(
  db: Database,
  names: SourceNames,
  words: string | readonly string[],
): ProjectScope {
  const ids = [words].flat().map((word) => idOf(db, word))
  const uses = new Set(
    db
      .prepare<[string], string>(
        "SELECT name FROM project_uses WHERE project IN (SELECT value FROM json_each(?)) AND kind = 'source'",
      )
      .pluck()
      .all(JSON.stringify(ids)),
  )
  const live = [...names.all()].filter((source) => !source.deleted)
  return {
    ids,
    members: live
      .filter(({ name, sourceType }) => uses.has(name) && sourceType !== 'finding')
      .map((s) => s.id),
    findings: live.filter(({ sourceType }) => sourceType === 'finding').map((s) => s.id),
  }
}

function idOf(db: Database, word: string): string {
  return (
    db
      .prepare<[string, string], string>(
        "SELECT id FROM projects WHERE (id = ? OR name = ?) AND state <> 'deleted' LIMIT 1",
      )
      .pluck()
      .get(word, word) ??
    fail('invalid', `project: no project has the id or name ${word}`, { field: 'project' })
  )
}

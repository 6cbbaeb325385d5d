/** The SQL of change-sets: the record of who changed what, when and why. */
import type { ChangeSet } from '../../schemas/types.ts'
import type { Database } from '../store/handle.ts'

export interface ChangeSetRow {
  id: number
  at: number
  actor: string
  actor_id: string
  origin: ChangeSet['origin']
  why: string
  summary: string
  undoes: number | null
  undone_by: number | null
}

/** One object's change; documents as JSON, secrets sealed, null where it was not there. */
export interface ChangeRow {
  change_set: number
  seq: number
  kind: string
  key: string
  name: string
  action: 'create' | 'update' | 'delete'
  before: string | null
  after: string | null
}

/** Narrows a list of change-sets; null narrows nothing. */
export interface ChangeSetFilter {
  project: string | null
  kind: string | null
  key: string | null
  before: number | null
  limit: number
}

export type ChangeQueries = ReturnType<typeof changeQueries>

/** The statements of change-sets, prepared once. */
export function changeQueries(db: Database) {
  const newest = db.prepare<[], number | null>('SELECT max(id) FROM change_sets').pluck()
  const insertSet = db.prepare<Omit<ChangeSetRow, 'id' | 'undone_by'>>(
    'INSERT INTO change_sets (at, actor, actor_id, origin, why, summary, undoes) VALUES (@at, @actor, @actor_id, @origin, @why, @summary, @undoes)',
  )
  const setSummary = db.prepare<[string, number]>('UPDATE change_sets SET summary = ? WHERE id = ?')
  const insertChange = db.prepare<ChangeRow>(
    'INSERT INTO changes (change_set, seq, kind, key, name, action, before, after) VALUES (@change_set, @seq, @kind, @key, @name, @action, @before, @after)',
  )
  const insertProject = db.prepare<[string, number]>(
    'INSERT OR IGNORE INTO change_set_projects (project, change_set) VALUES (?, ?)',
  )
  const set = db.prepare<[number], ChangeSetRow>('SELECT * FROM change_sets WHERE id = ?')
  const changes = db.prepare<[number], ChangeRow>('SELECT * FROM changes WHERE change_set = ? ORDER BY seq')
  const projects = db
    .prepare<[number], string>(
      'SELECT project FROM change_set_projects WHERE change_set = ? ORDER BY project',
    )
    .pluck()
  const documentAt = db
    .prepare<[string, string, number], string | null>(
      'SELECT after FROM changes WHERE kind = ? AND key = ? AND change_set <= ? ORDER BY change_set DESC, seq DESC LIMIT 1',
    )
    .pluck()
  const firstBefore = db
    .prepare<[string, string, number], string | null>(
      'SELECT before FROM changes WHERE kind = ? AND key = ? AND change_set > ? ORDER BY change_set, seq LIMIT 1',
    )
    .pluck()
  const lastDeleted = db
    .prepare<[string, string], string | null>(
      "SELECT before FROM changes WHERE kind = ? AND key = ? AND action = 'delete' ORDER BY change_set DESC, seq DESC LIMIT 1",
    )
    .pluck()
  const changedSince = db.prepare<[number], { kind: string; key: string; name: string }>(
    'SELECT kind, key, max(name) AS name FROM changes WHERE change_set > ? GROUP BY kind, key',
  )
  const markUndone = db.prepare<[number, number]>('UPDATE change_sets SET undone_by = ? WHERE id = ?')
  const list = db.prepare<ChangeSetFilter, ChangeSetRow>(
    `SELECT * FROM change_sets s
     WHERE (@before IS NULL OR s.id < @before)
       AND (@project IS NULL OR EXISTS (SELECT 1 FROM change_set_projects p WHERE p.project = @project AND p.change_set = s.id))
       AND (@kind IS NULL OR EXISTS (SELECT 1 FROM changes c WHERE c.change_set = s.id AND c.kind = @kind AND (@key IS NULL OR c.key = @key)))
     ORDER BY s.id DESC LIMIT @limit`,
  )
  return {
    /** Version of the whole: id of the newest change-set, 0 when there is none. */
    newest: () => newest.get() ?? 0,
    insertSet: (row: Omit<ChangeSetRow, 'id' | 'undone_by'>) => Number(insertSet.run(row).lastInsertRowid),
    setSummary: (id: number, summary: string) => setSummary.run(summary, id),
    insertChange: (row: ChangeRow) => insertChange.run(row),
    insertProject: (project: string, changeSet: number) => insertProject.run(project, changeSet),
    set: (id: number) => set.get(id),
    changes: (id: number) => changes.all(id),
    projects: (id: number) => projects.all(id),
    /**
     * An object's document as of a change-set: null when it was not there, undefined when nothing
     * is recorded of it.
     */
    documentAt: (kind: string, key: string, changeSet: number): string | null | undefined => {
      const recorded = documentAt.get(kind, key, changeSet)
      // With no change up to then, it was what the first change after it found.
      return recorded === undefined ? firstBefore.get(kind, key, changeSet) : recorded
    },
    /** The document of an object when it was last deleted. */
    lastDeleted: (kind: string, key: string) => lastDeleted.get(kind, key) ?? undefined,
    /** Objects that were changed after a change-set. */
    changedSince: (id: number) => changedSince.all(id),
    markUndone: (id: number, by: number) => markUndone.run(by, id),
    list: (filter: ChangeSetFilter) => list.all(filter),
  }
}

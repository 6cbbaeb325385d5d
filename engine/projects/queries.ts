/** The SQL of projects: their rows, who uses what, and the objects of templates' plans. */
import type { Database } from '../store/handle.ts'

export interface ProjectRow {
  id: string
  name: string
  /** JSON; secret parameters sealed. */
  spec: string
  snapshot: string
  state: string
  change_set: number
  created_at: number
  updated_at: number
}

export interface PlannedRow {
  id: number
  project: string
  kind: string
  key: string
  name: string
  /** JSON of the entry of the project's plan. */
  plan: string
  state: 'none' | 'planned' | 'customized' | 'missing' | 'adopted'
  created_at: number
}

export type ProjectQueries = ReturnType<typeof projectQueries>

/** The statements of projects, prepared once. */
export function projectQueries(db: Database) {
  const columns = 'id, name, spec, snapshot, state, change_set, created_at, updated_at'
  const all = db.prepare<[], ProjectRow>(
    `SELECT ${columns} FROM projects WHERE state <> 'deleted' ORDER BY name`,
  )
  const byId = db.prepare<[string], ProjectRow>(`SELECT ${columns} FROM projects WHERE id = ?`)
  const insert = db.prepare(
    'INSERT INTO projects (id, name, spec, snapshot, change_set, created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?, ?)',
  )
  const update = db.prepare(
    'UPDATE projects SET name = ?, spec = ?, change_set = ?, updated_at = ? WHERE id = ?',
  )
  const addUse = db.prepare('INSERT OR IGNORE INTO project_uses (project, kind, name) VALUES (?, ?, ?)')
  const dropUse = db.prepare('DELETE FROM project_uses WHERE project = ? AND kind = ? AND name = ?')
  const users = db
    .prepare<[string, string], string>(
      'SELECT project FROM project_uses WHERE kind = ? AND name = ? ORDER BY project',
    )
    .pluck()
  const allUses = db.prepare<[], { project: string; kind: string; name: string }>(
    'SELECT project, kind, name FROM project_uses',
  )
  const plannedColumns = 'id, project, kind, key, name, plan, state, created_at'
  const planned = db.prepare<[], PlannedRow>(`SELECT ${plannedColumns} FROM planned_objects ORDER BY id`)
  const plannedOf = db.prepare<[string], PlannedRow>(
    `SELECT ${plannedColumns} FROM planned_objects WHERE project = ? ORDER BY id`,
  )
  const plannedNamed = db.prepare<[string, string], PlannedRow>(
    `SELECT ${plannedColumns} FROM planned_objects WHERE kind = ? AND name = ? ORDER BY id`,
  )
  const insertPlanned = db.prepare(
    'INSERT INTO planned_objects (project, kind, key, name, plan, snapshot, created_at) VALUES (?, ?, ?, ?, ?, ?, ?)',
  )
  const updatePlanned = db.prepare('UPDATE planned_objects SET name = ?, plan = ? WHERE id = ?')
  const dropPlanned = db.prepare('DELETE FROM planned_objects WHERE id = ?')
  return {
    all: () => all.all(),
    /** A deleted one included. */
    byId: (id: string) => byId.get(id),
    insert: (row: {
      id: string
      name: string
      spec: string
      snapshot: string
      changeSet: number
      at: number
    }) => insert.run(row.id, row.name, row.spec, row.snapshot, row.changeSet, row.at, row.at),
    update: (id: string, name: string, spec: string, changeSet: number, at: number) =>
      update.run(name, spec, changeSet, at, id),
    addUse: (project: string, kind: string, name: string) => addUse.run(project, kind, name),
    dropUse: (project: string, kind: string, name: string) => dropUse.run(project, kind, name),
    /** Ids of the live projects that use a part. */
    users: (kind: string, name: string) => users.all(kind, name),
    allUses: () => allUses.all(),
    planned: () => planned.all(),
    plannedOf: (project: string) => plannedOf.all(project),
    plannedNamed: (kind: string, name: string) => plannedNamed.all(kind, name),
    insertPlanned: (
      row: Omit<PlannedRow, 'id' | 'state' | 'created_at'> & { snapshot: string; at: number },
    ) =>
      Number(
        insertPlanned.run(row.project, row.kind, row.key, row.name, row.plan, row.snapshot, row.at)
          .lastInsertRowid,
      ),
    updatePlanned: (id: number, name: string, plan: string) => updatePlanned.run(name, plan, id),
    dropPlanned: (id: number) => dropPlanned.run(id),
  }
}

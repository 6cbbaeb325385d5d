/** The SQL of parts that are a name and a spec: triggers, agents, MCP servers, skills. */
import type { Database } from '../store/handle.ts'

export interface PartRow {
  id: number
  name: string
  /** JSON; secrets sealed. */
  spec: string
  snapshot: string
  state: string
  change_set: number
  created_at: number
  updated_at: number
}

export interface PartWrite {
  name: string
  spec: string
  snapshot: string
  changeSet: number
  /** Epoch ms. */
  at: number
}

export type PartTable = 'triggers' | 'agents' | 'mcp_servers' | 'skills'
export type PartQueries = ReturnType<typeof partQueries>

/** The statements of one table, prepared once. */
export function partQueries(db: Database, table: PartTable) {
  const columns = 'id, name, spec, snapshot, state, change_set, created_at, updated_at'
  const all = db.prepare<[], PartRow>(
    `SELECT ${columns} FROM ${table} WHERE state <> 'deleted' ORDER BY name`,
  )
  const byName = db.prepare<[string], PartRow>(
    `SELECT ${columns} FROM ${table} WHERE name = ? AND state <> 'deleted'`,
  )
  const byId = db.prepare<[number], PartRow>(`SELECT ${columns} FROM ${table} WHERE id = ?`)
  const insert = db.prepare(
    `INSERT INTO ${table} (name, spec, snapshot, change_set, created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?)`,
  )
  const update = db.prepare(`UPDATE ${table} SET spec = ?, change_set = ?, updated_at = ? WHERE id = ?`)
  return {
    all: () => all.all(),
    byName: (name: string) => byName.get(name),
    byId: (id: number) => byId.get(id),
    insert: ({ name, spec, snapshot, changeSet, at }: PartWrite) =>
      Number(insert.run(name, spec, snapshot, changeSet, at, at).lastInsertRowid),
    update: (id: number, spec: string, changeSet: number, at: number) => update.run(spec, changeSet, at, id),
  }
}

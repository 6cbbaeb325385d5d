/** The SQL of keys. */
import type { Key } from '../../schemas/types.ts'
import type { Database } from '../store/handle.ts'

export interface KeyRow {
  id: string
  name: string
  prefix: string
  hash: string
  /** JSON list. */
  scopes: string
  source_id: number | null
  /** Name of the source it is bound to, a deleted one included. */
  source_name: string | null
  project: string | null
  /** Name of that project, a deleted one included. */
  project_name: string | null
  snapshot: string
  state: Key['state']
  created_at: number
  last_used_at: number | null
  revoked_at: number | null
  /** 1: a person let a machine have it. */
  is_login: number
}

export interface NewKey {
  id: string
  name: string
  prefix: string
  hash: string
  scopes: string
  sourceId: number | null
  project: string | null
  snapshot: string
  isLogin: number
  /** Epoch ms. */
  at: number
}

/** The statements of keys, prepared once. */
export function keyQueries(db: Database) {
  const select =
    'SELECT k.id, k.name, k.prefix, k.hash, k.scopes, k.source_id, s.name AS source_name, k.project, p.name AS project_name, k.snapshot, k.state, k.created_at, k.last_used_at, k.revoked_at, k.is_login FROM keys k LEFT JOIN sources s ON s.id = k.source_id LEFT JOIN projects p ON p.id = k.project'
  const all = db.prepare<[], KeyRow>(`${select} ORDER BY k.created_at DESC, k.rowid DESC`)
  const active = db.prepare<[], KeyRow>(`${select} WHERE k.state = 'active'`)
  const byId = db.prepare<[string], KeyRow>(`${select} WHERE k.id = ?`)
  const activeOfSource = db
    .prepare<[number]>("SELECT id FROM keys WHERE source_id = ? AND state = 'active'")
    .pluck()
  const activeOfProject = db
    .prepare<[string]>("SELECT id FROM keys WHERE project = ? AND state = 'active'")
    .pluck()
  const insert = db.prepare<NewKey>(
    'INSERT INTO keys (id, name, prefix, hash, scopes, source_id, project, snapshot, is_login, created_at) VALUES (@id, @name, @prefix, @hash, @scopes, @sourceId, @project, @snapshot, @isLogin, @at)',
  )
  const markRevoked = db.prepare<[number, string]>('UPDATE keys SET revoked_at = ? WHERE id = ?')
  const touch = db.prepare<[number, string, number]>(
    'UPDATE keys SET last_used_at = ? WHERE id = ? AND (last_used_at IS NULL OR last_used_at <= ?)',
  )
  return {
    /** Newest first, revoked ones included. */
    all: () => all.all(),
    active: () => active.all(),
    byId: (id: string) => byId.get(id),
    activeOfSource: (sourceId: number) => activeOfSource.all(sourceId) as string[],
    activeOfProject: (project: string) => activeOfProject.all(project) as string[],
    insert: (key: NewKey) => insert.run(key),
    markRevoked: (id: string, at: number) => markRevoked.run(at, id),
    /** @param before a key used later than this keeps its time. */
    touch: (id: string, at: number, before: number) => touch.run(at, id, before),
  }
}

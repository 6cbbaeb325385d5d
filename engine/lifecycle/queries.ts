/** The SQL of lifecycles: a row's snapshot, read and saved against its version, and the history. */
import type { Kind } from '../../machines/index.ts'
import type { Database } from '../store/handle.ts'

export const lifecycleTables = {
  source: 'sources',
  key: 'keys',
  trigger: 'triggers',
  agent: 'agents',
  mcp_server: 'mcp_servers',
  skill: 'skills',
  project: 'projects',
  ownership: 'planned_objects',
  firing: 'firings',
  delivery: 'deliveries',
  incident: 'incidents',
  run: 'runs',
  handoff: 'handoffs',
  proposal: 'proposals',
  draft: 'setups',
  ask_turn: 'ask_turns',
} as const satisfies Record<Kind, string>

export interface StoredState {
  /** JSON of the machine's snapshot. */
  snapshot: string
  version: number
}

/** One row of the history; `at` in epoch ms, `from` null for a creation. */
export interface HistoryEntry {
  at: number
  kind: Kind
  object: string
  from: string | null
  event: string
  to: string
  actor: string
}

export interface LifecycleQueries {
  read(kind: Kind, id: number | string): StoredState | undefined
  /** @returns false when the row is no longer of that version: another change came between. */
  save(kind: Kind, id: number | string, snapshot: string, version: number): boolean
  append(entry: HistoryEntry): void
}

/** Statements are prepared once per connection, which every slice shares. */
const prepared = new WeakMap<Database, LifecycleQueries>()

/** The lifecycle statements of a connection. */
export function lifecycleQueries(db: Database): LifecycleQueries {
  const known = prepared.get(db)
  if (known) return known
  const queries = prepare(db)
  prepared.set(db, queries)
  return queries
}

function prepare(db: Database): LifecycleQueries {
  const ofTable = (table: string) => ({
    read: db.prepare<[number | string], StoredState>(`SELECT snapshot, version FROM ${table} WHERE id = ?`),
    save: db.prepare<[string, number | string, number]>(
      `UPDATE ${table} SET snapshot = ?, version = version + 1 WHERE id = ? AND version = ?`,
    ),
  })
  const tables = Object.fromEntries(
    Object.entries(lifecycleTables).map(([kind, table]) => [kind, ofTable(table)]),
  ) as Record<Kind, ReturnType<typeof ofTable>>
  const append = db.prepare<HistoryEntry>(
    'INSERT INTO history (at, kind, object, from_state, event, to_state, actor) VALUES (@at, @kind, @object, @from, @event, @to, @actor)',
  )
  return {
    read: (kind, id) => tables[kind].read.get(id),
    save: (kind, id, snapshot, version) => tables[kind].save.run(snapshot, id, version).changes === 1,
    append: (entry) => {
      append.run(entry)
    },
  }
}

/** The SQL of pinned tools. */
import type { Database } from '../store/handle.ts'

export interface ToolRow {
  server: string
  tool: string
  hash: string
  description: string
  /** JSON. */
  input: string
  read_only: number
  first_seen_at: number
  seen_at: number
  gone_at: number | null
  /** This and the four after it: all null, or none. */
  changed_hash: string | null
  changed_description: string | null
  changed_input: string | null
  changed_read_only: number | null
  changed_at: number | null
  approved_at: number | null
  approved_by: string | null
}

/** What a server says of a tool, at a time (epoch ms). */
export interface ToolSaid {
  server: string
  tool: string
  hash: string
  description: string
  input: string
  read_only: number
  at: number
}

export type ToolQueries = ReturnType<typeof toolQueries>

const UNCHANGED =
  'changed_hash = NULL, changed_description = NULL, changed_input = NULL, changed_read_only = NULL, changed_at = NULL'

export function toolQueries(db: Database) {
  const of = db.prepare<[string], ToolRow>('SELECT * FROM mcp_tools WHERE server = ? ORDER BY tool')
  const one = db.prepare<[string, string], ToolRow>('SELECT * FROM mcp_tools WHERE server = ? AND tool = ?')
  const pin = db.prepare<[ToolSaid]>(
    `INSERT INTO mcp_tools (server, tool, hash, description, input, read_only, first_seen_at, seen_at)
     VALUES (@server, @tool, @hash, @description, @input, @read_only, @at, @at)`,
  )
  const asPinned = db.prepare(
    `UPDATE mcp_tools SET seen_at = ?, gone_at = NULL, ${UNCHANGED} WHERE server = ? AND tool = ?`,
  )
  const stillChanged = db.prepare(
    'UPDATE mcp_tools SET seen_at = ?, gone_at = NULL WHERE server = ? AND tool = ?',
  )
  const change = db.prepare<[ToolSaid]>(
    `UPDATE mcp_tools SET seen_at = @at, gone_at = NULL, changed_hash = @hash, changed_description = @description,
       changed_input = @input, changed_read_only = @read_only, changed_at = @at
     WHERE server = @server AND tool = @tool`,
  )
  const gone = db.prepare('UPDATE mcp_tools SET gone_at = ? WHERE server = ? AND tool = ?')
  const dropGone = db.prepare(
    `DELETE FROM mcp_tools WHERE server = @server AND gone_at IS NOT NULL AND tool NOT IN
       (SELECT tool FROM mcp_tools WHERE server = @server AND gone_at IS NOT NULL ORDER BY gone_at DESC, tool LIMIT @kept)`,
  )
  const approve = db.prepare<[ToolSaid & { by: string }]>(
    `UPDATE mcp_tools SET hash = @hash, description = @description, input = @input, read_only = @read_only,
       approved_at = @at, approved_by = @by, ${UNCHANGED}
     WHERE server = @server AND tool = @tool`,
  )
  return {
    of: (server: string) => of.all(server),
    one: (server: string, tool: string) => one.get(server, tool),
    pin: (said: ToolSaid) => pin.run(said),
    asPinned: (server: string, tool: string, at: number) => asPinned.run(at, server, tool),
    stillChanged: (server: string, tool: string, at: number) => stillChanged.run(at, server, tool),
    change: (said: ToolSaid) => change.run(said),
    gone: (server: string, tool: string, at: number) => gone.run(at, server, tool),
    dropGone: (server: string, kept: number) => dropGone.run({ server, kept }),
    approve: (said: ToolSaid & { by: string }) => approve.run(said),
  }
}

/** How many tools each server listed last, and how many of them wait for approval. */
export function countTools(db: Database): Map<string, { tools: number; changed: number }> {
  const rows = db
    .prepare<[], { server: string; tools: number; changed: number }>(
      'SELECT server, count(*) AS tools, count(changed_hash) AS changed FROM mcp_tools WHERE gone_at IS NULL GROUP BY server',
    )
    .all()
  return new Map(rows.map(({ server, tools, changed }) => [server, { tools, changed }]))
}

/** A server is gone, and with it what was pinned of its tools. */
export function forgetTools(db: Database, server: string): void {
  db.prepare('DELETE FROM mcp_tools WHERE server = ?').run(server)
}

/** Reads stored events back as rows, in the order asked for, with one statement per page. */
import type { Statement } from 'better-sqlite3'
import type { Database } from './handle.ts'

export interface StoredRow {
  id: number
  source_id: number
  ts: number
  ingested_at: number
  labels: Uint8Array
  entity: number | null
  numbers: string | null
  claimed_time: string | null
  text: string
  raw?: Uint8Array
}

export class RowReader {
  private readonly heads: Statement<[string], StoredRow>
  private readonly full: Statement<[string], StoredRow>

  constructor(db: Database) {
    const columns =
      'e.id, e.source_id, e.ts, e.ingested_at, e.labels, e.entity, e.numbers, e.claimed_time, e.text'
    // One json_each statement is 2.5 times faster than 200 single gets (measured 2026-11).
    this.heads = db.prepare(`SELECT ${columns} FROM json_each(?) j JOIN events e ON e.id = j.value`)
    this.full = db.prepare(`SELECT ${columns}, e.raw FROM json_each(?) j JOIN events e ON e.id = j.value`)
  }

  /** Rows of these ids in this order; ids whose row is gone are left out. */
  read(ids: readonly number[], withRaw: boolean): StoredRow[] {
    if (ids.length === 0) return []
    const rows = (withRaw ? this.full : this.heads).all(JSON.stringify(ids))
    if (rows.length === ids.length && rows.every((row, i) => row.id === ids[i])) return rows
    const byId = new Map(rows.map((row) => [row.id, row]))
    return ids.map((id) => byId.get(id)).filter((row) => row !== undefined)
  }
}

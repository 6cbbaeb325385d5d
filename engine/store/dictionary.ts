/**
 * Label interning: (name, value) ↔ id. Rows of the labels table are the truth; the two caches are
 * bounded, so a label with millions of values costs lookups, never memory. Two names are ours and
 * cannot be a caller's, because a label name holds no @: @source and @type.
 */
import type { Statement } from 'better-sqlite3'
import type { Database } from './handle.ts'
import { LabelIds } from './label-ids.ts'

export const SOURCE_LABEL = '@source'
export const TYPE_LABEL = '@type'
const CACHE_MAX = 200_000

export interface Label {
  name: string
  value: string
}

export class Dictionary {
  private readonly ids = new LabelIds()
  private labels = new Map<number, Label>()
  /** Labels cached inside the current transaction; forgotten if it fails. */
  private added: [string, string][] = []
  private readonly selectId: Statement<[string, string], { id: number }>
  private readonly selectLabel: Statement<[number], Label>
  private readonly insert: Statement<[string, string]> | null

  /** @param writable whether `intern` may be called: only on the writing connection. */
  constructor(db: Database, writable: boolean) {
    this.selectId = db.prepare('SELECT id FROM labels WHERE name = ? AND value = ?')
    this.selectLabel = db.prepare('SELECT name, value FROM labels WHERE id = ?')
    this.insert = writable ? db.prepare('INSERT OR IGNORE INTO labels (name, value) VALUES (?, ?)') : null
  }

  /** The id of a label, or undefined when no event ever had it. */
  find(name: string, value: string): number | undefined {
    const cached = this.ids.get(name, value)
    if (cached !== undefined) return cached
    const id = this.selectId.get(name, value)?.id
    if (id !== undefined) this.ids.set(name, value, id)
    return id
  }

  /** Ids of a name's values that are at hand: no look at the disk. */
  known(name: string): ReadonlyMap<string, number> {
    return this.ids.known(name)
  }

  /** The id of a label, made when it is new. Call inside a transaction, then commit() or rollback(). */
  intern(name: string, value: string): number {
    const cached = this.ids.get(name, value)
    if (cached !== undefined) return cached
    if (!this.insert) throw new Error('this dictionary is read-only')
    // What is not at hand is mostly new, so it is not looked for first.
    const { changes, lastInsertRowid } = this.insert.run(name, value)
    const id = changes === 1 ? Number(lastInsertRowid) : this.selectId.get(name, value)!.id
    if (changes === 1) this.added.push([name, value])
    this.ids.set(name, value, id)
    return id
  }

  commit(): void {
    if (this.added.length) this.added = []
  }

  rollback(): void {
    for (const [name, value] of this.added) this.ids.delete(name, value)
    this.added = []
  }

  /** The label of an id. @throws Error when the id is unknown: a fault of ours. */
  label(id: number): Label {
    const cached = this.labels.get(id)
    if (cached) return cached
    const row = this.selectLabel.get(id)
    if (!row) throw new Error(`no label has the id ${id}`)
    if (this.labels.size >= CACHE_MAX) this.labels.clear()
    this.labels.set(id, row)
    return row
  }
}

/**
 * Label interning: (name, value) ↔ id. Rows of the labels table are the truth; the caches are
 * bounded, so a label with millions of values costs lookups, never memory. Two names are ours and
 * cannot be a caller's, because a label name holds no @: @source and @type.
 */
import type { Statement } from 'better-sqlite3'
import type { Database } from './handle.ts'
import { LabelIds } from './label-ids.ts'
import { NewLabels } from './new-labels.ts'

export const SOURCE_LABEL = '@source'
export const TYPE_LABEL = '@type'
const CACHE_MAX = 200_000

export interface Label {
  name: string
  value: string
}

export class Dictionary {
  private readonly ids = new LabelIds()
  private readonly newLabels: NewLabels
  private labels = new Map<number, Label>()
  /** Whether all labels are at hand, so that one that is not is new. */
  private readonly beganEmpty: boolean
  private readonly selectId: Statement<[string, string], number>
  private readonly selectLabel: Statement<[number], Label>
  private readonly insert: Statement<[string, string]> | null

  /** @param writable whether `intern` may be called: only on the writing connection. */
  constructor(db: Database, writable: boolean) {
    this.selectId = db.prepare('SELECT id FROM label_keys WHERE name = ? AND value = ?').pluck() as Statement<
      [string, string],
      number
    >
    this.selectLabel = db.prepare('SELECT name, value FROM labels WHERE id = ?')
    this.insert = writable ? db.prepare('INSERT INTO labels (name, value) VALUES (?, ?)') : null
    this.beganEmpty = writable && db.prepare('SELECT through FROM labels_keyed').pluck().get() === 0
    this.newLabels = new NewLabels(db, writable)
  }

  /** The id of a label, or undefined when no event ever had it. */
  find(name: string, value: string): number | undefined {
    const known = this.atHand(name, value)
    if (known !== undefined) return known
    // A reader's copy of what is new ends where it last looked.
    const id = this.onDisk(name, value) ?? (this.insert ? undefined : this.followed(name, value))
    if (id !== undefined) this.ids.set(name, value, id)
    return id
  }

  /** Ids of a name's values that are at hand: no look at the disk. */
  known(name: string): ReadonlyMap<string, number> {
    return this.ids.known(name)
  }

  /** The id of a label, made when it is new. Call inside a transaction, then commit() or rollback(). */
  intern(name: string, value: string): number {
    if (!this.insert) throw new Error('this dictionary is read-only')
    const known = this.atHand(name, value)
    if (known !== undefined) return known
    const isNew = this.beganEmpty && !this.ids.hasForgotten
    let id = isNew ? undefined : this.onDisk(name, value)
    if (id === undefined) {
      id = Number(this.insert.run(name, value).lastInsertRowid)
      this.newLabels.add({ id, name, value })
    }
    this.ids.set(name, value, id)
    return id
  }

  /** The last of a transaction that may have made labels. */
  beforeCommit(): void {
    this.newLabels.beforeCommit()
  }

  commit(): void {
    this.newLabels.commit()
  }

  rollback(): void {
    for (const { name, value } of this.newLabels.rollback()) this.ids.delete(name, value)
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

  private atHand(name: string, value: string): number | undefined {
    return this.ids.get(name, value) ?? this.newLabels.get(name, value)
  }

  private onDisk(name: string, value: string): number | undefined {
    return this.selectId.get(name, value)
  }

  private followed(name: string, value: string): number | undefined {
    return this.newLabels.follow() ? this.newLabels.get(name, value) : undefined
  }
}

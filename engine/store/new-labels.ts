/**
 * Labels that have no key on disk yet (see migrations/0013): in memory by name and value. The writer
 * adds what it makes and writes the keys of many at once, in their order, so that each page of
 * label_keys changes once for all of them; a reader follows the rows.
 */
import type { Statement } from 'better-sqlite3'
import type { Database } from './handle.ts'
import { LabelIds } from './label-ids.ts'

/** Keys written at once: at least that many, and more where there are more pages they fall into. */
const KEYS_LEAST = 8_192
const KEYS_MOST = 32_768
const KEYS_PART = 16
/** Followed labels past which a reader begins anew. */
const FOLLOWED_MAX = 100_000

interface NewLabel {
  id: number
  name: string
  value: string
}

export class NewLabels {
  private ids = LabelIds.unbounded()
  /** In order of their ids. */
  private labels: NewLabel[] = []
  /** How many there were when the transaction began. */
  private committed = 0
  /** Whether the transaction has written the keys of all. */
  private areKeyed = false
  private lastId: number
  private readonly selectThrough: Statement<[], number>
  private readonly selectAfter: Statement<[number], NewLabel>
  private readonly insertKey: Statement<[string, string, number]> | null
  private readonly updateThrough: Statement<[number]> | null

  /** @param writable only on the writing connection, which adds labels itself. */
  constructor(db: Database, writable: boolean) {
    this.selectThrough = db.prepare('SELECT through FROM labels_keyed').pluck() as Statement<[], number>
    this.selectAfter = db.prepare('SELECT id, name, value FROM labels WHERE id > ? ORDER BY id')
    this.insertKey = writable ? db.prepare('INSERT INTO label_keys (name, value, id) VALUES (?, ?, ?)') : null
    this.updateThrough = writable ? db.prepare('UPDATE labels_keyed SET through = ?') : null
    this.lastId = this.selectThrough.get()!
    this.follow()
  }

  get(name: string, value: string): number | undefined {
    return this.ids.get(name, value)
  }

  /** Adds what was stored since the last call. @returns whether there was any. */
  follow(): boolean {
    if (this.labels.length > FOLLOWED_MAX) {
      this.forget()
      this.lastId = this.selectThrough.get()!
    }
    const found = this.selectAfter.all(this.lastId)
    for (const label of found) this.add(label)
    this.committed = this.labels.length
    return found.length > 0
  }

  /** The writer's: a label whose row it has written. */
  add(label: NewLabel): void {
    this.labels.push(label)
    this.ids.set(label.name, label.value, label.id)
    this.lastId = label.id
  }

  /** The writer's: writes the keys, if there are enough to be worth it. Inside the transaction, last. */
  beforeCommit(): void {
    const enough = Math.min(KEYS_MOST, Math.max(KEYS_LEAST, this.lastId / KEYS_PART))
    if (this.labels.length < enough) return
    const sorted = this.labels.toSorted((a, b) => compare(a.name, b.name) || compare(a.value, b.value))
    for (const { name, value, id } of sorted) this.insertKey!.run(name, value, id)
    this.updateThrough!.run(this.lastId)
    this.areKeyed = true
  }

  commit(): void {
    if (this.areKeyed) this.forget()
    this.areKeyed = false
    this.committed = this.labels.length
  }

  /** @returns labels that there are not. */
  rollback(): readonly NewLabel[] {
    const gone = this.labels.splice(this.committed)
    for (const { name, value } of gone) this.ids.delete(name, value)
    this.lastId = this.labels.at(-1)?.id ?? this.selectThrough.get()!
    this.areKeyed = false
    return gone
  }

  private forget(): void {
    this.labels = []
    this.ids = LabelIds.unbounded()
  }
}

/** As SQLite orders texts: by their bytes in UTF-8, which for most is the order of JavaScript. */
function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

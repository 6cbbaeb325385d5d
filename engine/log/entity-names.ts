/**
 * The joined entities of an instance as reads need them: read from their rows, again whenever a change-set changed one,
 * so that a reader thread needs no message from the writer; and as they were, from the record of changes.
 */

import { type EntityRule, EntityRules, NO_ENTITIES } from './entity-rules.ts'
import type { Database, Statement } from './store/handle.ts'

/** Earlier rules held in memory: pages and reads of one instant ask for the same again. */
const HELD_MAX = 8

interface ChangeRow {
  change_set: number
  seq: number
  key: string
  after: string | null
}

export class EntityNames {
  private newest = -1
  private changedBy = 0
  private current = NO_ENTITIES
  private readonly held = new Map<number, EntityRules>()
  private readonly selectNewest: Statement<[], number>
  private readonly selectChangedBy: Statement<[number], number | null>
  private readonly selectBy: Statement<[number], number | null>
  private readonly selectRules: Statement<[], { name: string; spec: string }>
  private readonly selectChanges: Statement<[number], ChangeRow>
  private readonly selectInstants: Statement<[number, number], number>
  private readonly selectRenames: Statement<[number], { change_set: number; seq: number; key: string }>

  constructor(db: Database) {
    this.selectNewest = db.prepare('SELECT coalesce(max(id), 0) FROM change_sets').pluck() as Statement<
      [],
      number
    >
    this.selectChangedBy = db
      .prepare("SELECT max(change_set) FROM changes WHERE kind = 'entity' AND change_set <= ?")
      .pluck() as Statement<[number], number | null>
    this.selectBy = db
      .prepare('SELECT id FROM change_sets WHERE at <= ? ORDER BY at DESC, id DESC LIMIT 1')
      .pluck() as Statement<[number], number | null>
    this.selectRules = db.prepare('SELECT name, spec FROM entities')
    this.selectChanges = db.prepare(
      `SELECT change_set, seq, key, after FROM changes WHERE kind = 'entity' AND change_set <= ?
       ORDER BY change_set, seq`,
    )
    this.selectInstants = db
      .prepare(
        `SELECT DISTINCT s.at FROM changes c JOIN change_sets s ON s.id = c.change_set
         WHERE c.kind = 'entity' AND s.at > ? AND s.at < ? ORDER BY s.at`,
      )
      .pluck() as Statement<[number, number], number>
    this.selectRenames = db.prepare(
      "SELECT change_set, seq, name_from AS key FROM renames WHERE kind = 'entity' AND change_set <= ?",
    )
  }

  /** As they are declared. */
  declared(): EntityRule[] {
    return this.selectRules.all().map(({ name, spec }) => ({ ...(JSON.parse(spec) as EntityRule), name }))
  }

  /** The rules of now. */
  rules(): EntityRules {
    this.refresh()
    return this.current
  }

  /** The change-set that last changed a rule; 0: none ever did. */
  version(): number {
    this.refresh()
    return this.changedBy
  }

  /** The version of an instant, epoch ms. */
  versionAsOf(at: number): number {
    if (this.version() === 0) return 0
    return this.selectChangedBy.get(this.selectBy.get(at) ?? 0) ?? 0
  }

  /** When rules were changed between two instants, epoch ms, oldest first. */
  changesBetween(from: number, until: number): number[] {
    return this.selectInstants.all(from, until)
  }

  /** The rules of a version: those of now, or as recorded. */
  of(version: number): EntityRules {
    if (version === this.version()) return this.current
    if (version === 0) return NO_ENTITIES
    let rules = this.held.get(version)
    if (!rules) {
      rules = new EntityRules(this.recorded(version))
      if (this.held.size >= HELD_MAX) this.held.delete(this.held.keys().next().value!)
      this.held.set(version, rules)
    }
    return rules
  }

  private refresh(): void {
    const newest = this.selectNewest.get() ?? 0
    if (newest === this.newest) return
    const changedBy = this.selectChangedBy.get(newest) ?? 0
    if (changedBy !== this.changedBy) {
      this.changedBy = changedBy
      this.current = new EntityRules(this.declared())
      // A transaction that was undone may have given its number to another.
      this.held.clear()
    }
    this.newest = newest
  }

  /** As they were declared as of a change-set. */
  recorded(version: number): EntityRule[] {
    const rules = new Map<string, EntityRule>()
    const renamed = this.selectRenames.all(version)
    for (const { change_set, seq, key, after } of this.selectChanges.all(version)) {
      // What got another name is recorded under the new one alone.
      for (const rename of renamed)
        if (rename.change_set === change_set && rename.seq === seq) rules.delete(rename.key)
      if (after === null) rules.delete(key)
      else rules.set(key, { ...(JSON.parse(after) as EntityRule), name: key })
    }
    return [...rules.values()]
  }
}

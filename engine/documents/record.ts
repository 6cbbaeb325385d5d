/** What the record of changes says of a part, whatever it was called then: the names it had, and its documents. */
import { SECTION_OF } from '../../schemas/kinds.ts'
import type { Database } from '../log/store/handle.ts'
import {
  type ChangeKind,
  type Doc,
  type DocumentOf,
  documentOf,
  type Rename,
  renamedBy,
} from '../model/documents.ts'
import { MASK } from '../model/plan.ts'
import { maskAddresses } from '../net/address-secrets.ts'
import { isSealed } from '../net/secrets.ts'

interface Made extends Rename {
  changeSet: number
  /** Order in its change-set. */
  seq: number
}

/** Since when, and until before which change-set, a part had a name. */
interface Span {
  name: string
  from: number
  until: number
}

/** A row of the record: the document after its change-set, or before the first that is recorded. */
export interface RecordedDocument {
  /** Change-set it is of. */
  changeSet: number
  isBefore: boolean
  /** Sealed; null: it was not there. */
  text: string | null
}

export type Renames = ReturnType<typeof renamesOf>

const FOREVER = Number.MAX_SAFE_INTEGER

/** The renames of an instance, read from their rows. */
export function renamesOf(db: Database) {
  const insert = db.prepare<Made>(
    'INSERT INTO renames (change_set, seq, kind, name_from, name_to) VALUES (@changeSet, @seq, @kind, @from, @to)',
  )
  const columns = 'change_set AS changeSet, seq, kind, name_from AS "from", name_to AS "to"'
  const since = db.prepare<[number], Made>(
    `SELECT ${columns} FROM renames WHERE change_set > ? ORDER BY change_set, seq`,
  )
  const of = db.prepare<[number], Made>(`SELECT ${columns} FROM renames WHERE change_set = ? ORDER BY seq`)
  const ofKind = db.prepare<[string], Made>(
    `SELECT ${columns} FROM renames WHERE kind = ? ORDER BY change_set DESC, seq DESC`,
  )
  const upTo = db.prepare<[string, string, number, number], { changeSet: number; text: string | null }>(
    `SELECT change_set AS changeSet, after AS text FROM changes
     WHERE kind = ? AND key = ? AND change_set >= ? AND change_set <= ? ORDER BY change_set DESC, seq DESC LIMIT 1`,
  )
  const after = db.prepare<[string, string, number, number], { changeSet: number; text: string | null }>(
    `SELECT change_set AS changeSet, before AS text FROM changes
     WHERE kind = ? AND key = ? AND change_set > ? AND change_set < ? ORDER BY change_set, seq LIMIT 1`,
  )
  const deleted = db
    .prepare<[string, string, number, number], number>(
      `SELECT 1 FROM changes WHERE kind = ? AND key = ? AND action = 'delete' AND change_set > ? AND change_set < ? LIMIT 1`,
    )
    .pluck()
  const projectCalled = db
    .prepare<[string], string>(
      `SELECT key FROM changes WHERE kind = 'project' AND name = ? ORDER BY change_set DESC, seq DESC LIMIT 1`,
    )
    .pluck()
  /** The spans of a part that has a name at a time, the newest first. @param before such as FOREVER: it has it now */
  const spans = (kind: string, name: string, before: number): Span[] => {
    const made = ofKind.all(kind)
    const found: Span[] = []
    let [at, until] = [name, before]
    for (;;) {
      const rename = made.find((one) => one.changeSet < until && (one.to === at || one.from === at))
      // Of what left the name the one that has it now is another.
      found.push({ name: at, from: rename?.changeSet ?? 0, until })
      if (!rename || rename.to !== at) return found
      at = rename.from
      until = rename.changeSet
    }
  }
  const recordedIn = (
    kind: string,
    all: readonly Span[],
    changeSet: number,
  ): RecordedDocument | undefined => {
    for (const { name, from, until } of all) {
      if (from > changeSet) continue
      const row = upTo.get(kind, name, from, Math.min(changeSet, until - 1))
      if (row) return { ...row, isBefore: false }
    }
    // With no change up to then, it was what the first change after it found.
    for (const { name, from, until } of all.toReversed()) {
      const row = after.get(kind, name, Math.max(changeSet, from - 1), until)
      if (row) return { ...row, isBefore: true }
    }
    return undefined
  }
  return {
    add: (made: Made): void => void insert.run(made),
    /** Those after a change-set, in the order in which they were made. */
    since: (changeSet: number): Made[] => since.all(changeSet),
    /** Those of a change-set. */
    of: (changeSet: number): Made[] => of.all(changeSet),
    /** What a part was called, from when until when, the newest first. */
    lineage: (kind: string, name: string): Span[] => spans(kind, name, FOREVER),
    /**
     * What the part is called now that had a name last, which it was not deleted by since; null: it was, or it never
     * got another.
     */
    nowOf: (kind: string, name: string): string | null => {
      const made = ofKind.all(kind)
      const left = made.find((one) => one.from === name)
      // Whoever had the name after it left was another part, and what was deleted by it was that.
      if (!left || deleted.get(kind, name, left.changeSet, FOREVER)) return null
      const all = spansAfter(made, left)
      const isGone = all.some((one) => deleted.get(kind, one.name, one.from, one.until))
      return isGone ? null : all[0]!.name
    },
    /** Id of the project that had a name last. */
    projectCalled: (name: string): string | undefined => projectCalled.get(name),
    /** The document as of a change-set of the part that has a name now. */
    recorded: (kind: string, name: string, changeSet: number): RecordedDocument | undefined =>
      recordedIn(kind, spans(kind, name, FOREVER), changeSet),
    /** The same of the part that had a name then, whatever it is called now. */
    recordedThen: (kind: string, name: string, changeSet: number): RecordedDocument | undefined => {
      const left = ofKind.all(kind).findLast((one) => one.changeSet > changeSet && one.from === name)
      if (!left) return recordedIn(kind, spans(kind, name, FOREVER), changeSet)
      // What it was called later says what it was where nothing before does.
      const later = spansAfter(ofKind.all(kind), left)
      return recordedIn(kind, [...later, ...spans(kind, name, left.changeSet)], changeSet)
    },
  }
}

/** The spans after a rename, the newest first. */
function spansAfter(made: readonly Made[], left: Made): Span[] {
  const found: Span[] = []
  let at = left
  for (;;) {
    const next = made.findLast((one) => one.changeSet > at.changeSet && one.from === at.to)
    found.unshift({ name: at.to, from: at.changeSet, until: next?.changeSet ?? FOREVER })
    if (!next) return found
    at = next
  }
}

/*
 * Documents as of a change-set, read from the record of changes without the key file: what is sealed
 * in them, and what is secret in an address, shows as a mask, as wherever documents leave the engine.
 */

/** @returns the document of an object as of a change-set; undefined: it was not there */
export type DocumentAt = <K extends ChangeKind>(
  kind: K,
  key: string,
  changeSet: number,
) => DocumentOf<K> | undefined

/** The rule of `ChangeSets.documentAt`, on a connection that only reads. */
export function maskedDocuments(db: Database): DocumentAt {
  const renames = renamesOf(db)
  const parsed = new Map<string, Doc | undefined>()
  return <K extends ChangeKind>(kind: K, key: string, changeSet: number) => {
    const found = renames.recorded(kind, key, changeSet)
    const since = renames.since(changeSet)
    const version = found ? `${found.isBefore ? '<' : '='}${found.changeSet}` : 'now'
    const id = `${kind}:${key}${version}+${since.length}`
    if (!parsed.has(id)) {
      const text = found ? found.text : unrecorded(db, kind, key)
      const doc = text === null ? undefined : shown(kind, text)
      parsed.set(id, doc && (found ? renamedBy(kind, doc, since) : doc))
    }
    const doc = parsed.get(id)
    return doc && documentOf(kind, doc)
  }
}

/** What no change-set ever touched is what it is now. */
function unrecorded(db: Database, kind: ChangeKind, key: string): string | null {
  if (kind === 'project') return null
  const columns = kind === 'source' ? "json_object('connector', connector, 'config', json(config))" : 'spec'
  const live = kind === 'entity' ? '' : " AND state <> 'deleted'"
  return (
    db
      .prepare<[string], string>(`SELECT ${columns} FROM ${SECTION_OF[kind]} WHERE name = ?${live}`)
      .pluck()
      .get(key) ?? null
  )
}

/** What a trigger compares with is no address of ours, and is evaluated as it is. */
function shown(kind: ChangeKind, text: string): Doc {
  const {
    '@id': _id,
    '@name': _name,
    ...doc
  } = JSON.parse(text, (_key, value: unknown) => (isSealed(value) ? MASK : value)) as Record<string, unknown>
  return kind === 'trigger' ? doc : maskAddresses(doc)
}

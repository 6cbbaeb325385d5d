/**
 * A kind of part whose documents may say `prevent_destroy` and `sync`: these are kept beside the rows of the kind, which
 * know nothing of them, and are fields of the document like any other to plans, merges and undo.
 */

import { kindWord, SECTION_OF } from '../../schemas/kinds.ts'
import { fail } from '../errors.ts'
import type { Database } from '../log/store/handle.ts'
import {
  type ChangeKind,
  type DeclaredKind,
  type Doc,
  type DocumentOf,
  documentOf,
  type Edit,
  type Stored,
  type Stroke,
  type SyncMode,
  syncModes,
} from '../model/documents.ts'
import { MASK } from '../model/plan.ts'
import { renamedBy } from '../model/renames.ts'
import { maskAddresses } from '../net/address-secrets.ts'
import { isSealed, type VariableUse } from '../net/secrets.ts'
import { renamesOf } from './renames.ts'

export class GuardedKind<D extends Doc> implements DeclaredKind<D> {
  readonly kind: ChangeKind
  private readonly marks

  constructor(
    db: Database,
    private readonly inner: DeclaredKind<D>,
  ) {
    this.kind = inner.kind
    this.marks = partMarks(db, inner.kind)
  }

  find(key: string): Stored<D> | undefined {
    const stored = this.inner.find(key)
    const marks = stored && this.marks.of(key)
    return marks ? marked(stored, marks) : stored
  }

  list(): Stored<D>[] {
    const marks = this.marks.all()
    const all = this.inner.list()
    if (marks.size === 0) return all
    return all.map((stored) => {
      const own = marks.get(stored.key)
      return own ? marked(stored, own) : stored
    })
  }

  open(sealed: string): D {
    return this.inner.open(sealed)
  }

  create(key: string, doc: Doc, stroke: Stroke, revive: string | null): string {
    return this.note(key, doc, this.inner.create(key, bare(doc), stroke, revive))
  }

  update(stored: Stored, doc: Doc, stroke: Stroke): string {
    return this.note(stored.key, doc, this.inner.update(stored, bare(doc), stroke))
  }

  remove(stored: Stored, stroke: Stroke): void {
    this.inner.remove(stored, stroke)
    this.marks.put(stored.key, {})
  }

  rename(from: string, to: string): void {
    this.inner.rename?.(from, to)
    const marks = this.marks.of(from)
    this.marks.put(from, {})
    if (marks) this.marks.put(to, marks)
  }

  mask(doc: Doc): Doc {
    return this.inner.mask(doc)
  }

  maskFields(doc: Doc): Doc {
    return this.inner.maskFields?.(doc) ?? this.inner.mask(doc)
  }

  variables(doc: Doc): VariableUse[] {
    return this.inner.variables?.(doc) ?? []
  }

  addresses(doc: Doc): Record<string, unknown> {
    return this.inner.addresses?.(doc) ?? {}
  }

  isSet(path: string): boolean {
    return this.inner.isSet?.(path) ?? false
  }

  private note(key: string, doc: Doc, sealed: string): string {
    const marks = marksIn(doc)
    this.marks.put(key, marks)
    return Object.keys(marks).length ? withMarks(sealed, marks) : sealed
  }
}

/** What any part may say beside its own fields. */
type Marks = Pick<DocumentOf<'trigger'>, 'prevent_destroy' | 'sync'>

function marksIn({ prevent_destroy: guard, sync }: Doc): Marks {
  const mode = syncModes.find((one) => one === sync)
  return { ...(guard === true ? { prevent_destroy: true } : {}), ...(mode ? { sync: mode } : {}) }
}

/** The marks of the parts of a kind, as rows. */
function partMarks(db: Database, kind: ChangeKind) {
  const isGuarded = db
    .prepare<[string, string], number>('SELECT 1 FROM guarded_parts WHERE kind = ? AND name = ?')
    .pluck()
  const modeOf = db
    .prepare<[string, string], SyncMode>('SELECT mode FROM part_syncs WHERE kind = ? AND name = ?')
    .pluck()
  const guarded = db.prepare<[string], string>('SELECT name FROM guarded_parts WHERE kind = ?').pluck()
  const modes = db.prepare<[string], { name: string; mode: SyncMode }>(
    'SELECT name, mode FROM part_syncs WHERE kind = ?',
  )
  const guard = db.prepare('INSERT OR IGNORE INTO guarded_parts (kind, name) VALUES (?, ?)')
  const unguard = db.prepare('DELETE FROM guarded_parts WHERE kind = ? AND name = ?')
  const setMode = db.prepare('INSERT OR REPLACE INTO part_syncs (kind, name, mode) VALUES (?, ?, ?)')
  const dropMode = db.prepare('DELETE FROM part_syncs WHERE kind = ? AND name = ?')
  return {
    of: (name: string): Marks | undefined => {
      const [hasGuard, sync] = [isGuarded.get(kind, name), modeOf.get(kind, name)]
      return hasGuard || sync
        ? { ...(hasGuard ? { prevent_destroy: true } : {}), ...(sync ? { sync } : {}) }
        : undefined
    },
    all: (): Map<string, Marks> => {
      const found = new Map<string, Marks>(guarded.all(kind).map((name) => [name, { prevent_destroy: true }]))
      for (const { name, mode } of modes.all(kind)) found.set(name, { ...found.get(name), sync: mode })
      return found
    },
    put: (name: string, { prevent_destroy: hasGuard, sync }: Marks): void => {
      ;(hasGuard ? guard : unguard).run(kind, name)
      if (sync) setMode.run(kind, name, sync)
      else dropMode.run(kind, name)
    },
  }
}

/** @throws SvcError conflict when an edit deletes a part that is guarded. */
export function refuseGuarded(edit: Edit): void {
  for (const { kind, key, stored, doc } of edit.touched())
    if (doc === null && stored?.doc.prevent_destroy === true) fail('conflict', guardSentence(kind, key))
}

/** Why a guarded part is not deleted. */
export const guardSentence = (kind: ChangeKind, name: string): string =>
  `${kindWord(kind)} ${name} would be deleted, and it has prevent_destroy; take that away first, by an import of its own`

const marked = <D extends Doc>(stored: Stored<D>, marks: Marks): Stored<D> => ({
  ...stored,
  doc: { ...stored.doc, ...marks },
  sealed: withMarks(stored.sealed, marks),
})

const withMarks = (sealed: string, marks: Marks): string =>
  JSON.stringify({ ...(JSON.parse(sealed) as Doc), ...marks })

function bare(doc: Doc): Doc {
  const { prevent_destroy: _guard, sync: _sync, ...rest } = doc
  return rest
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

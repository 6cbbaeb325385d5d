/**
 * A kind of part whose documents may say `prevent_destroy`: it is kept beside the rows of the kind, which
 * know nothing of it, and is a field of the document like any other to plans, merges and undo.
 */
import { fail } from '../errors.ts'
import type { VariableUse } from '../secret-variables.ts'
import type { Database } from '../store/handle.ts'
import {
  type ChangeKind,
  type DeclaredKind,
  type Doc,
  kindWord,
  type Stored,
  type Stroke,
} from './declared.ts'
import type { Edit } from './edit.ts'

export class GuardedKind<D extends Doc> implements DeclaredKind<D> {
  readonly kind: ChangeKind
  private readonly select
  private readonly selectAll
  private readonly insert
  private readonly erase

  constructor(
    db: Database,
    private readonly inner: DeclaredKind<D>,
  ) {
    this.kind = inner.kind
    this.select = db
      .prepare<[string, string], number>('SELECT 1 FROM guarded_parts WHERE kind = ? AND name = ?')
      .pluck()
    this.selectAll = db.prepare<[string], string>('SELECT name FROM guarded_parts WHERE kind = ?').pluck()
    this.insert = db.prepare<[string, string]>(
      'INSERT OR IGNORE INTO guarded_parts (kind, name) VALUES (?, ?)',
    )
    this.erase = db.prepare<[string, string]>('DELETE FROM guarded_parts WHERE kind = ? AND name = ?')
  }

  find(key: string): Stored<D> | undefined {
    const stored = this.inner.find(key)
    return stored && this.select.get(this.kind, key) ? asGuarded(stored) : stored
  }

  list(): Stored<D>[] {
    const guarded = new Set(this.selectAll.all(this.kind))
    const all = this.inner.list()
    return guarded.size ? all.map((stored) => (guarded.has(stored.key) ? asGuarded(stored) : stored)) : all
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
    this.erase.run(this.kind, stored.key)
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
    const isGuarded = doc.prevent_destroy === true
    ;(isGuarded ? this.insert : this.erase).run(this.kind, key)
    return isGuarded ? withGuard(sealed) : sealed
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

const asGuarded = <D extends Doc>(stored: Stored<D>): Stored<D> => ({
  ...stored,
  doc: { ...stored.doc, prevent_destroy: true },
  sealed: withGuard(stored.sealed),
})

const withGuard = (sealed: string): string =>
  JSON.stringify({ ...(JSON.parse(sealed) as Doc), prevent_destroy: true })

function bare(doc: Doc): Doc {
  const { prevent_destroy: _guard, ...rest } = doc
  return rest
}

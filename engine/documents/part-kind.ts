/**
 * How documents of triggers, agents, MCP servers and skills are stored: one row each, its spec as
 * JSON with secrets sealed, its state in the snapshot of its machine. A deleted row stays, so that
 * undoing the delete brings the same one back.
 */
import type { Kind } from '../../machines/index.ts'
import { kindWord } from '../../schemas/kinds.ts'
import { fail } from '../errors.ts'
import { advance, firstSnapshot, recordCreated, renameInHistory } from '../log/lifecycle.ts'
import type { Database } from '../log/store/handle.ts'
import {
  type ChangeKind,
  type DeclaredKind,
  type Doc,
  type DocumentOf,
  type Edit,
  type Stored,
  type Stroke,
  type SyncMode,
  syncModes,
} from '../model/documents.ts'
import { maskFields, maskNamed, openFields, type SecretNames, sealFields } from '../net/address-secrets.ts'
import { hostOf, type Secrets, type VariableUse, variableIn } from '../net/secrets.ts'

/**
 * Refuses names such as `constructor` and `toString`. A project keeps its parts in objects by their names, and every
 * object inherits fields of these names: the project would seem to have the part already.
 * @throws SvcError invalid
 */
export function refuseInherited(name: string): void {
  if (name in Object.prototype) fail('invalid', `name must not be ${name}: it is reserved`, { field: 'name' })
}

export interface PartKindParts {
  db: Database
  secrets: Secrets
  kind: Extract<Kind, 'trigger' | 'agent' | 'mcp_server' | 'skill'>
  table: PartTable
  secretNames: SecretNames
  /** Secret fields that may refer to a variable, each with the field of the address it is sent to; null: it is one. */
  sentTo?: Readonly<Record<string, string | null>>
  /** Whether its machine can be paused; the document then says `paused`. */
  pausable: boolean
}

/** The stored form in the record of changes: the row's own fields beside those of the document. */
interface Sealed {
  '@id': number
  '@name': string
  [field: string]: unknown
}

export class SpecPartKind implements DeclaredKind {
  readonly kind
  protected readonly queries: PartQueries

  constructor(protected readonly parts: PartKindParts) {
    this.kind = parts.kind
    this.queries = partQueries(parts.db, parts.table)
  }

  find(key: string): Stored | undefined {
    const row = this.queries.byName(key)
    return row && this.stored(row)
  }

  list(): Stored[] {
    return this.queries.all().map((row) => this.stored(row))
  }

  open(sealed: string): Doc {
    const { '@id': _id, '@name': name, ...fields } = JSON.parse(sealed) as Sealed
    return openFields(fields, this.parts.secretNames, this.place(name), this.parts.secrets).open
  }

  create(key: string, doc: Doc, stroke: Stroke, revive: string | null): string {
    const { db, kind } = this.parts
    const fields = this.seal(key, doc)
    const spec = JSON.stringify(withoutPaused(fields))
    const id = revive === null ? this.insert(key, spec, stroke) : this.revive(revive, key, spec, stroke)
    if (doc.paused === true) advance(db, { kind, id, name: key }, 'pause', stroke.by, stroke.at)
    return sealedJson(id, key, fields)
  }

  update(stored: Stored, doc: Doc, stroke: Stroke): string {
    const { db, kind, pausable } = this.parts
    const row = this.queries.byName(stored.key)!
    const before = JSON.parse(stored.sealed) as Sealed
    const fields = this.seal(stored.key, doc, { open: stored.doc, sealed: before })
    this.queries.update(row.id, JSON.stringify(withoutPaused(fields)), stroke.changeSet, stroke.at)
    const isPaused = doc.paused === true
    if (pausable && isPaused !== (row.state === 'paused'))
      advance(db, { kind, id: row.id, name: row.name }, isPaused ? 'pause' : 'resume', stroke.by, stroke.at)
    return sealedJson(row.id, row.name, fields)
  }

  remove(stored: Stored, stroke: Stroke): void {
    const row = this.queries.byName(stored.key)!
    this.retire(row, stroke)
    // The record of changes keeps the secrets, sealed, for undo; the row needs them no longer.
    const { secrets } = this.parts.secretNames
    const bare = Object.fromEntries(
      Object.entries(JSON.parse(row.spec) as Sealed).filter(([name]) => !secrets.includes(name)),
    )
    this.queries.update(row.id, JSON.stringify(this.mask(bare)), stroke.changeSet, stroke.at)
  }

  rename(from: string, to: string): void {
    const { db, kind, secretNames, secrets } = this.parts
    const row = this.queries.byName(from)!
    // Secrets are bound to the name.
    const { open, unreadable } = openFields(
      JSON.parse(row.spec) as Doc,
      secretNames,
      this.place(from),
      secrets,
    )
    const [field] = unreadable
    if (field)
      fail('invalid', `${field} of ${from} cannot be read here; enter it again before it is renamed`, {
        field,
      })
    this.queries.rename(row.id, to, JSON.stringify(this.seal(to, open)))
    renameInHistory(db, kind, from, to)
  }

  mask(doc: Doc): Doc {
    return maskNamed(doc, this.parts.secretNames)
  }

  maskFields(doc: Doc): Doc {
    return maskFields(doc, this.parts.secretNames.secrets)
  }

  variables(doc: Doc): VariableUse[] {
    return Object.entries(this.parts.sentTo ?? {}).flatMap(([field, address]) => {
      const variable = variableIn(doc[field])
      return variable === null
        ? []
        : [{ field, variable, host: address === null ? null : hostOf(doc[address]) }]
    })
  }

  addresses(doc: Doc): Record<string, unknown> {
    const { secretNames, sentTo = {} } = this.parts
    const fields = [
      ...secretNames.addresses,
      ...Object.keys(sentTo).filter((field) => sentTo[field] === null),
    ]
    return Object.fromEntries(fields.map((field) => [field, doc[field]]))
  }

  /** Takes a row to its deleted state. */
  protected retire(row: PartRow, stroke: Stroke): void {
    this.move(row, 'delete', stroke)
  }

  /** Sends a lifecycle event to a row. */
  protected move(row: PartRow, event: string, { by, at }: Stroke): string {
    return advance(this.parts.db, { kind: this.parts.kind, id: row.id, name: row.name }, event, by, at).state
  }

  private insert(name: string, spec: string, stroke: Stroke): number {
    const { db, kind } = this.parts
    const id = this.queries.insert({ name, spec, snapshot: firstSnapshot(kind), ...stroke })
    recordCreated(db, kind, name, stroke.by, stroke.at)
    return id
  }

  private revive(recorded: string, name: string, spec: string, stroke: Stroke): number {
    const { '@id': id } = JSON.parse(recorded) as Sealed
    const row = this.queries.byId(id)
    if (row?.state !== 'deleted') return this.insert(name, spec, stroke)
    this.move(row, 'restore', stroke)
    this.queries.update(id, spec, stroke.changeSet, stroke.at)
    return id
  }

  private stored(row: PartRow): Stored {
    const sealed = JSON.parse(row.spec) as Sealed
    const { open, unreadable } = openFields(
      sealed,
      this.parts.secretNames,
      this.place(row.name),
      this.parts.secrets,
    )
    const paused = this.parts.pausable && row.state === 'paused' ? { paused: true } : {}
    return {
      key: row.name,
      name: row.name,
      doc: { ...open, ...paused },
      sealed: sealedJson(row.id, row.name, { ...sealed, ...paused }),
      changeSet: row.change_set,
      state: row.state,
      createdAt: row.created_at,
      updatedAt: row.updated_at,
      unreadable,
    }
  }

  private seal(name: string, doc: Doc, before?: { open: Doc; sealed: Doc }): Doc {
    return sealFields(doc, this.parts.secretNames, this.place(name), this.parts.secrets, before)
  }

  private place(name: string): string {
    return `${this.parts.table}/${name}`
  }
}

function withoutPaused(fields: Doc): Doc {
  const { paused: _paused, ...spec } = fields
  return spec
}

const sealedJson = (id: number, name: string, fields: Doc): string =>
  JSON.stringify({ '@id': id, '@name': name, ...fields })

/* The SQL of parts that are a name and a spec: triggers, agents, MCP servers, skills. */

export interface PartRow {
  id: number
  name: string
  /** JSON; secrets sealed. */
  spec: string
  snapshot: string
  state: string
  change_set: number
  created_at: number
  updated_at: number
}

interface PartWrite {
  name: string
  spec: string
  snapshot: string
  changeSet: number
  /** Epoch ms. */
  at: number
}

export type PartTable = 'triggers' | 'agents' | 'mcp_servers' | 'skills'
type PartQueries = ReturnType<typeof partQueries>

/** The statements of one table, prepared once. */
function partQueries(db: Database, table: PartTable) {
  const columns = 'id, name, spec, snapshot, state, change_set, created_at, updated_at'
  const all = db.prepare<[], PartRow>(
    `SELECT ${columns} FROM ${table} WHERE state <> 'deleted' ORDER BY name`,
  )
  const byName = db.prepare<[string], PartRow>(
    `SELECT ${columns} FROM ${table} WHERE name = ? AND state <> 'deleted'`,
  )
  const byId = db.prepare<[number], PartRow>(`SELECT ${columns} FROM ${table} WHERE id = ?`)
  const insert = db.prepare(
    `INSERT INTO ${table} (name, spec, snapshot, change_set, created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?)`,
  )
  const rename = db.prepare(`UPDATE ${table} SET name = ?, spec = ? WHERE id = ?`)
  const update = db.prepare(`UPDATE ${table} SET spec = ?, change_set = ?, updated_at = ? WHERE id = ?`)
  return {
    all: () => all.all(),
    byName: (name: string) => byName.get(name),
    byId: (id: number) => byId.get(id),
    insert: ({ name, spec, snapshot, changeSet, at }: PartWrite) =>
      Number(insert.run(name, spec, snapshot, changeSet, at, at).lastInsertRowid),
    rename: (id: number, name: string, spec: string) => rename.run(name, spec, id),
    update: (id: number, spec: string, changeSet: number, at: number) => update.run(spec, changeSet, at, id),
  }
}

/*
 * A kind of part whose documents may say `prevent_destroy` and `sync`: these are kept beside the rows of the kind, which
 * know nothing of them, and are fields of the document like any other to plans, merges and undo.
 */

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

/**
 * What is declared on an instance: parts (source, trigger, agent, MCP server, skill) and projects,
 * each as one JSON document. A change-set edits documents; each kind says here how its documents
 * are stored, and is the only one that knows its table, its secrets and its lifecycle.
 * Where a part gets another name, schemas/renamed.ts says what becomes of the documents that refer to it.
 */

import type { FieldsOf } from '../../schemas/fields-of.ts'
import { kindWord } from '../../schemas/kinds.ts'
import { didYouMean } from '../../schemas/near-names.ts'
import { renamedIn } from '../../schemas/renamed.ts'
import type {
  AgentSpec,
  EntitySpec,
  FieldChange,
  McpServerSpec,
  MergeConflict,
  Operation,
  SkillSpec,
  SourceSpec,
  TriggerSpec,
} from '../../schemas/types.ts'
import type { Caller } from '../calls.ts'
import { fail } from '../errors.ts'
import type { VariableUse } from '../net/secrets.ts'
import { equal, escapeKey, isObject, keysOf, merge, valueAt } from './merge.ts'

export { equal } from './merge.ts'

/** A declared object as it is stored now. */
export interface Stored<D extends Doc = Doc> {
  /** Name of a part, id of a project. */
  key: string
  name: string
  doc: D
  /** JSON of the document with its secrets sealed and the row's id under @id. */
  sealed: string
  /** Change-set that last changed it; 0: before there were any. */
  changeSet: number
  state: string
  createdAt: number
  updatedAt: number
  /** Fields whose secret is stored but cannot be read with this key file. */
  unreadable: readonly string[]
  /** The name it is stored by, where this edit gives it another. */
  was?: string
}

/** The same of one kind. */
export type StoredOf<K extends ChangeKind> = Stored<DocumentOf<K>>

/** When and by whom a write is made. `at` in epoch ms. */
export interface Stroke {
  at: number
  by: Caller
  /** Id of the change-set. */
  changeSet: number
}

/** How the documents of one kind are stored; every call is inside the caller's transaction. */
export interface DeclaredKind<D extends Doc = Doc> {
  kind: ChangeKind
  /** The live object of that key. */
  find(key: string): Stored<D> | undefined
  /** Every live object, by name. */
  list(): Stored<D>[]
  /** Opens a document from the record of changes; secrets that cannot be read are left out. */
  open(sealed: string): D
  /** Inserts a document; with `revive` the row it was deleted from comes back. @returns it, sealed. */
  create(key: string, doc: Doc, stroke: Stroke, revive: string | null): string
  /** @returns the new document, sealed. */
  update(stored: Stored, doc: Doc, stroke: Stroke): string
  remove(stored: Stored, stroke: Stroke): void
  /**
   * Stores an object by another name; its history goes along. Projects leave it out: their name is a field.
   * @throws SvcError invalid for a secret that cannot be read here
   */
  rename?(from: string, to: string): void
  /** The document as it may leave the engine. */
  mask(doc: Doc): Doc
  /**
   * The document with its secret fields masked, and its addresses as they are: what plans of releases that
   * knew no secrets in addresses were digested with. A kind that has no addresses leaves it out.
   */
  maskFields?(doc: Doc): Doc
  /** The variables of the environment that a document refers to; a kind without any leaves it out. */
  variables?(doc: Doc): VariableUse[]
  /** The fields of a document that may hold addresses, by how errors name them; a kind without any leaves it out. */
  addresses?(doc: Doc): Record<string, unknown>
  /** Whether a field, named by a pointer, is a set of entries by name, left out when it is empty. */
  isSet?(path: string): boolean
}

/** Whether a field is a list of names, in no order that matters: sources of a trigger, MCP servers of an agent, names of an entity. */
const isNames = (path: string): boolean => ['/sources', '/mcp_servers', '/is', '/owned_by'].includes(path)

/** How those of each kind are stored. */
export type Kinds = { [K in ChangeKind]: DeclaredKind<DocumentOf<K>> }

/*
 * The documents of what is declared, by kind: parts as their schemas have them, and projects. What is stored of a kind
 * was checked against its schema, or made here, before it was written.
 */

export type ChangeKind = Operation['kind']
export const partKinds = ['source', 'mcp_server', 'skill', 'trigger', 'agent'] as const
export type PartKind = (typeof partKinds)[number]
/** Kinds that go by their names: parts, and joined entities, which are of the instance and in no project. */
export const namedKinds = [...partKinds, 'entity'] as const
export type NamedKind = (typeof namedKinds)[number]
export const isPart = (kind: ChangeKind): kind is PartKind => (partKinds as readonly string[]).includes(kind)
/** In the order to make them: what is referred to comes first. */
export const changeKinds = [...namedKinds, 'project'] as const satisfies readonly ChangeKind[]

/** A declared object of any kind with its secrets in the clear, field by field; treat as immutable. */
export type Doc = Readonly<Record<string, unknown>>

/** How a project uses a part: `owned` when it belongs to it, not only shared with it. */
export interface Use {
  owned?: true
}
/**
 * An object of a template's plan; `digest` of the spec as planned, without secrets, of which `secrets`
 * is a keyed hash.
 */
export interface Planned {
  name: string
  digest: string
  secrets?: string
  adopted?: true
}
/** What pausing the project stopped, so that resuming restores exactly that. */
export interface Stopped {
  wakes?: Record<string, Record<string, true>>
  triggers?: Record<string, true>
  sources?: Record<string, true>
}

/** A project. Sets and relations are objects by name, so that two writers who touch different ones never meet. */
export interface ProjectDoc {
  name: string
  template: string
  goal?: string
  description?: string
  params?: Record<string, unknown>
  uses: Partial<Record<PartKind, Record<string, Use>>>
  /** Trigger → agent it wakes. */
  wakes?: Record<string, Record<string, { enabled: boolean }>>
  /** Agent → verdict → agent that takes over. */
  handoffs?: Record<string, Record<string, Record<string, { cooldown: string }>>>
  /** Kind → key in the template's plan. */
  plan?: Partial<Record<PartKind, Record<string, Planned>>>
  stopped?: Stopped
  paused?: true
  draft?: true
  /** Made by guided setup. */
  setup?: true
}

/** What any part may say beside its own fields. */
interface Guarded {
  /** It is not deleted. */
  prevent_destroy?: boolean
  /** What becomes of an edit by hand where a repository is followed. */
  sync?: SyncMode
}

export const syncModes = ['enforce', 'warn', 'adopt'] as const
export type SyncMode = (typeof syncModes)[number]

/** How a document says that it has none of what any part may say, and does not only keep silent. */
export const UNMARKED = { prevent_destroy: false, sync: null } as const

interface Documents {
  source: SourceSpec & Guarded
  mcp_server: McpServerSpec & Guarded
  skill: SkillSpec & Guarded
  trigger: TriggerSpec & Guarded
  agent: AgentSpec & Guarded
  entity: EntitySpec & Guarded
  project: ProjectDoc
}

/**
 * A declared object with its secrets in the clear; treat as immutable.
 * @example
 * const trigger: DocumentOf<'trigger'> | undefined = kinds.trigger.find('gateway-errors')?.doc
 */
export type DocumentOf<K extends ChangeKind> = FieldsOf<Documents[K]>

/** A document whose kind is said beside it. @param doc stored, staged or recorded as one of that kind */
export const documentOf = <K extends ChangeKind>(_kind: K, doc: Doc): DocumentOf<K> => doc as DocumentOf<K>

/*
 * Differences of JSON documents, field by field. Objects are compared key by
 * key; lists and scalars are one field. Fields are named by RFC 6901 pointers.
 */

/** The fields that differ, in the order of `before`, then of `after`. */
export function differences(before: unknown, after: unknown, path = ''): FieldChange[] {
  if (equal(before, after)) return []
  if (!isObject(before) || !isObject(after)) {
    const change: FieldChange = { path }
    if (before !== undefined) change.from = before
    if (after !== undefined) change.to = after
    return [change]
  }
  return keysOf(before, after).flatMap((key) =>
    differences(before[key], after[key], `${path}/${escapeKey(key)}`),
  )
}

/** A document with a merge patch applied (RFC 7396): null removes a field. */
export function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch
  const out: Record<string, unknown> = isObject(target) ? { ...target } : {}
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete out[key]
    else out[key] = mergePatch(out[key], value)
  }
  return out
}

/*
 * An edit under way: the declared documents as they would be, on top of those stored. Whoever
 * composes a change-set reads and stages here; nothing is written until the whole is known, so a
 * plan and an application are the same computation.
 */

/** One staged object: `doc` null deletes it. */
export interface Staged {
  kind: ChangeKind
  key: string
  stored: Stored | undefined
  doc: Doc | null
  /** Its recorded document, when a deleted row is brought back. */
  revive: string | null
}

/** The document of an object as of a change-set, from the record. */
type BaseOf = (kind: ChangeKind, key: string, changeSet: number) => Doc | null | undefined

export class Edit {
  private readonly staged = new Map<ChangeKind, Map<string, Staged>>()
  private readonly loaded = new Map<ChangeKind, Map<string, Stored>>()
  /** Those looked for one by one, also in vain: a part of a catalog is asked for ten times, each at three reads. */
  private readonly found = new Map<ChangeKind, Map<string, Stored | undefined>>()
  readonly conflicts: MergeConflict[] = []
  /** Whether the edit itself says what each paused project stopped: then no note is handed on. */
  saysNotes = false
  private readonly renames: Rename[] = []

  /** @param newest version of the whole; absent where no writer names a version */
  constructor(
    private readonly kinds: Kinds,
    private readonly baseOf: BaseOf,
    private readonly newest = Number.POSITIVE_INFINITY,
  ) {
    for (const kind of changeKinds) {
      this.staged.set(kind, new Map())
      this.found.set(kind, new Map())
    }
  }

  /** As stored before this edit. */
  stored<K extends ChangeKind>(kind: K, key: string): Stored<DocumentOf<K>> | undefined {
    const known: Map<string, Stored | undefined> = this.loaded.get(kind) ?? this.found.get(kind)!
    if (!this.loaded.has(kind) && !known.has(key)) known.set(key, this.kinds[kind].find(key))
    return known.get(key) as Stored<DocumentOf<K>> | undefined
  }

  /** As it would be. */
  get<K extends ChangeKind>(kind: K, key: string): DocumentOf<K> | undefined {
    const staged = this.staged.get(kind)!.get(key)
    // What is staged of a kind is put as one of it.
    return staged ? ((staged.doc ?? undefined) as DocumentOf<K> | undefined) : this.stored(kind, key)?.doc
  }

  /** @throws SvcError not_found */
  require<K extends ChangeKind>(kind: K, key: string): DocumentOf<K> {
    return this.get(kind, key) ?? this.missing(kind, key)
  }

  private missing(kind: ChangeKind, key: string): never {
    return fail('not_found', `no ${kindWord(kind)} is named ${key}${didYouMean(key, this.all(kind).keys())}`)
  }

  has(kind: ChangeKind, key: string): boolean {
    return this.get(kind, key) !== undefined
  }

  /** Every object of a kind as it would be, by key. */
  all<K extends ChangeKind>(kind: K): Map<string, DocumentOf<K>> {
    const out = new Map<string, DocumentOf<K>>()
    for (const [key, stored] of this.load(kind)) out.set(key, stored.doc as DocumentOf<K>)
    for (const [key, { doc }] of this.staged.get(kind)!) {
      if (doc) out.set(key, doc as DocumentOf<K>)
      else out.delete(key)
    }
    return out
  }

  /**
   * Stages a document. With `base`, the version its writer saw, what others changed since is merged;
   * fields both changed are collected in `conflicts` and refuse the whole change-set.
   * @throws SvcError conflict: there was no such version
   */
  put(kind: ChangeKind, key: string, doc: Doc, base?: number): void {
    const stored = this.stored(kind, key)
    if (stored && base !== undefined) this.requireKnown(kind, stored, base)
    const { prevent_destroy: guard, sync, ...rest } = doc
    const given: Doc = {
      ...rest,
      ...(guard === undefined || guard === false ? {} : { prevent_destroy: guard }),
      ...(sync === undefined || sync === null ? {} : { sync }),
    }
    const merged =
      base === undefined || !stored || stored.changeSet <= base
        ? given
        : this.rebase(kind, stored, given, base)
    // Who says nothing of a part's guard and its sync does not take them away: few know the fields. False and null do.
    const now: Doc | undefined = this.get(kind, key)
    const marks = {
      ...(guard === undefined && now?.prevent_destroy === true ? { prevent_destroy: true } : {}),
      ...(sync === undefined && now?.sync !== undefined ? { sync: now.sync } : {}),
    }
    // What this edit brings back, and then changes, is still brought back.
    const revive = this.staged.get(kind)!.get(key)?.revive ?? null
    this.stage({ kind, key, stored, doc: { ...merged, ...marks }, revive })
  }

  /**
   * Gives a part another name, and all that refers to it the new one. It comes before what else is staged of the part.
   * @throws SvcError not_found; conflict when the name is taken
   */
  rename(kind: NamedKind, from: string, to: string): void {
    const loaded = this.load(kind)
    const stored = loaded.get(from)
    if (!stored || !this.has(kind, from)) this.missing(kind, from)
    if (from === to) return
    if (this.has(kind, to))
      fail('conflict', `${kindWord(kind)} ${from} cannot be called ${to}: that name is taken`, {
        field: 'to',
      })
    const doc = this.require(kind, from)
    const { was = from, ...same } = stored
    this.staged.get(kind)!.delete(from)
    loaded.delete(from)
    loaded.set(to, { ...same, key: to, name: to, ...(was === to ? {} : { was }) })
    this.put(kind, to, doc)
    const rename = { kind, from, to }
    this.renames.push(rename)
    const readsFindings = (trigger: Doc) =>
      (trigger.sources as string[]).some((name) => this.get('source', name)?.connector === 'finding')
    for (const of of referring[kind])
      for (const [key, refers] of this.all(of)) {
        const next = renamedIn(of, refers, rename, readsFindings)
        if (next !== refers) this.put(of, key, next)
      }
  }

  /** As stored before this edit, in the names that it gives. */
  storedNow(kind: ChangeKind, key: string): Doc | undefined {
    const stored = this.stored(kind, key)
    return stored && this.inNames(kind, stored.doc)
  }

  /** A document in the names that this edit gives. */
  inNames(kind: ChangeKind, doc: Doc): Doc {
    return renamedBy(kind, doc, this.renames)
  }

  /** The name of now of a part that this edit gave another name; else its own. */
  nameOf(kind: ChangeKind, name: string): string {
    return this.renames.reduce((now, one) => (one.kind === kind && one.from === now ? one.to : now), name)
  }

  /**
   * Stages a deletion; nothing happens when it is not there.
   * @param base the version its writer saw: what others made of it since is not deleted unseen
   * @throws SvcError conflict
   */
  remove(kind: ChangeKind, key: string, base?: number): void {
    this.requireSeen(kind, key, base)
    const stored = this.stored(kind, key)
    if (stored) this.stage({ kind, key, stored, doc: null, revive: null })
    else this.staged.get(kind)!.delete(key)
  }

  /**
   * As `remove`, for a list of operations: each field that others changed since is a conflict, to be chosen about as
   * those of a change are. @throws SvcError conflict for what its writer cannot have seen at all
   */
  removeAsSeen(kind: ChangeKind, key: string, base: number | undefined): void {
    const stored = this.stored(kind, key)
    if (stored && base !== undefined) {
      this.requireKnown(kind, stored, base)
      if (!this.baseOf(kind, stored.was ?? stored.key, base)) this.requireSeen(kind, key, base)
      else if (stored.changeSet > base) this.rebase(kind, stored, {}, base)
    }
    this.remove(kind, key)
  }

  /** @param base the version a writer saw; absent: it goes by what is there. @throws SvcError conflict */
  requireSeen(kind: ChangeKind, key: string, base: number | undefined): void {
    const stored = this.stored(kind, key)
    if (!stored || base === undefined) return
    this.requireKnown(kind, stored, base)
    if (stored.changeSet > base)
      fail('conflict', `${kindWord(kind)} ${stored.name} was changed since version ${base}; read it again`)
  }

  /** Stages a deleted object as it was recorded. */
  revive(kind: ChangeKind, key: string, sealed: string): void {
    this.stage({ kind, key, stored: undefined, doc: this.kinds[kind].open(sealed), revive: sealed })
  }

  /** Everything staged, in the order to make things. */
  touched(): Staged[] {
    return changeKinds.flatMap((kind) => [...this.staged.get(kind)!.values()])
  }

  private stage(entry: Staged): void {
    this.staged.get(entry.kind)!.set(entry.key, entry)
  }

  /** A version of before a backup was put back, or of another instance, says nothing of what its writer saw. */
  private requireKnown(kind: ChangeKind, { name }: Stored, base: number): void {
    if (base > this.newest)
      fail('conflict', `${kindWord(kind)} ${name} never had version ${base} here; read it again`)
  }

  private load(kind: ChangeKind): Map<string, Stored> {
    let known = this.loaded.get(kind)
    if (!known) {
      known = new Map(this.kinds[kind].list().map((stored) => [stored.key, stored]))
      this.loaded.set(kind, known)
    }
    return known
  }

  private rebase(kind: ChangeKind, stored: Stored, mine: Doc, base: number): Doc {
    const recorded = this.baseOf(kind, stored.was ?? stored.key, base)
    const then = recorded && renamedBy(kind, recorded, this.renames)
    // Without a record of then, everything of theirs that differs would be lost: let mine conflict.
    const kindOf = this.kinds[kind]
    const isSet = (path: string) => kindOf.isSet?.(path) ?? false
    const now = this.storedNow(kind, stored.key) ?? stored.doc
    const { merged, conflicts } = merge<Doc>(then ?? {}, mine, now, { isSet, isNames })
    const shown = { base: kindOf.mask(then ?? {}), mine: kindOf.mask(mine), theirs: kindOf.mask(now) }
    for (const { path } of conflicts)
      this.conflicts.push({
        kind,
        name: stored.name,
        path,
        base: valueAt(shown.base, path) ?? null,
        mine: valueAt(shown.mine, path) ?? null,
        theirs: valueAt(shown.theirs, path) ?? null,
      })
    return merged
  }
}

export interface Rename {
  kind: Exclude<ChangeKind, 'project'>
  from: string
  to: string
}

/** Kinds whose documents refer to parts of a kind by name. */
const referring: Readonly<Record<Rename['kind'], readonly ChangeKind[]>> = {
  source: ['trigger', 'project'],
  mcp_server: ['agent', 'project'],
  skill: ['project'],
  trigger: ['project'],
  agent: ['trigger', 'project'],
  entity: [],
}

/** A document in the names of now. @param renames in the order in which they were made */
export const renamedBy = (kind: ChangeKind, doc: Doc, renames: readonly Rename[]): Doc =>
  renames.reduce((now, rename) => renamedIn(kind, now, rename), doc)

/** The name of now of what had a name at the beginning of these. */
export const nameSince = (
  since: readonly { kind: string; from: string; to: string }[],
  kind: string,
  name: string,
): string => since.reduce((now, one) => (one.kind === kind && one.from === now ? one.to : now), name)

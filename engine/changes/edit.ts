/**
 * An edit under way: the declared documents as they would be, on top of those stored. Whoever
 * composes a change-set reads and stages here; nothing is written until the whole is known, so a
 * plan and an application are the same computation.
 */
import type { MergeConflict } from '../../schemas/types.ts'
import { fail } from '../errors.ts'
import {
  type ChangeKind,
  changeKinds,
  type Doc,
  type DocumentOf,
  type Kinds,
  kindWord,
  type Stored,
} from './declared.ts'
import { merge } from './fields.ts'

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
export type BaseOf = (kind: ChangeKind, key: string, changeSet: number) => Doc | null | undefined

export class Edit {
  private readonly staged = new Map<ChangeKind, Map<string, Staged>>()
  private readonly loaded = new Map<ChangeKind, Map<string, Stored>>()
  readonly conflicts: MergeConflict[] = []

  constructor(
    private readonly kinds: Kinds,
    private readonly baseOf: BaseOf,
  ) {
    for (const kind of changeKinds) this.staged.set(kind, new Map())
  }

  /** As stored before this edit. */
  stored<K extends ChangeKind>(kind: K, key: string): Stored<DocumentOf<K>> | undefined {
    const loaded = this.loaded.get(kind)
    return (loaded ? loaded.get(key) : this.kinds[kind].find(key)) as Stored<DocumentOf<K>> | undefined
  }

  /** As it would be. */
  get<K extends ChangeKind>(kind: K, key: string): DocumentOf<K> | undefined {
    const staged = this.staged.get(kind)!.get(key)
    // What is staged of a kind is put as one of it.
    return staged ? ((staged.doc ?? undefined) as DocumentOf<K> | undefined) : this.stored(kind, key)?.doc
  }

  /** @throws SvcError not_found */
  require<K extends ChangeKind>(kind: K, key: string): DocumentOf<K> {
    return this.get(kind, key) ?? fail('not_found', `no ${kindWord(kind)} is named ${key}`)
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
   */
  put(kind: ChangeKind, key: string, doc: Doc, base?: number): void {
    const stored = this.stored(kind, key)
    const { prevent_destroy: guard, ...rest } = doc
    const given = guard === false ? rest : doc
    const merged =
      base === undefined || !stored || stored.changeSet <= base
        ? given
        : this.rebase(kind, stored, given, base)
    // Who says nothing of a part's guard does not take it away: few know the field. False does.
    const now: Doc | undefined = this.get(kind, key)
    const isKept = guard === undefined && now?.prevent_destroy === true
    // What this edit brings back, and then changes, is still brought back.
    const revive = this.staged.get(kind)!.get(key)?.revive ?? null
    this.stage({ kind, key, stored, doc: isKept ? { ...merged, prevent_destroy: true } : merged, revive })
  }

  /** Stages a deletion; nothing happens when it is not there. */
  remove(kind: ChangeKind, key: string): void {
    const stored = this.stored(kind, key)
    if (stored) this.stage({ kind, key, stored, doc: null, revive: null })
    else this.staged.get(kind)!.delete(key)
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

  private load(kind: ChangeKind): Map<string, Stored> {
    let known = this.loaded.get(kind)
    if (!known) {
      known = new Map(this.kinds[kind].list().map((stored) => [stored.key, stored]))
      this.loaded.set(kind, known)
    }
    return known
  }

  private rebase(kind: ChangeKind, stored: Stored, mine: Doc, base: number): Doc {
    const then = this.baseOf(kind, stored.key, base)
    // Without a record of then, everything of theirs that differs would be lost: let mine conflict.
    const kindOf = this.kinds[kind]
    const isSet = (path: string) => kindOf.isSet?.(path) ?? false
    const { merged, conflicts } = merge<Doc>(then ?? {}, mine, stored.doc, isSet)
    const shown = { base: kindOf.mask(then ?? {}), mine: kindOf.mask(mine), theirs: kindOf.mask(stored.doc) }
    for (const { path } of conflicts)
      this.conflicts.push({
        kind,
        name: stored.name,
        path,
        base: at(shown.base, path) ?? null,
        mine: at(shown.mine, path) ?? null,
        theirs: at(shown.theirs, path) ?? null,
      })
    return merged
  }
}

/** The value at an RFC 6901 pointer. */
function at(doc: unknown, pointer: string): unknown {
  return pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce<unknown>((value, key) => (value as Record<string, unknown> | undefined)?.[key], doc)
}

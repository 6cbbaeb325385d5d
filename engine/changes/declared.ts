/**
 * What is declared on an instance: parts (source, trigger, agent, MCP server, skill) and projects,
 * each as one JSON document. A change-set edits documents; each kind says here how its documents
 * are stored, and is the only one that knows its table, its secrets and its lifecycle.
 */
import type { Caller } from '../calls.ts'
import type { VariableUse } from '../secret-variables.ts'
import type { ChangeKind, Doc, DocumentOf } from './documents.ts'

export {
  type ChangeKind,
  changeKinds,
  type Doc,
  type DocumentOf,
  type PartKind,
  partKinds,
} from './documents.ts'

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

/** How those of each kind are stored. */
export type Kinds = { [K in ChangeKind]: DeclaredKind<DocumentOf<K>> }

/** What errors and summaries call a kind. */
export const kindWord = (kind: ChangeKind): string => (kind === 'mcp_server' ? 'MCP server' : kind)

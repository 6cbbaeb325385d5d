/** What the structure of a graph is made of: documents of one instant, now or in the past. */
import type { Doc, PartKind } from '../changes/declared.ts'
import type { ProjectDoc } from '../wiring/project-doc.ts'

/** An address that triggers tell. */
export interface GraphDestination {
  /** What follows `destination:` in its id: webhook:<subscription>. */
  id: string
  /** Where it leads, masked. */
  name: string
  /** Its trigger; null: every trigger of the project. */
  trigger: string | null
  /** The recipient said that it is gone, and nothing is sent there any more. */
  disabled: boolean
}

export interface GraphWorld {
  /** Id of the project. */
  id: string
  doc: ProjectDoc
  /** The document of a part; undefined: it is not there. Only fields that are no secret are read. */
  part(kind: PartKind, name: string): Doc | undefined
  /** Other projects that use a part, by name. */
  sharedWith(kind: PartKind, name: string): readonly { id: string; name: string }[]
  /** Objects of the project's plan that a hand edited, or deleted. */
  ownership: readonly { kind: PartKind; name: string; state: 'customized' | 'missing' }[]
  /** Subscriptions of the project or of its triggers; what agents write back to is read from their documents. */
  destinations: readonly GraphDestination[]
}

/** Names of the parts of a graph. */
export type PartNames = Record<PartKind, ReadonlySet<string>>

/** What the parts of an edit share: the text, its anchors, and the way back to the value of a node. */
import type { Anchors } from './anchors.ts'
import type { Layout } from './render.ts'
import type { Splices } from './splices.ts'
import type { TreeNode } from './tree.ts'

/** Where a value stands: after which sign, and what its lines are indented by. */
export interface Place {
  /** `pair` and `item` are in a block, the value of a key or after a dash. */
  kind: 'pair' | 'item' | 'flow'
  /** Offset after the colon or the dash. */
  slot: number
  /** Column of the key or the dash; 0 in a flow collection. */
  column: number
  /** How its lines are written, where that is not the canonical way. First line without its head. */
  lines?: (value: unknown) => string[]
}

export interface Editing {
  readonly splices: Splices
  readonly anchors: Anchors
  readonly layout: Layout
  /** Makes the node at a place say `wanted`. */
  value(node: TreeNode, wanted: unknown, place: Place): void
}

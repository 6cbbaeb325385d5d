/**
 * A tree edited to say another value: scalars change in place, fields and items are put in and taken
 * out, and only what cannot be kept is written anew.
 */
import { equal } from '../../changes/fields.ts'
import { align } from './align.ts'
import { Anchors } from './anchors.ts'
import { MapEdit } from './edit-map.ts'
import { editScalar } from './edit-scalar.ts'
import { SeqEdit } from './edit-seq.ts'
import type { Editing, Place } from './editing.ts'
import type { Layout } from './render.ts'
import { fieldOf, isEntry } from './sections.ts'
import type { Splices } from './splices.ts'
import type { SeqNode, TreeNode } from './tree.ts'
import type { Values } from './values.ts'
import { writeAnew } from './write-anew.ts'

export class Edit implements Editing {
  readonly anchors: Anchors
  readonly maps = new MapEdit(this)
  readonly seqs = new SeqEdit(this)

  /** @param isCoarse writes whatever changes below `root` anew, to be safe rather than sparing */
  constructor(
    readonly splices: Splices,
    root: TreeNode,
    readonly values: Values,
    readonly layout: Layout,
    readonly isCoarse: boolean,
  ) {
    this.anchors = new Anchors(root, values)
  }

  /** Makes the node at a place say `wanted`. */
  value(node: TreeNode, wanted: unknown, place: Place): void {
    if (node.kind === 'alias') {
      if (!this.anchors.holds(node, wanted)) this.anew(node, wanted, place)
      return
    }
    this.anchors.want(node, wanted)
    const isSame = equal(this.values.of.get(node), wanted)
    if (isSame && !this.anchors.mention(node)) return
    const isKept = !this.isCoarse || isSame
    const isMap = isKept && node.kind === 'map' && node.style !== 'bare' && isEntry(wanted)
    if (isMap && this.maps.edit(node, wanted)) return
    if (isKept && node.kind === 'seq' && Array.isArray(wanted) && this.list(node, wanted)) return
    if (node.kind === 'scalar' && editScalar(this.splices, node, wanted, place)) return
    this.anew(node, wanted, place)
  }

  anew(node: TreeNode, wanted: unknown, place: Place): void {
    this.anchors.remove(node)
    writeAnew(this, node, wanted, place)
  }

  private list(node: SeqNode, wanted: readonly unknown[]): boolean {
    const before = node.items.map(({ value }) => this.values.of.get(value))
    return this.seqs.edit(node, wanted, align(before, wanted, [equal, isSameItem, isSameKind]))
  }
}

/** What an item of a list within an entry is told apart by. */
const NAMES = [['kind', 'name'], ['name'], ['verdict', 'agent'], ['field', 'op']]

function isSameItem(before: unknown, after: unknown): boolean {
  if (!isEntry(before) || !isEntry(after)) return false
  const keys = NAMES.find((names) => names.every((key) => Object.hasOwn(before, key)))
  return keys?.every((key) => equal(before[key], fieldOf(after, key))) ?? false
}

function isSameKind(before: unknown, after: unknown): boolean {
  return isEntry(before) === isEntry(after) && Array.isArray(before) === Array.isArray(after)
}

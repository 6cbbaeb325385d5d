/**
 * What becomes of anchors while a text is edited. An alias stays as long as its anchor stays and says
 * what the alias is to say; else its value is written out there, and only there.
 */
import { equal } from '../../changes/fields.ts'
import { type AliasNode, childrenOf, type TreeNode } from './tree.ts'
import type { Values } from './values.ts'

export class Anchors {
  /** Nodes with an alias somewhere below: never skipped, since their anchor may change. */
  private readonly mentioning = new Set<TreeNode>()
  private readonly wanted = new Map<TreeNode, unknown>()
  private readonly gone = new Set<TreeNode>()

  constructor(
    root: TreeNode,
    private readonly values: Values,
  ) {
    this.find(root)
  }

  private find(node: TreeNode): boolean {
    const found = childrenOf(node).filter((child) => this.find(child)).length > 0 || node.kind === 'alias'
    if (found) this.mentioning.add(node)
    return found
  }

  /** Whether an alias is in it. */
  mention(node: TreeNode): boolean {
    return this.mentioning.has(node)
  }

  /** An anchored node is to say this. Edits go through the text in order, so before its aliases. */
  want(node: TreeNode, value: unknown): void {
    if (node.anchor !== null) this.wanted.set(node, value)
  }

  /** A node is taken out of the text, with the anchors in it. */
  remove(node: TreeNode): void {
    this.gone.add(node)
    for (const child of childrenOf(node)) this.remove(child)
  }

  /** Whether an alias will say this without being touched. */
  holds(alias: AliasNode, value: unknown): boolean {
    const target = this.values.targets.get(alias)
    if (!target || this.gone.has(target)) return false
    return equal(this.wanted.has(target) ? this.wanted.get(target) : this.values.of.get(target), value)
  }
}

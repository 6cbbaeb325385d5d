/** How a file is indented, read off its first nested map and its first list under a key. */
import { CANONICAL, type Layout } from './render.ts'
import type { Splices } from './splices.ts'
import { childrenOf, type MapNode, type TreeNode } from './tree.ts'

export function layoutOf(root: TreeNode, splices: Splices): Layout {
  const found: Partial<Layout> = {}
  const look = (node: TreeNode): void => {
    if (found.step !== undefined && found.dashIndent !== undefined) return
    if (node.kind === 'map' && node.style === 'block') note(node)
    childrenOf(node).forEach(look)
  }
  const note = (node: MapNode): void => {
    const column = splices.column(node.items[0]!.start)
    for (const { value } of node.items) {
      if ((value.kind !== 'map' && value.kind !== 'seq') || value.style !== 'block') continue
      const inner = splices.column(value.items[0]!.start) - column
      if (value.kind === 'map' && inner > 0) found.step ??= inner
      if (value.kind === 'seq' && inner >= 0) found.dashIndent ??= inner
    }
  }
  look(root)
  const step = found.step ?? CANONICAL.step
  // An indentation indicator has one digit (YAML 1.2, 8.1.1.1).
  return { step: step > 8 ? CANONICAL.step : step, dashIndent: found.dashIndent ?? step }
}

/** The items of a list: those that stay, those that go, and those that come. */
import type { Alignment } from './align.ts'
import type { Editing, Place } from './editing.ts'
import { itemLines, rowLines } from './render.ts'
import type { SeqItem, SeqNode, TreeNode } from './tree.ts'
import { inFlow } from './write-anew.ts'

/** The lines of a new item, its dash at a column. */
type LinesOf = (value: unknown, column: number) => string[]

export class SeqEdit {
  constructor(private readonly owner: Editing) {}

  /**
   * @param origins for each item that is wanted, the item of the text it is; ascending
   * @param linesOf how a new item is written, its dash at a column
   * @returns false when no item of the text stays
   */
  edit(
    node: SeqNode,
    wanted: readonly unknown[],
    origins: Alignment,
    linesOf: LinesOf = (value, column) => this.lines(node, value, column),
  ): boolean {
    const targets = new Map(origins.map((origin, a) => [origin, wanted[a]]))
    targets.delete(null)
    const kept = [...targets.keys()] as number[]
    if (kept.length === 0) return node.items.length === 0 && wanted.length === 0
    const column = node.style === 'block' ? this.owner.splices.column(node.items[0]!.start) : 0
    const [first, last] = [kept[0]!, kept.at(-1)!]
    node.items.forEach((item, i) => {
      if (targets.has(i)) this.owner.value(item.value, targets.get(i), placeOf(node, item, column))
      else this.remove(node, i, first, last)
    })
    for (const [after, values] of addedAfter(origins, wanted)) {
      const texts = values.map((value) => this.text(node, value, column, linesOf))
      if (after === null) this.insertBefore(node, node.items[first]!, texts)
      else this.insertAfter(node, node.items[after]!, texts)
    }
    return true
  }

  private text(node: SeqNode, value: unknown, column: number, linesOf: LinesOf): string {
    const { splices } = this.owner
    return node.style === 'flow' ? inFlow(splices, value) : splices.joined(linesOf(value, column))
  }

  /** In the style of the items there are: each on one line, or in a block. */
  private lines(node: SeqNode, value: unknown, column: number): string[] {
    const isBlock = node.items.some((item) => item.value.kind === 'map' && item.value.style === 'block')
    return (isBlock ? itemLines : rowLines)(value, column, this.owner.layout)
  }

  private insertBefore(node: SeqNode, item: SeqItem, texts: readonly string[]): void {
    const { splices } = this.owner
    if (node.style === 'flow') {
      splices.insert(item.start, texts.map((text) => `${text}, `).join(''))
      return
    }
    const column = splices.column(node.items[0]!.start)
    const gap = splices.eol + this.blank(node) + ' '.repeat(column)
    splices.insert(item.start, texts.map((text) => text.slice(column) + gap).join(''))
  }

  private insertAfter(node: SeqNode, { value }: SeqItem, texts: readonly string[]): void {
    const { splices } = this.owner
    if (node.style === 'flow') {
      splices.insert(value.end, texts.map((text) => `, ${text}`).join(''))
      return
    }
    const gap = splices.eol + this.blank(node)
    const first = keepsBlankLines(value, splices.text) ? splices.eol : gap
    const at = splices.withComments(value.end, splices.column(node.items[0]!.start))
    splices.insert(at, texts.map((text, i) => (i ? gap : first) + text).join(''))
  }

  /** The blank line that sets the items apart, if the last two are. */
  private blank(node: SeqNode): string {
    const [before, last] = node.items.slice(-2)
    if (!before || !last) return ''
    const between = this.owner.splices.text.slice(before.value.end, last.start)
    return /\n[ \t]*\r?\n/.test(between) ? this.owner.splices.eol : ''
  }

  /**
   * Removes the item at an index; in a flow list, the first after the last one kept takes all behind
   * it along.
   * @param first @param last indices of the first and the last item that stay
   */
  private remove(node: SeqNode, i: number, first: number, last: number): void {
    const { splices, anchors } = this.owner
    const item = node.items[i]!
    anchors.remove(item.value)
    if (node.style === 'flow') {
      if (i < last) splices.replace(item.start, node.items[i + 1]!.start, '')
      else if (i === last + 1) splices.replace(node.items[last]!.value.end, node.items.at(-1)!.value.end, '')
      return
    }
    // An item on the line of what the list is in: the next one takes its place there.
    if (i < first && !splices.isFirstOnLine(node.items[0]!.start)) {
      splices.replace(item.start, node.items[i + 1]!.start, '')
      return
    }
    const end = splices.withComments(item.value.end, splices.column(item.start))
    splices.removeLines(item.start, end, node.items[i - 1]?.value.end ?? null)
  }
}

function placeOf(node: SeqNode, item: SeqItem, column: number): Place {
  return { kind: node.style === 'block' ? 'item' : 'flow', slot: item.slot, column }
}

/** New items by the item of the text they follow. */
function addedAfter(origins: Alignment, wanted: readonly unknown[]): Map<number | null, unknown[]> {
  const added = new Map<number | null, unknown[]>()
  let previous: number | null = null
  origins.forEach((origin, a) => {
    if (origin !== null) previous = origin
    else {
      const values = added.get(previous) ?? []
      values.push(wanted[a])
      added.set(previous, values)
    }
  })
  return added
}

/** Whether blank lines after a value would be part of it: it ends in a block that keeps them. */
function keepsBlankLines(node: TreeNode, text: string): boolean {
  if (node.kind === 'scalar') return /^[|>]\d?\+/.test(text.slice(node.start, node.start + 3))
  if (node.kind === 'alias' || node.style === 'flow') return false
  const last = node.items.at(-1)
  return last !== undefined && keepsBlankLines(last.value, text)
}

/** The fields of a map: those that stay, those that go, and those that come. */
import type { Editing, Place } from './editing.ts'
import { pairLines } from './render.ts'
import { type Entry, fieldOf } from './sections.ts'
import { keyOf, type MapItem, type MapNode } from './tree.ts'
import { inFlow, keyInFlow } from './write-anew.ts'

export class MapEdit {
  constructor(private readonly owner: Editing) {}

  /**
   * @param wanted fields in canonical order, which new ones are put in by
   * @returns false when no field of the text stays
   */
  edit(node: MapNode, wanted: Entry): boolean {
    const isKept = (item: MapItem) => fieldOf(wanted, keyOf(item)!) !== undefined
    const firstKept = node.items.find(isKept)
    if (!firstKept) return node.items.length === 0 && Object.keys(wanted).length === 0
    node.items.forEach((item, i) => {
      if (isKept(item)) this.owner.value(item.value, wanted[keyOf(item)!], this.placeOf(node, item))
      else this.remove(node, i, isKept)
    })
    for (const [after, keys] of this.added(node, wanted, isKept)) {
      const fields = keys.map((key): [string, unknown] => [key, wanted[key]])
      this.insert(node, after ?? firstKept, after === null, fields)
    }
    return true
  }

  private placeOf(node: MapNode, { slot, start }: MapItem): Place {
    if (node.style !== 'block') return { kind: 'flow', slot, column: 0 }
    return { kind: 'pair', slot, column: this.owner.splices.column(start) }
  }

  /** New keys by the item they follow: of those that stay and come first in canonical order, the last. */
  added(node: MapNode, wanted: Entry, isKept: (item: MapItem) => boolean): Map<MapItem | null, string[]> {
    const kept = new Map(node.items.filter(isKept).map((item) => [keyOf(item)!, item]))
    const added = new Map<MapItem | null, string[]>()
    let previous: MapItem | null = null
    for (const key of Object.keys(wanted)) {
      const item = kept.get(key)
      if (item && (!previous || item.start > previous.start)) previous = item
      if (item) continue
      if (wanted[key] === undefined) continue
      const keys = added.get(previous) ?? []
      keys.push(key)
      added.set(previous, keys)
    }
    return added
  }

  /** Puts fields in after an item that stays, or before it. */
  insert(node: MapNode, item: MapItem, isBefore: boolean, fields: [string, unknown][]): void {
    const { splices, layout } = this.owner
    if (node.style === 'flow') {
      const texts = fields.map(([key, value]) => `${keyInFlow(splices, key)}: ${inFlow(splices, value)}`)
      if (isBefore) splices.insert(item.start, texts.map((text) => `${text}, `).join(''))
      else splices.insert(item.value.end, texts.map((text) => `, ${text}`).join(''))
      return
    }
    const column = splices.column(node.items[0]!.start)
    const lines = fields.flatMap(([key, value]) => pairLines(key, value, column, layout))
    if (isBefore) splices.insert(item.start, splices.joined([...lines, ' '.repeat(column)]).slice(column))
    else splices.insert(splices.lineEnd(item.value.end), lines.map((line) => splices.eol + line).join(''))
  }

  /** Removes the field at an index; the first of a run of them takes the run along. */
  remove(node: MapNode, i: number, isKept: (item: MapItem) => boolean): void {
    const { splices, anchors } = this.owner
    const item = node.items[i]!
    anchors.remove(item.value)
    const next = node.items.slice(i + 1).find(isKept)
    const previous = node.items.slice(0, i).findLast(isKept)
    if (node.style === 'flow') {
      if (next) splices.replace(item.start, node.items[i + 1]!.start, '')
      else if (node.items[i - 1] === previous)
        splices.replace(previous!.value.end, node.items.at(-1)!.value.end, '')
      return
    }
    // A key on the line of its dash: what follows takes its place there.
    if (!splices.isFirstOnLine(item.start) || (!previous && !splices.isFirstOnLine(node.items[0]!.start))) {
      splices.replace(item.start, node.items[i + 1]!.start, '')
      return
    }
    splices.removeLines(item.start, item.value.end, node.items[i - 1]?.value.end ?? null)
  }
}

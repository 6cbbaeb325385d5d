/** The sections of a file edited to say a catalog. */
import type { Catalog } from '../../../schemas/types.ts'
import type { Edit } from './edit.ts'
import type { Place } from './editing.ts'
import { orderedEntry } from './order.ts'
import { entryLines, renderCatalog, sectionLines } from './render.ts'
import {
  type Entry,
  identityOf,
  inTodaysWords,
  isEntry,
  NAME_KEY,
  SECTIONS,
  type Section,
} from './sections.ts'
import { entriesOf } from './target.ts'
import { keyOf, type MapItem, type MapNode } from './tree.ts'
import { inFlow } from './write-anew.ts'

/** Edits the root of a file; entries of `target` are in the order of the file, new ones last. */
export class RootEdit {
  constructor(
    private readonly edit: Edit,
    private readonly root: MapNode,
    private readonly target: Catalog,
  ) {}

  run(): void {
    const { root, edit } = this
    const kept = root.items.filter((item) => this.isKept(item))
    if (kept.length === 0) {
      const isNothing = Object.keys(this.target).length === 0
      if (root.items.length > 0 || !isNothing) this.whole()
      return
    }
    const isKept = (item: MapItem) => kept.includes(item)
    root.items.forEach((item, i) => {
      if (isKept(item)) this.section(item)
      else edit.maps.remove(root, i, isKept)
    })
    const words = Object.fromEntries(SECTIONS.map((section) => [this.wordOf(section), this.entries(section)]))
    for (const [after, keys] of edit.maps.added(root, words, isKept))
      this.insert(after ?? kept[0]!, after === null, keys as Section[])
  }

  /** Nothing stays of what the file says. */
  private whole(): void {
    const { splices } = this.edit
    const { root, target } = this
    this.edit.anchors.remove(root)
    const lines = renderCatalog(target).trimEnd().split('\n')
    const isFlow = root.style === 'flow'
    splices.replace(root.start, root.end, isFlow ? inFlow(splices, target) : splices.joined(lines))
  }

  /** The word the file has for a section; `usecases` is the old one for projects. */
  private wordOf(section: Section): string {
    const has = (word: string) =>
      this.root.items.some((item) => keyOf(item) === word && this.valueOf(item) !== null)
    return section === 'projects' && !has('projects') && has('usecases') ? 'usecases' : section
  }

  private valueOf(item: MapItem): unknown {
    return this.edit.values.of.get(item.value)
  }

  private sectionOf(item: MapItem): Section | undefined {
    return SECTIONS.find((section) => this.wordOf(section) === keyOf(item))
  }

  /** A section of which nothing is written stays as it is when nothing is wanted. */
  private isKept(item: MapItem): boolean {
    const section = this.sectionOf(item)
    const isName = keyOf(item) === NAME_KEY
    return (
      isName || this.valueOf(item) === null || (section !== undefined && this.target[section] !== undefined)
    )
  }

  /** The wanted entries, fields in order, in the words of the file. */
  private entries(section: Section): Entry[] | undefined {
    const word = this.wordOf(section)
    const entries = entriesOf(this.target, section)?.map((entry) => orderedEntry(section, entry))
    if (word !== 'usecases') return entries
    const written = this.written(word)
    const usesRecipe = (entry: Entry) => {
      const own = written.find((other) => identityOf(section, other) === identityOf(section, entry))
      return (own ?? written[0])?.recipe !== undefined
    }
    return entries?.map((entry) => (usesRecipe(entry) ? inOldWords(entry) : entry))
  }

  private written(word: string): Entry[] {
    const item = this.root.items.find((other) => keyOf(other) === word)
    const value = item && this.valueOf(item)
    return Array.isArray(value) ? value.filter(isEntry) : []
  }

  private section(item: MapItem): void {
    const { edit } = this
    const section = this.sectionOf(item)
    const entries = section && this.entries(section)
    if (!section || !entries) return
    const { value: node } = item
    const place: Place = {
      kind: this.root.style === 'block' ? 'pair' : 'flow',
      slot: item.slot,
      column: this.root.style === 'block' ? edit.splices.column(item.start) : 0,
      lines: () => this.linesAfterKey(section, entries),
    }
    if (node.kind !== 'seq') {
      edit.value(node, entries, place)
      return
    }
    edit.anchors.want(node, entries)
    const written = (this.valueOf(item) as unknown[]).map((entry) =>
      identityOf(section, inTodaysWords(entry)),
    )
    const index = new Map(written.map((identity, i) => [identity, i]))
    const origins = entries.map((entry) => index.get(identityOf(section, inTodaysWords(entry))) ?? null)
    const lines = (entry: unknown, column: number) => entryLines(section, entry as Entry, column, edit.layout)
    if (!edit.seqs.edit(node, entries, origins, lines)) edit.anew(node, entries, place)
  }

  private linesAfterKey(section: Section, entries: readonly Entry[]): string[] {
    const [first = '', ...rest] = sectionLines(section, entries, this.edit.layout)
    return [first.slice(section.length + 1).trimStart(), ...rest]
  }

  /** Puts sections in after one that stays, or before it, set apart by a blank line as the others are. */
  private insert(item: MapItem, isBefore: boolean, words: readonly string[]): void {
    const { splices, layout } = this.edit
    if (this.root.style !== 'block') {
      const fields = words.map((word): [string, unknown] => [word, this.entriesByWord(word)])
      this.edit.maps.insert(this.root, item, isBefore, fields)
      return
    }
    const texts = words.map((word) => splices.joined(sectionLines(word, this.entriesByWord(word), layout)))
    const gap = splices.eol + (this.isDense() ? '' : splices.eol)
    if (isBefore) splices.insert(item.start, texts.map((text) => text + gap).join(''))
    else splices.insert(splices.lineEnd(item.value.end), texts.map((text) => gap + text).join(''))
  }

  /** Whether the sections of the file follow each other without a blank line. */
  private isDense(): boolean {
    const { text } = this.edit.splices
    const [, ...later] = this.root.items
    return (
      later.length > 0 &&
      later.every((item, i) => !/\n[ \t]*\r?\n/.test(text.slice(this.root.items[i]!.value.end, item.start)))
    )
  }

  private entriesByWord(word: string): Entry[] {
    const section = SECTIONS.find((one) => this.wordOf(one) === word)
    return (section && this.entries(section)) ?? []
  }
}

function inOldWords(entry: Entry): Entry {
  return Object.fromEntries(
    Object.entries(entry).map(([key, value]) => [key === 'template' ? 'recipe' : key, value]),
  )
}

/**
 * Brings a catalog file to say another catalog by editing its text where it changed: comments,
 * order, quotes, line breaks and the formatting of all else stay to the byte.
 */
import { ownField } from '../../schemas/fields-of.ts'
import type { Catalog } from '../../schemas/types.ts'
import { equal } from '../model/documents.ts'
import { inFlow, type Place, TextEdit } from './edit.ts'
import {
  type Entry,
  entryLines,
  identityOf,
  inTodaysWords,
  isEntry,
  isKeptKey,
  layoutOf,
  NAME_KEY,
  orderedEntry,
  renderCatalog,
  SECTIONS,
  type Section,
  Splices,
  sectionLines,
} from './render.ts'
import { isCompact, type Reading, readTree } from './shape.ts'
import { keyOf, type MapItem, type MapNode } from './tree.ts'

/**
 * @param text a catalog file; one that is no YAML is written anew, other faults are edited away
 * @param catalog what the file is to say; entries are matched by name and keep the file's order
 * @param same whether two entries mean the same; then the words of the file stay, field by field.
 *   With it, a section that is absent means the same as one that is empty.
 * @param reading of the text, where it was read before: of a large file that takes as long as the rest
 * @returns a text that reads back as `catalog`, in the order of the file
 */
export function updateCatalog(
  text: string,
  catalog: Catalog,
  same?: Same,
  reading: Reading = readTree(text, true),
): string {
  if (!reading.said) return renderCatalog(catalog)
  const target = targetOf(reading.said, catalog, same)
  if (reading.catalog && equal(reading.catalog, target)) return text
  // A text that nobody wrote has no form to keep.
  if (isCompact(text)) return JSON.stringify({ ...besideIn(text), ...target })
  for (const isCoarse of [false, true]) {
    const updated = edited(text, reading, target, isCoarse)
    if (equal(readTree(updated, true).said, target)) return updated
  }
  // What the file says matters more than its form, should YAML know a form that is not met above.
  return rewritten(text, target, reading)
}

/** The text of a file anew: its name is all that is kept of it. */
export const rewritten = (text: string, catalog: Catalog, { name } = readTree(text)): string =>
  `${name === null ? '' : `${NAME_KEY}: ${name}\n\n`}${renderCatalog(catalog)}`

/** Whether a text says one of these words beside its sections, such as under a key that anchors name. */
export function saysBeside(text: string, words: readonly string[]): boolean {
  const value = readTree(text, true).values?.value
  if (!isEntry(value)) return false
  const beside = JSON.stringify(Object.entries(value).filter(([key]) => isKeptKey(key)))
  return words.some((word) => beside.includes(JSON.stringify(word).slice(1, -1)))
}

/** What a compact text has beside its sections. */
function besideIn(text: string): Record<string, unknown> {
  const all = Object.entries(JSON.parse(text) as Record<string, unknown>)
  return Object.fromEntries(all.filter(([key]) => isKeptKey(key)))
}

/**
 * Brings a text that is one map of fields, such as a file of one part, to say other fields: what stays stays to the byte.
 * @param fields in the order that new ones are written in
 * @returns null where its form cannot be kept
 */
export function updateFields(text: string, fields: Record<string, unknown>): string | null {
  const { root, values } = readTree(text, true)
  if (root?.kind !== 'map' || !values || values.flaws.length) return null
  for (const isCoarse of [false, true]) {
    const splices = new Splices(text)
    const edit: TextEdit = new TextEdit(splices, root, values, layoutOf(root, splices), isCoarse)
    if (!edit.maps.edit(root, fields)) return null
    const updated = splices.apply()
    if (equal(readTree(updated, true).values?.value, fields)) return updated
  }
  return null
}

function edited(text: string, { root, values }: Reading, target: Catalog, isCoarse: boolean): string {
  const splices = new Splices(text)
  if (root?.kind !== 'map' || !values) {
    const isEnded = text === '' || text.endsWith('\n')
    return `${text}${isEnded ? '' : splices.eol}${renderCatalog(target).replaceAll('\n', splices.eol)}`
  }
  const edit = new TextEdit(splices, root, values, layoutOf(root, splices), isCoarse)
  new RootEdit(edit, root, target).run()
  return splices.apply()
}

/* The sections of a file edited to say a catalog. */

/** Edits the root of a file; entries of `target` are in the order of the file, new ones last. */
class RootEdit {
  constructor(
    private readonly edit: TextEdit,
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
    const isBeside = isKeptKey(keyOf(item))
    return (
      isBeside || this.valueOf(item) === null || (section !== undefined && this.target[section] !== undefined)
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

/* What a file is to say: the wanted catalog, in the file's order and, where they mean it, its words. */

/** Whether two entries of a section mean the same, however they are written. */
type Same = (section: string, name: string, before: unknown, after: unknown) => boolean

/** @param before what the file says. @returns entries of the file in its order, then the new ones */
function targetOf(before: Catalog, after: Catalog, same?: Same): Catalog {
  const sections = SECTIONS.map((section): [Section, unknown] => {
    const [was, is] = [entriesOf(before, section), entriesOf(after, section)]
    const isNothing = !was?.length && !is?.length
    if (isNothing && same) return [section, was]
    return [section, is && sectionOf(section, was ?? [], is, same)]
  })
  return Object.fromEntries(sections.filter(([, entries]) => entries !== undefined)) as Catalog
}

function entriesOf(catalog: Catalog, section: Section): Entry[] | undefined {
  return catalog[section] as Entry[] | undefined
}

function sectionOf(section: Section, was: Entry[], is: Entry[], same: Same | undefined): Entry[] {
  const wanted = new Map(is.map((entry) => [identityOf(section, entry), entry]))
  const known = new Set(was.map((entry) => identityOf(section, entry)))
  const kept = was.flatMap((entry) => {
    const identity = identityOf(section, entry)
    const after = wanted.get(identity)
    if (!after) return []
    const name = typeof after.name === 'string' ? after.name : String(identity)
    const means = (candidate: unknown) => same?.(section, name, candidate, after) ?? false
    return [settle(entry, after, means) as Entry]
  })
  return [...kept, ...is.filter((entry) => !known.has(identityOf(section, entry)))]
}

/* What an entry of a file is to say, in the words the file already says it with where it can. */

/** Fields of one map that differ and are still compared one by one. */
const FIELDS_MAX = 100

/** Whether a value means the same as the one that is wanted. */
type Means = (candidate: unknown) => boolean

/**
 * A value that means what `after` means and keeps as much of `before` as it can: a field that is
 * absent where its default is given, a word where a map says the same.
 */
function settle(before: unknown, after: unknown, means: Means): unknown {
  if (equal(before, after) || means(before)) return before
  if (isEntry(before) && isEntry(after)) {
    const all = new Set([...Object.keys(before), ...Object.keys(after)])
    const keys = [...all].filter((key) => !equal(ownField(before, key), ownField(after, key)))
    if (keys.length > FIELDS_MAX) return after
    return keys.reduce((current: Record<string, unknown>, key) => {
      const inner = settle(ownField(before, key), ownField(after, key), (value) =>
        means(withField(current, key, value)),
      )
      return withField(current, key, inner)
    }, after)
  }
  if (Array.isArray(before) && Array.isArray(after) && before.length === after.length)
    return before.slice(0, FIELDS_MAX).reduce((current: unknown[], item, i) => {
      if (equal(item, after[i])) return current
      const inner = settle(item, after[i], (value) => means(current.with(i, value)))
      return current.with(i, inner)
    }, after)
  return after
}

/** A copy with the field set; without it, when the value is undefined. */
function withField(map: Record<string, unknown>, key: string, value: unknown): Record<string, unknown> {
  if (value !== undefined) return { ...map, [key]: value }
  const { [key]: _gone, ...rest } = map
  return rest
}

export { renderCatalog } from './render.ts'
/** The catalog file as a document: text in, text out, no database. */
export {
  bounded,
  isCompact,
  type Reading,
  readCatalog,
  readTree,
  restOf,
  type Sound,
  STAND_IN_NAME,
  soundOf,
  withoutDependents,
} from './shape.ts'

/**
 * Values as YAML text in one canonical style: a given catalog always gives the same bytes. Maps are
 * blocks; lists of words, and the entries of lists within an entry, are one line each where they fit.
 */
import type { Catalog } from '../../../schemas/types.ts'
import { orderedEntry } from './order.ts'
import { literalLines, scalarText } from './scalar-text.ts'
import { type Entry, isEntry, SECTIONS } from './sections.ts'

/** How text is laid out: canonical is two spaces, lists indented under their key. */
export interface Layout {
  /** Columns of one level. */
  step: number
  /** Columns a block list stands to the right of its key: 0 or `step`. */
  dashIndent: number
}

export const CANONICAL: Layout = { step: 2, dashIndent: 2 }

/** A list of words longer than this is written one to a line. */
const LINE_MAX = 100

/**
 * The canonical text of a catalog, ending with a line break. Nothing is left out but `undefined`.
 * @param catalog entries in the order they are to be written
 */
export function renderCatalog(catalog: Catalog): string {
  const sections = SECTIONS.filter((section) => catalog[section] !== undefined)
  if (sections.length === 0) return '{}\n'
  const texts = sections.map((section) => {
    const entries = (catalog[section] as Entry[]).map((entry) => orderedEntry(section, entry))
    return `${sectionLines(section, entries, CANONICAL).join('\n')}\n`
  })
  return texts.join('\n')
}

/** The lines of a section. */
export function sectionLines(section: string, entries: readonly Entry[], layout: Layout): string[] {
  if (entries.length === 0) return [`${section}: []`]
  return [`${section}:`, ...entries.flatMap((entry) => entryLines(section, entry, layout.dashIndent, layout))]
}

/** The lines of an entry with its dash at `column`. A wire is one line. */
export function entryLines(section: string, entry: Entry, column: number, layout: Layout): string[] {
  const isRow = section === 'wiring' && !hasBreaks(entry)
  return isRow ? [`${pad(column)}- ${flowText(entry)}`] : itemLines(entry, column, layout)
}

/** The lines of one item of a block list, its dash at `column`. */
export function itemLines(value: unknown, column: number, layout: Layout): string[] {
  const dash = `${pad(column)}- `
  if (isEntry(value) && Object.keys(value).length > 0) {
    const [first, ...rest] = mapLines(value, column + 2, layout)
    return [`${dash}${first!.slice(column + 2)}`, ...rest]
  }
  if (Array.isArray(value) && value.length > 0 && !isWords(value, column)) {
    const [first, ...rest] = value.flatMap((item) => itemLines(item, column + 2, layout))
    return [`${dash}${first!.slice(column + 2)}`, ...rest]
  }
  const [first, ...rest] = leafLines(value, column, layout)
  return [`${dash}${first}`, ...rest]
}

/** The lines of a block map with its keys at `column`. */
export function mapLines(map: Entry, column: number, layout: Layout): string[] {
  return Object.entries(map)
    .filter(([, value]) => value !== undefined)
    .flatMap(([key, value]) => pairLines(key, value, column, layout))
}

/** The lines of one field of a block map. */
export function pairLines(key: string, value: unknown, column: number, layout: Layout): string[] {
  const head = `${pad(column)}${scalarText(key, { inFlow: false })}:`
  if (isEntry(value) && Object.keys(value).length > 0)
    return [head, ...mapLines(value, column + layout.step, layout)]
  if (Array.isArray(value) && value.length > 0 && !isWords(value, column + key.length)) {
    const at = column + layout.dashIndent
    return [head, ...value.flatMap((item) => rowLines(item, at, layout))]
  }
  const [first, ...rest] = leafLines(value, column, layout)
  return [`${head} ${first}`, ...rest]
}

/** An entry of a list within an entry: a label, a filter, a part of a project. */
export function rowLines(item: unknown, column: number, layout: Layout): string[] {
  const isRow = typeof item === 'object' && item !== null && !hasBreaks(item)
  return isRow ? [`${pad(column)}- ${flowText(item)}`] : itemLines(item, column, layout)
}

/** What begins on the line of its key or dash; the lines of a literal block follow. */
function leafLines(value: unknown, column: number, layout: Layout): string[] {
  if (typeof value === 'object' && value !== null) return [flowText(value)]
  const literal = typeof value === 'string' ? literalLines(value, layout.step) : null
  if (!literal) return [scalarText(value, { inFlow: false })]
  return [literal.header, ...literal.lines.map((line) => (line ? pad(column + layout.step) + line : ''))]
}

/** A scalar within a flow collection. */
const inFlow = (value: unknown): string => scalarText(value, { inFlow: true })

/** Any value on one line. */
export function flowText(value: unknown, scalar: (value: unknown) => string = inFlow): string {
  if (Array.isArray(value)) return `[${value.map((item) => flowText(item, scalar)).join(', ')}]`
  if (!isEntry(value)) return scalar(value)
  const fields = Object.entries(value).filter(([, field]) => field !== undefined)
  return `{${fields.map(([key, field]) => `${scalar(key)}: ${flowText(field, scalar)}`).join(', ')}}`
}

/** A list of scalars that fits into a line. */
function isWords(list: readonly unknown[], column: number): boolean {
  const isFlat = list.every((item) => typeof item !== 'object' || item === null)
  return isFlat && !hasBreaks(list) && column + flowText(list).length <= LINE_MAX
}

function hasBreaks(value: unknown): boolean {
  if (typeof value === 'string') return value.includes('\n')
  return typeof value === 'object' && value !== null && Object.values(value).some(hasBreaks)
}

const pad = (column: number): string => ' '.repeat(column)

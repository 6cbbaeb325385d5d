/**
 * Values as YAML text in one canonical style: a given catalog always gives the same bytes. Maps are
 * blocks; lists of words, and the entries of lists within an entry, are one line each where they fit.
 *
 * Splices are changes of a text by ranges of it, applied together; what no range covers stays to the byte.
 */
import { schemaOf } from '../../schemas/index.ts'
import type { Catalog } from '../../schemas/types.ts'
import { childrenOf, type MapNode, type TreeNode } from './tree.ts'
import { literalLines, scalarText } from './values.ts'

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
function mapLines(map: Entry, column: number, layout: Layout): string[] {
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

/** Any value on one line, as `svc catalog fmt` lays it out: { a: 1 }, [a, b]. */
export function flowText(value: unknown, scalar: (value: unknown) => string = inFlow): string {
  if (Array.isArray(value)) return `[${value.map((item) => flowText(item, scalar)).join(', ')}]`
  if (!isEntry(value)) return scalar(value)
  const fields = Object.entries(value).filter(([, field]) => field !== undefined)
  const texts = fields.map(([key, field]) => `${scalar(key)}: ${flowText(field, scalar)}`)
  return texts.length ? `{ ${texts.join(', ')} }` : '{}'
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

/*
 * The order in which fields are written: the name first, then as the schemas list them. Fields no
 * schema lists (a connector's config, a template's parameters) keep the order they are given in.
 */

interface Schema {
  $ref?: string
  properties?: Record<string, Schema>
  items?: Schema
  anyOf?: Schema[]
}

/** Fields before all others, in this order; the rest follows its schema. */
const FIRST = ['kind', 'name', 'template', 'recipe', 'project', 'trigger']

const SECTION_SCHEMAS: Record<Section, Schema> = {
  sources: { $ref: 'catalog-source.json' },
  triggers: { $ref: 'catalog-trigger.json' },
  agents: { $ref: 'catalog-agent.json' },
  mcp_servers: { $ref: 'catalog-mcp-server.json' },
  projects: { $ref: 'catalog-project.json' },
  skills: { $ref: 'catalog-skill.json' },
  entities: { $ref: 'catalog-entity.json' },
  wiring: { anyOf: [{ $ref: 'catalog-wake.json' }, { $ref: 'catalog-handoff.json' }] },
}

/** A source's config is free in the schema of the file, but its labels are not. */
const CONFIG: Schema = { properties: { labels: { items: { $ref: 'label.json' } } } }

/** An entry with its fields, and those within, in the order they are written; undefined ones left out. */
export function orderedEntry(section: Section, entry: Entry): Entry {
  return ordered(entry, SECTION_SCHEMAS[section]) as Entry
}

function ordered(value: unknown, schema: Schema | undefined): unknown {
  if (Array.isArray(value)) return value.map((item) => ordered(item, listed(schema).items))
  if (!isEntry(value)) return value
  const { properties } = listed(schema, value)
  const given = Object.keys(value).filter((key) => value[key] !== undefined)
  const known = Object.keys(properties ?? {})
  const keys =
    properties && schema !== CONFIG ? [...given].sort((a, b) => rankOf(a, known) - rankOf(b, known)) : given
  return Object.fromEntries(keys.map((key) => [key, ordered(value[key], within(key, properties))]))
}

function within(key: string, properties: Record<string, Schema> | undefined): Schema | undefined {
  if (key === 'config' && properties?.connector) return CONFIG
  return properties?.[key]
}

/** Fields that no schema lists come last. */
function rankOf(key: string, known: readonly string[]): number {
  if (FIRST.includes(key)) return FIRST.indexOf(key)
  return FIRST.length + (known.includes(key) ? known.indexOf(key) : known.length)
}

/** What a schema lists, its references followed; of variants, what the one that fits does, else all. */
function listed(
  schema: Schema | undefined,
  value: Entry = {},
): { properties?: Record<string, Schema>; items?: Schema } {
  if (!schema) return {}
  if (schema.$ref) return listed(schemaOf(schema.$ref) as Schema, value)
  if (!schema.anyOf) return schema
  const variants = schema.anyOf.map((variant) => listed(variant, value))
  const fitting = variants.find(
    ({ properties }) => properties && Object.keys(value).every((key) => Object.hasOwn(properties, key)),
  )
  if (fitting && Object.keys(value).length) return fitting
  const all = variants.flatMap(({ properties }) => Object.entries(properties ?? {}))
  const items = variants.find((variant) => variant.items)?.items
  return { ...(all.length ? { properties: Object.fromEntries(all) } : {}), ...(items ? { items } : {}) }
}

/* The sections of a catalog file (SPEC.md, Catalog YAML): their order, and what names an entry. */

export const SECTIONS = [
  'sources',
  'triggers',
  'agents',
  'mcp_servers',
  'projects',
  'skills',
  'entities',
  'wiring',
] as const satisfies readonly (keyof Catalog)[]

/** The key beside the sections that names the file. */
export const NAME_KEY = 'catalog'

/** Keys beside the sections that no instance declares. */
const KEPT_KEYS: readonly unknown[] = [NAME_KEY, 'include', 'environment', 'values', 'moved', 'tests', 'lint']

/** A key for what anchors name and nobody else reads, as in files of docker compose. */
export const isExtra = (key: unknown): boolean => typeof key === 'string' && key.startsWith('x-')

/** Whether an edit of the file leaves what is at the key as it is. */
export const isKeptKey = (key: unknown): boolean => KEPT_KEYS.includes(key) || isExtra(key)

export type Section = (typeof SECTIONS)[number]

export type Entry = Record<string, unknown>

export const isEntry = (value: unknown): value is Entry =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/**
 * What an entry is told apart by: its name, a wire's ends, and the template of the Default project,
 * which has no name. Null when the entry lacks it.
 */
export function identityOf(section: Section, entry: unknown): string | null {
  if (!isEntry(entry)) return null
  if (section !== 'wiring') {
    const template = entry.template ?? entry.recipe
    if (typeof entry.name === 'string') return entry.name
    return section === 'projects' && typeof template === 'string' ? `template ${template}` : null
  }
  const { project, wake, agent, verdict, to } = entry
  const ends =
    wake === undefined ? [project, agent, String(verdict).toLowerCase(), to] : [project, wake, agent]
  return ends.every((end) => typeof end === 'string') ? JSON.stringify(ends) : null
}

/** An entry in the words of a person. */
export function titleOf(section: Section, entry: Entry): string {
  if (section === 'wiring') return 'this wire'
  return typeof entry.name === 'string'
    ? entry.name
    : `the project of the template ${entry.template ?? entry.recipe}`
}

/** An entry of `usecases` in today's words. */
export function inTodaysWords(entry: unknown): unknown {
  if (!isEntry(entry) || entry.recipe === undefined || entry.template !== undefined) return entry
  return Object.fromEntries(
    Object.entries(entry).map(([key, value]) => [key === 'recipe' ? 'template' : key, value]),
  )
}

interface Splice {
  start: number
  end: number
  text: string
}

/** Lines that are removed: `from` the start of the first, `end` within the last, `previous` where what stays before ends. */
interface Lines {
  from: number
  end: number
  previous: number | null
}

const BLANK = /^[ \t]*\r?$/

export class Splices {
  private readonly list: Splice[] = []

  /** The removal of lines before. */
  private last: (Lines & { splice: Splice }) | null = null

  /** The line break of what is inserted: that of the first line. */
  readonly eol: string

  /** Where the comments at the head of the file end: they speak of the file, not of what follows. */
  private readonly head: number

  constructor(readonly text: string) {
    this.head = /^\ufeff?([ \t]*(#.*|---.*)?\r?\n)*/.exec(text)![0].length
    this.eol = /\r?\n/.exec(text)?.[0] ?? '\n'
  }

  replace(start: number, end: number, text: string): void {
    if (start < end || text !== '') this.list.push({ start, end, text })
  }

  insert(at: number, text: string): void {
    this.replace(at, at, text)
  }

  /** The lines of a text, in the line breaks of this one. */
  joined(lines: readonly string[]): string {
    return lines.join(this.eol)
  }

  /** @throws Error when two changes want the same characters: a fault of ours. */
  apply(): string {
    const sorted = this.list
      .map((splice, order) => ({ ...splice, order }))
      .sort((a, b) => a.start - b.start || a.end - b.end || a.order - b.order)
    let out = ''
    let at = 0
    let wasRemoval = false
    for (const { start, end, text } of sorted) {
      // What is put in within removed lines takes their place; two removals may share blank lines.
      if (start < at && !(wasRemoval && (text === '' || start === end))) throw new Error('two edits overlap')
      out += this.text.slice(at, Math.max(at, start)) + text
      wasRemoval = text === '' || (wasRemoval && start === end && start < at)
      at = Math.max(at, end)
    }
    return out + this.text.slice(at)
  }

  /** Where the line of an offset begins. */
  lineStart(at: number): number {
    return at === 0 ? 0 : this.text.lastIndexOf('\n', at - 1) + 1
  }

  /** Where the line of an offset ends, before its line break. */
  lineEnd(at: number): number {
    const next = this.text.indexOf('\n', at)
    if (next < 0) return this.text.length
    return next > at && this.text[next - 1] === '\r' ? next - 1 : next
  }

  /** Where the line after begins. */
  afterLine(at: number): number {
    const next = this.text.indexOf('\n', at)
    return next < 0 ? this.text.length : next + 1
  }

  column(at: number): number {
    return at - this.lineStart(at)
  }

  /** Nothing but blanks before it on its line. */
  isFirstOnLine(at: number): boolean {
    return /^[ \t\ufeff]*$/.test(this.text.slice(this.lineStart(at), at))
  }

  /**
   * Removes whole lines: from the comment directly above `start`, to the line of `end`. Of blank
   * lines before and after it only those before stay; at the end of the text, none.
   * @param previous where what comes before it ends; null for the first, which leaves no blank lines behind
   */
  removeLines(start: number, end: number, previous: number | null): void {
    const from = this.withCommentsAbove(start, previous)
    const { last } = this
    // With only blank lines between, it is one removal: which of these stay is a matter of what is around both.
    const isRun =
      last && this.lineEnd(last.end) < from && /^\s*$/.test(this.text.slice(this.lineEnd(last.end), from))
    if (isRun) this.list.splice(this.list.indexOf(last.splice), 1)
    const run = isRun ? { ...last, end } : { from, end, previous }
    const splice = this.linesOf(run)
    this.list.push(splice)
    this.last = { ...run, splice }
  }

  /** The lines that go, with the blank ones that go along. */
  private linesOf({ from: start, end, previous }: Lines): Splice {
    const bound = previous ?? -1
    let from = start
    let to = this.lineEnd(end)
    const isLast = () => this.afterLine(to) === this.text.length
    if (previous === null || this.isLine(from, bound, BLANK))
      while (!isLast() && this.isBlankLine(this.afterLine(to))) to = this.lineEnd(this.afterLine(to))
    if (isLast()) while (this.isLine(from, bound, BLANK)) from = this.lineStart(from - 1)
    // The line break before goes, so that what is put in at the end of the lines finds the one after.
    if (from === 0) return { start: 0, end: this.afterLine(to), text: '' }
    return { start: this.lineEnd(this.lineStart(from - 1)), end: to, text: '' }
  }

  /** Where the line of an offset begins, or that of the comment directly above it. */
  private withCommentsAbove(start: number, previous: number | null): number {
    let from = this.lineStart(start)
    while (this.isLine(from, previous ?? -1, /^[ \t]*#/)) from = this.lineStart(from - 1)
    return from
  }

  /** The end of the comment lines below `at` that are indented more than `column`: what is there is part of it. */
  withComments(at: number, column: number): number {
    let end = this.lineEnd(at)
    for (;;) {
      const next = this.afterLine(end)
      const indent = /^( *)#/.exec(this.text.slice(next, this.lineEnd(next)))
      if (next === end || !indent || indent[1]!.length <= column) return end
      end = this.lineEnd(next)
    }
  }

  /** Whether the line above the one at `from` has a form, and begins after `bound`. */
  private isLine(from: number, bound: number, form: RegExp): boolean {
    if (from === 0) return false
    const above = this.lineStart(from - 1)
    return above > bound && above >= this.head && form.test(this.text.slice(above, from - 1))
  }

  private isBlankLine(at: number): boolean {
    return BLANK.test(this.text.slice(at, this.lineEnd(at)))
  }
}

/* How a file is indented, read off its first nested map and its first list under a key. */

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

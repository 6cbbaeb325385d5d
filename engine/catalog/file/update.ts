/**
 * Brings a catalog file to say something else by editing its text where it changed, and nowhere
 * else: comments, order, quoting, line ends and any formatting of the rest stay as they were written.
 */
import {
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  type Node,
  type Pair,
  parseDocument,
  Scalar,
  type YAMLMap,
} from 'yaml'
import type { Catalog } from '../../../schemas/types.ts'
import { equal } from '../../changes/fields.ts'
import { ordered, renderBlock, renderCatalog, renderInline, SECTION_ORDER, type Section } from './render.ts'

/** Whether two entries say the same, however they are written. */
export type Same = (section: string, name: string, before: unknown, after: unknown) => boolean

type Fields = Record<string, unknown>

/** Replaces text[start, end) by `text`. */
interface Splice {
  start: number
  end: number
  text: string
}

/**
 * @param text a valid catalog file. @param catalog what it is to say.
 * @param same decides that an entry stays untouched; equality when absent.
 */
export function updateCatalog(
  text: string,
  catalog: Catalog,
  same: Same = (_s, _n, a, b) => equal(a, b),
): string {
  const unix = text.replaceAll('\r\n', '\n')
  const updated = new CatalogText(unix, same).update(catalog)
  return text.includes('\r\n') ? updated.replaceAll('\n', '\r\n') : updated
}

class CatalogText {
  private readonly doc: Document.Parsed
  private readonly root: YAMLMap | null
  private readonly splices: Splice[] = []

  constructor(
    private readonly text: string,
    private readonly same: Same,
  ) {
    this.doc = parseDocument(text, { schema: 'core', merge: false })
    this.root = isMap(this.doc.contents) ? this.doc.contents : null
  }

  update(catalog: Catalog): string {
    if (!this.root || this.root.flow) return this.rewrite(catalog)
    let after: Pair<Node, Node> | null = null
    const appended: string[] = []
    for (const section of SECTION_ORDER) {
      const pair =
        this.pairOf(this.root, section) ??
        (section === 'projects' ? this.pairOf(this.root, 'usecases') : undefined)
      const wanted = (catalog[section] ?? []) as Fields[]
      if (pair) {
        this.updateSection(section, pair, wanted)
        after = pair
      } else if (wanted.length) {
        const block = renderBlock({ [section]: wanted.map((entry) => ordered(section, entry)) }, 0)
        if (after) this.insertAfterPair(after, block)
        else appended.push(block)
      }
    }
    const result = this.apply()
    return appended.length ? `${endWithBreak(result)}${appended.join('')}` : result
  }

  /** A file that is empty, or one map on a line: written anew unless it says the same already. */
  private rewrite(catalog: Catalog): string {
    const root = this.root
    const before = (root ? this.plain(root) : {}) as Catalog
    const isSame = SECTION_ORDER.every((section) =>
      this.sameEntries(section, (before[section] ?? []) as Fields[], (catalog[section] ?? []) as Fields[]),
    )
    if (isSame) return this.text
    const rendered = renderCatalog(withoutEmpty(catalog))
    return root ? rendered : `${endWithBreak(this.text)}${rendered}`
  }

  private apply(): string {
    let out = this.text
    const sorted = this.splices
      .map((splice, order) => ({ ...splice, order }))
      .sort((a, b) => b.start - a.start || b.order - a.order)
    for (const { start, end, text } of sorted) out = out.slice(0, start) + text + out.slice(end)
    return out
  }

  private pairOf(map: YAMLMap, key: string): Pair<Node, Node> | undefined {
    return map.items.find((pair) => isScalar(pair.key) && pair.key.value === key) as
      | Pair<Node, Node>
      | undefined
  }

  private updateSection(section: Section, pair: Pair<Node, Node>, wanted: readonly Fields[]): void {
    const seq = pair.value
    if (!isSeq(seq) || seq.flow || seq.items.length === 0) {
      const before = isSeq(seq) ? (this.plain(seq) as Fields[]) : []
      if (this.sameEntries(section, before, wanted)) return
      this.replaceValue(
        pair,
        wanted.map((entry) => ordered(section, entry)),
        0,
      )
      return
    }
    const items = seq.items as Node[]
    const present = items.map((node) => this.plain(node) as Fields)
    const byIdentity = new Map(present.map((entry, i) => [identityOf(section, entry), i]))
    const kept = new Set<number>()
    const added: Fields[] = []
    for (const entry of wanted) {
      const i = byIdentity.get(identityOf(section, entry))
      if (i === undefined) added.push(entry)
      else {
        kept.add(i)
        this.updateEntry(section, items[i]!, present[i]!, ordered(section, entry))
      }
    }
    if (kept.size === 0 && added.length === 0) {
      this.replaceValue(pair, [], 0)
      return
    }
    if (kept.size === 0) {
      this.replaceValue(
        pair,
        added.map((entry) => ordered(section, entry)),
        0,
      )
      return
    }
    items.forEach((node, i) => {
      if (!kept.has(i)) this.removeItem(node)
    })
    if (added.length)
      this.appendItems(
        items,
        added.map((entry) => ordered(section, entry)),
      )
  }

  private sameEntries(section: Section, before: readonly Fields[], after: readonly Fields[]): boolean {
    return (
      before.length === after.length &&
      after.every((entry) => {
        const was = before.find((other) => identityOf(section, other) === identityOf(section, entry))
        return was !== undefined && this.same(section, String(entry.name ?? ''), was, entry)
      })
    )
  }

  private updateEntry(section: Section, node: Node, before: Fields, after: Fields): void {
    const name = String(after.name ?? '')
    if (this.same(section, name, before, after)) return
    // What is written otherwise but means the same stays as it is written.
    const meant: Fields = { ...after }
    for (const key of new Set([...Object.keys(before), ...Object.keys(after)])) {
      if (equal(before[key], after[key])) continue
      const { [key]: _gone, ...rest } = meant
      const candidate = before[key] === undefined ? rest : { ...meant, [key]: before[key] }
      if (this.same(section, name, candidate, after)) {
        if (before[key] === undefined) delete meant[key]
        else meant[key] = before[key]
      }
    }
    if (isMap(node) && !node.flow) this.updateMap(node, before, meant)
    else this.replaceNode(node, meant)
  }

  private updateMap(map: YAMLMap, before: Fields, after: Fields): void {
    const keys = Object.keys(after)
    for (const key of Object.keys(before)) {
      const pair = this.pairOf(map, key)
      if (pair && after[key] === undefined) this.removePair(map, pair)
    }
    let previous: Pair<Node, Node> | null = null
    for (const key of keys) {
      const pair = this.pairOf(map, key)
      if (!pair) {
        const block = renderBlock({ [key]: after[key] }, this.columnOf(map))
        this.insertAfterPair(previous ?? (map.items.at(-1) as Pair<Node, Node>), block)
        continue
      }
      previous = pair
      if (equal(before[key], after[key])) continue
      this.updatePair(pair, before[key], after[key], this.columnOf(map))
    }
  }

  private updatePair(pair: Pair<Node, Node>, before: unknown, after: unknown, column: number): void {
    const node = pair.value
    if (
      isMap(node) &&
      !node.flow &&
      !node.anchor &&
      isFields(before) &&
      isFields(after) &&
      Object.keys(after).length
    ) {
      this.updateMap(node, before, after)
      return
    }
    const isPlainScalar =
      isScalar(node) &&
      !node.anchor &&
      node.type !== Scalar.BLOCK_LITERAL &&
      node.type !== Scalar.BLOCK_FOLDED
    const staysInline = isScalarValue(after) && !(typeof after === 'string' && after.includes('\n'))
    if ((isPlainScalar || isAlias(node)) && staysInline && node.range && node.range[1] > node.range[0]) {
      this.splices.push({ start: node.range[0], end: node.range[1], text: quotedLike(node, after) })
      return
    }
    if (node && (isMap(node) || isSeq(node)) && node.flow && !node.anchor) {
      this.replaceNode(node, after)
      return
    }
    this.replaceValue(pair, after, column)
  }

  /** Replaces a node that stands within a line. */
  private replaceNode(node: Node, value: unknown): void {
    this.splices.push({ start: node.range![0], end: node.range![1], text: renderInline(value) })
  }

  /** Writes a pair anew, in the canonical style, at its place; its comment above stays. */
  private replaceValue(pair: Pair<Node, Node>, value: unknown, column: number): void {
    const key = String((pair.key as Scalar).value)
    const start = (pair.key as Scalar).range![0]
    const block = renderBlock({ [key]: value }, column).slice(column)
    this.splices.push({ start, end: this.endOfPair(pair), text: block })
  }

  private insertAfterPair(pair: Pair<Node, Node>, block: string): void {
    const at = this.endOfPair(pair)
    this.splices.push({ start: at, end: at, text: this.broken(at) + block })
  }

  private removePair(map: YAMLMap, pair: Pair<Node, Node>): void {
    const keyStart = (pair.key as Scalar).range![0]
    if (
      map.items[0] === pair &&
      this.lineStart(keyStart) !== keyStart &&
      /\S/.test(this.text.slice(this.lineStart(keyStart), keyStart))
    ) {
      // It shares its line with the dash of the entry: the next field takes its place there.
      const next = map.items[1]
      const end = next ? (next.key as Scalar).range![0] : this.endOfPair(pair)
      this.splices.push({ start: keyStart, end, text: '' })
      return
    }
    this.splices.push({
      start: this.commentStart(this.lineStart(keyStart)),
      end: this.endOfPair(pair),
      text: '',
    })
  }

  private removeItem(node: Node): void {
    const dash = this.text.lastIndexOf('-', node.range![0] - 1)
    this.splices.push({ start: this.commentStart(this.lineStart(dash)), end: this.endOfNode(node), text: '' })
  }

  private appendItems(items: readonly Node[], entries: readonly Fields[]): void {
    const last = items.at(-1)!
    const dash = this.text.lastIndexOf('-', items[0]!.range![0] - 1)
    const column = dash - this.lineStart(dash)
    const at = this.endOfNode(last)
    this.splices.push({ start: at, end: at, text: this.broken(at) + renderBlock(entries, column) })
  }

  /** Where the line after a pair begins. */
  private endOfPair(pair: Pair<Node, Node>): number {
    const { value } = pair
    return value?.range && value.range[1] > 0
      ? this.endOfNode(value)
      : this.afterLine((pair.key as Scalar).range![1])
  }

  /** Where the line after a node begins; comments below it belong to what follows. */
  private endOfNode(node: Node): number {
    if (isMap(node) && !node.flow && node.items.length)
      return this.endOfPair(node.items.at(-1) as Pair<Node, Node>)
    if (isSeq(node) && !node.flow && node.items.length) return this.endOfNode(node.items.at(-1) as Node)
    const end = node.range![1]
    // A block scalar ends with its own line break.
    if (
      isScalar(node) &&
      (node.type === Scalar.BLOCK_LITERAL || node.type === Scalar.BLOCK_FOLDED) &&
      this.text[end - 1] === '\n'
    )
      return end
    return this.afterLine(end)
  }

  private afterLine(at: number): number {
    const end = this.text.indexOf('\n', at)
    return end < 0 ? this.text.length : end + 1
  }

  private lineStart(at: number): number {
    return this.text.lastIndexOf('\n', at - 1) + 1
  }

  /** The start of the comment lines directly above a line. */
  private commentStart(lineStart: number): number {
    let at = lineStart
    while (at > 0) {
      const above = this.lineStart(at - 1)
      if (!/^[ \t]*#/.test(this.text.slice(above, at))) return at
      at = above
    }
    return at
  }

  private columnOf(node: Node): number {
    const start =
      isMap(node) && node.items.length
        ? ((node.items[0]!.key as Scalar).range?.[0] ?? node.range![0])
        : node.range![0]
    return start - this.lineStart(start)
  }

  /** A line break where the text before has none. */
  private broken(at: number): string {
    return at > 0 && this.text[at - 1] !== '\n' ? '\n' : ''
  }

  private plain(node: Node): unknown {
    return node.toJS(this.doc, { maxAliasCount: 100 })
  }
}

/** By what an entry is known: its name, a wire by its ends, Default by its template. */
function identityOf(section: Section, entry: Fields): string {
  if (section !== 'wiring') return String(entry.name ?? `@${entry.template ?? entry.recipe}`)
  return entry.wake === undefined
    ? `${entry.project}|${entry.agent}/${String(entry.verdict).toLowerCase()}/${entry.to}`
    : `${entry.project}|${entry.wake}>${entry.agent}`
}

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const isScalarValue = (value: unknown): boolean => value === null || typeof value !== 'object'
const endWithBreak = (text: string): string => (text === '' || text.endsWith('\n') ? text : `${text}\n`)

/** A scalar in the quotes of the one it replaces, where they can hold it. */
function quotedLike(node: Node, value: unknown): string {
  if (isScalar(node) && typeof value === 'string' && /^[^\\"'\p{Cc}]*$/u.test(value)) {
    if (node.type === Scalar.QUOTE_DOUBLE) return `"${value}"`
    if (node.type === Scalar.QUOTE_SINGLE) return `'${value}'`
  }
  return renderInline(value)
}

function withoutEmpty(catalog: Catalog): Catalog {
  return Object.fromEntries(
    Object.entries(catalog).filter(([, entries]) => (entries as unknown[]).length > 0),
  ) as Catalog
}

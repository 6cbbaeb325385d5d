/**
 * A tree edited to say another value: scalars change in place, fields and items are put in and taken
 * out, and only what cannot be kept is written anew.
 */
import { ownField } from '../../schemas/fields-of.ts'
import { equal } from '../model/documents.ts'
import {
  type Entry,
  flowText,
  isEntry,
  itemLines,
  type Layout,
  pairLines,
  rowLines,
  type Splices,
} from './render.ts'
import {
  type AliasNode,
  childrenOf,
  keyOf,
  type MapItem,
  type MapNode,
  type ScalarNode,
  type SeqItem,
  type SeqNode,
  type TreeNode,
} from './tree.ts'
import {
  doubleQuoted,
  isMerge,
  jsonQuoted,
  literalLines,
  mapsOf,
  mergeOf,
  scalarText,
  singleQuoted,
  type Values,
} from './values.ts'

export class TextEdit implements Editing {
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
  return keys?.every((key) => equal(before[key], ownField(after, key))) ?? false
}

function isSameKind(before: unknown, after: unknown): boolean {
  return isEntry(before) === isEntry(after) && Array.isArray(before) === Array.isArray(after)
}

/* The fields of a map: those that stay, those that go, and those that come. */

class MapEdit {
  constructor(private readonly owner: Editing) {}

  /**
   * @param wanted fields in canonical order, which new ones are put in by
   * @returns false when no field of the text stays
   */
  edit(node: MapNode, wanted: Entry): boolean {
    // A field that a merge key gives cannot be taken away beside it: the others are then written out.
    const merged = this.owner.anchors.merged(node)
    const merges = merged !== null && Object.keys(merged).every((key) => ownField(wanted, key) !== undefined)
    const isKept = (item: MapItem) => (isMerge(item) ? merges : ownField(wanted, keyOf(item)!) !== undefined)
    const firstKept = node.items.find(isKept)
    if (!firstKept) return node.items.length === 0 && Object.keys(wanted).length === 0
    node.items.forEach((item, i) => {
      if (!isKept(item)) this.remove(node, i, isKept)
      else if (!isMerge(item)) this.owner.value(item.value, wanted[keyOf(item)!], this.placeOf(node, item))
    })
    const own = merges ? this.besideMerged(node, wanted, merged) : wanted
    for (const [after, keys] of this.added(node, own, isKept)) {
      const fields = keys.map((key): [string, unknown] => [key, wanted[key]])
      this.insert(node, after ?? firstKept, after === null, fields)
    }
    return true
  }

  /** What a map is to say itself: what it says already, and what merge keys do not give, or give otherwise. */
  private besideMerged(node: MapNode, wanted: Entry, merged: Entry): Entry {
    const own = new Set(node.items.filter((item) => !isMerge(item)).map(keyOf))
    return Object.fromEntries(
      Object.entries(wanted).filter(([key, value]) => own.has(key) || !equal(ownField(merged, key), value)),
    )
  }

  private placeOf(node: MapNode, { slot, start }: MapItem): Place {
    if (node.style !== 'block') return { kind: 'flow', slot, column: 0 }
    return { kind: 'pair', slot, column: this.owner.splices.column(start) }
  }

  /** New keys by the item they follow: of those that stay and come first in canonical order, the last; merge keys lead. */
  added(node: MapNode, wanted: Entry, isKept: (item: MapItem) => boolean): Map<MapItem | null, string[]> {
    const fields = node.items.filter((item) => isKept(item) && !isMerge(item))
    const kept = new Map(fields.map((item) => [keyOf(item)!, item]))
    const added = new Map<MapItem | null, string[]>()
    const [first] = node.items
    let previous: MapItem | null = first && isMerge(first) && isKept(first) ? first : null
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

/* A scalar that becomes another one, in the quotes or the block it is written in where they hold it. */

/** @returns false when the value has to be written anew: it is no scalar, or needs another place */
function editScalar(splices: Splices, node: ScalarNode, wanted: unknown, { kind }: Place): boolean {
  if (typeof wanted === 'object' && wanted !== null) return false
  // A tag decides what the text means; an empty value has no text.
  if (node.tag !== null || node.start === node.end) return false
  if (node.style === 'literal' || node.style === 'folded') return editBlock(splices, node, wanted)
  const inFlow = kind === 'flow'
  const isText = typeof wanted === 'string'
  if (isText && !inFlow && node.style !== 'double' && literalLines(wanted, 2)) return false
  const text =
    isText && node.style === 'double'
      ? quotedIn(splices, wanted)
      : ((isText && node.style === 'single' ? singleQuoted(wanted) : null) ?? scalarText(wanted, { inFlow }))
  splices.replace(node.start, node.end, text)
  return true
}

/** A block keeps its indentation and the comment on its header; a folded one becomes literal. */
function editBlock(splices: Splices, node: ScalarNode, wanted: unknown): boolean {
  const { text, eol } = splices
  const literal = typeof wanted === 'string' ? literalLines(wanted, 2) : null
  const header = /^[|>][-+]?(?=[ \t\r\n])/.exec(text.slice(node.start, node.end))
  const indent = /\n( +)\S/.exec(text.slice(node.start, node.end))
  if (!literal || !header || !indent || /\d/.test(literal.header)) return false
  // The first line with text sets the indentation: nothing before it may be deeper.
  const pad = indent[1]!
  const from = splices.lineEnd(node.start)
  splices.replace(node.start, node.start + header[0].length, literal.header)
  splices.replace(from, node.end, literal.lines.map((line) => eol + (line ? pad + line : '')).join(''))
  return true
}

/* The items of a list: those that stay, those that go, and those that come. */

/** The lines of a new item, its dash at a column. */
type LinesOf = (value: unknown, column: number) => string[]

class SeqEdit {
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

/* Which items of a list became which, so that only what changed is written anew. */

/** Where an item of the list after comes from: an item of the list before, or null when it is new. */
type Alignment = (number | null)[]

/** Two items may be one and the same that changed; the strictest first. */
type Likeness = (before: unknown, after: unknown) => boolean

/** Above this many comparisons what is left is aligned by position. */
const COMPARISONS_MAX = 1_000_000

/**
 * Aligns two lists in order: what is alike by the first likeness is matched, then by the next in
 * the gaps between. @returns for each item of `after` its origin, ascending where it has one
 */
function align(
  before: readonly unknown[],
  after: readonly unknown[],
  likenesses: readonly Likeness[],
): Alignment {
  const origins: Alignment = after.map(() => null)
  fill(before, after, origins, { b0: 0, b1: before.length, a0: 0, a1: after.length }, likenesses)
  return origins
}

/** A stretch of both lists, ends excluded. */
interface Gap {
  b0: number
  b1: number
  a0: number
  a1: number
}

function fill(
  before: readonly unknown[],
  after: readonly unknown[],
  origins: Alignment,
  gap: Gap,
  [alike, ...looser]: readonly Likeness[],
): void {
  if (!alike || gap.b0 === gap.b1 || gap.a0 === gap.a1) return
  let { b0, a0 } = gap
  for (const [b, a] of [...longest(before, after, gap, alike), [gap.b1, gap.a1] as const]) {
    fill(before, after, origins, { b0, b1: b, a0, a1: a }, looser)
    if (a < gap.a1) origins[a] = b
    b0 = b + 1
    a0 = a + 1
  }
}

/** The longest common subsequence of a gap, as pairs of indices. */
function longest(
  before: readonly unknown[],
  after: readonly unknown[],
  { b0, b1, a0, a1 }: Gap,
  alike: Likeness,
): (readonly [number, number])[] {
  const [rows, columns] = [b1 - b0, a1 - a0]
  const is = (b: number, a: number) => alike(before[b0 + b], after[a0 + a])
  if (rows * columns > COMPARISONS_MAX) {
    const same = Array.from({ length: Math.min(rows, columns) }, (_, i) => i).filter((i) => is(i, i))
    return same.map((i) => [b0 + i, a0 + i] as const)
  }
  const lengths = Array.from({ length: rows + 1 }, () => new Uint32Array(columns + 1))
  for (let b = rows - 1; b >= 0; b--)
    for (let a = columns - 1; a >= 0; a--)
      lengths[b]![a] = is(b, a)
        ? lengths[b + 1]![a + 1]! + 1
        : Math.max(lengths[b + 1]![a]!, lengths[b]![a + 1]!)
  const pairs: (readonly [number, number])[] = []
  for (let b = 0, a = 0; b < rows && a < columns; ) {
    if (is(b, a) && lengths[b]![a] === lengths[b + 1]![a + 1]! + 1) pairs.push([b0 + b++, a0 + a++])
    else if (lengths[b + 1]![a]! >= lengths[b]![a + 1]!) b++
    else a++
  }
  return pairs
}

/* What the parts of an edit share: the text, its anchors, and the way back to the value of a node. */

/** Where a value stands: after which sign, and what its lines are indented by. */
export interface Place {
  /** `pair` and `item` are in a block, the value of a key or after a dash. */
  kind: 'pair' | 'item' | 'flow'
  /** Offset after the colon or the dash. */
  slot: number
  /** Column of the key or the dash; 0 in a flow collection. */
  column: number
  /** How its lines are written, where that is not the canonical way. First line without its head. */
  lines?: (value: unknown) => string[]
}

interface Editing {
  readonly splices: Splices
  readonly anchors: Anchors
  readonly layout: Layout
  /** Makes the node at a place say `wanted`. */
  value(node: TreeNode, wanted: unknown, place: Place): void
}

/*
 * What becomes of anchors while a text is edited. An alias stays as long as its anchor stays and says
 * what the alias is to say; else its value is written out there, and only there.
 */

class Anchors {
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
    const said = this.saidBy(alias)
    return said !== null && equal(said.value, value)
  }

  /** What an alias will say; null: what it refers to is taken out. */
  private saidBy(alias: AliasNode): { value: unknown } | null {
    const target = this.values.targets.get(alias)
    if (!target || this.gone.has(target)) return null
    return { value: this.wanted.has(target) ? this.wanted.get(target) : this.values.of.get(target) }
  }

  /** The fields that the merge keys of a map will give it without being touched; null where they cannot stay. */
  merged(node: MapNode): Entry | null {
    const maps = node.items.filter(isMerge).map(({ value }) => this.givenBy(value))
    return maps.includes(null) ? null : mergeOf(maps.flatMap((given) => given ?? []))
  }

  private givenBy(node: TreeNode): Entry[] | null {
    if (node.kind === 'alias') return mapsOf(this.saidBy(node)?.value)
    if (node.kind !== 'seq') return this.mention(node) ? null : mapsOf(this.values.of.get(node))
    const all = node.items.map(({ value }) => this.givenBy(value))
    return all.includes(null) ? null : all.flatMap((given) => given ?? [])
  }
}

/* A value written anew at the place of another, in the canonical style as far as the place allows. */

/** Writes `value` in place of a node. */
function writeAnew({ splices, layout }: Editing, node: TreeNode, value: unknown, place: Place): void {
  if (place.kind === 'flow') {
    // A key without a colon, as in {a}, gets one.
    const colon = /[:,[{?]$/.test(splices.text.slice(0, place.slot).trimEnd()) ? '' : ':'
    const gap = node.outer === place.slot && node.outer === node.end ? ' ' : ''
    splices.replace(node.outer, node.end, `${colon}${colon ? ' ' : gap}${inFlow(splices, value)}`)
    return
  }
  const [first = '', ...rest] = (place.lines ?? ((v) => linesOf(v, place, layout)))(value)
  const isBelow = splices.lineEnd(place.slot) < node.outer
  const head = first === '' ? '' : ` ${first}`
  if (isBelow) writeBelow(splices, node, head, rest, place)
  else if (rest.length === 0) replaceInLine(splices, node, first, place)
  else writeFrom(splices, node, head, rest, place)
}

/** The old value begins on a line of its own; the comment on the line of the key stays. */
function writeBelow(splices: Splices, node: TreeNode, head: string, rest: string[], { slot }: Place): void {
  const end = splices.lineEnd(node.end)
  splices.insert(slot, head)
  const lines = rest.map((line) => splices.eol + line).join('')
  // The lines between may hold comments, which belong to the old value.
  splices.replace(splices.lineEnd(slot), end, lines)
}

/** The old value is on the line of its key, and so is the new one. */
function replaceInLine(splices: Splices, node: TreeNode, text: string, { slot }: Place): void {
  if (node.outer === node.end || node.outer < slot) splices.replace(slot, node.end, ` ${text}`)
  else splices.replace(node.outer, node.end, text)
}

/** The old value is on the line of its key; the new one goes on below, with the comment above it. */
function writeFrom(splices: Splices, node: TreeNode, head: string, rest: string[], place: Place): void {
  const lines = rest.map((line) => splices.eol + line).join('')
  const end = splices.lineEnd(node.end)
  const isOneLine = !splices.text.slice(place.slot, node.end).includes('\n')
  if (place.kind === 'pair' && isOneLine) {
    splices.replace(place.slot, node.end, head)
    splices.insert(end, lines)
  } else splices.replace(place.slot, end, head + lines)
}

/** The lines of a value after its key or dash. */
function linesOf(value: unknown, { kind, column }: Place, layout: Layout): string[] {
  const lines = kind === 'item' ? itemLines(value, column, layout) : pairLines('k', value, column, layout)
  const [first = '', ...rest] = lines
  return [first.slice(column + 2).replace(/^ /, ''), ...rest]
}

/** On one line; in a file that is JSON, as JSON. */
export function inFlow({ text }: Splices, value: unknown): string {
  return flowText(value, isJson(text) ? jsonScalar : undefined)
}

/** A key in a flow map. */
function keyInFlow({ text }: Splices, key: string): string {
  return isJson(text) ? jsonQuoted(key) : flowText(key)
}

/** A text in double quotes, as the file it goes into has them. */
const quotedIn = ({ text }: Splices, value: string): string =>
  isJson(text) ? jsonQuoted(value) : doubleQuoted(value)

/** Quoted as in JSON; what JSON need not escape and YAML must is escaped too. */
const jsonScalar = (value: unknown): string => (typeof value === 'string' ? jsonQuoted(value) : String(value))

const isJson = (text: string): boolean => /^\ufeff?\s*\{\s*"/.test(text)

/**
 * A YAML text as a tree of places: what the `yaml` library composed, with the offsets that edits and
 * problems need. Everything after `parseTree` works on these nodes, not on the library's.
 */
import {
  Composer,
  type CST,
  type Document,
  isAlias,
  isMap,
  isScalar,
  Lexer,
  type Pair,
  type ParsedNode,
  Parser,
  Scalar,
  type YAMLMap,
  type YAMLParseError,
  type YAMLSeq,
  type YAMLWarning,
} from 'yaml'

/** `start` and `end` are offsets of the value's own characters; `outer` begins at its anchor or tag. */
interface Span {
  outer: number
  start: number
  end: number
  anchor: string | null
  tag: string | null
}

export interface ScalarNode extends Span {
  kind: 'scalar'
  value: unknown
  style: 'plain' | 'single' | 'double' | 'literal' | 'folded'
  /** As resolved from the text, before it became a number or the like. */
  source: string
}

export interface AliasNode extends Span {
  kind: 'alias'
  name: string
}

export interface MapItem {
  /** First character of the key, its anchor, tag or question mark. */
  start: number
  key: TreeNode
  value: TreeNode
  /** Offset after the colon; after the key when there is none. */
  slot: number
}

export interface MapNode extends Span {
  kind: 'map'
  style: 'block' | 'flow' | 'bare'
  items: MapItem[]
}

export interface SeqItem {
  /** The dash of a block sequence; else the first character of the item. */
  start: number
  value: TreeNode
  /** Offset after the dash; the start of the item in a flow sequence. */
  slot: number
}

export interface SeqNode extends Span {
  kind: 'seq'
  style: 'block' | 'flow'
  items: SeqItem[]
}

export type TreeNode = ScalarNode | AliasNode | MapNode | SeqNode

/** The text of a key, or null when it is not a string. */
export function keyOf(item: MapItem): string | null {
  return item.key.kind === 'scalar' && typeof item.key.value === 'string' ? item.key.value : null
}

/** The item of a map under this key; the first one, should it be there twice. */
function itemAt(node: MapNode, key: string): MapItem | undefined {
  return node.items.find((item) => keyOf(item) === key)
}

/** The nodes directly under a node, keys before their values. */
export function childrenOf(node: TreeNode): TreeNode[] {
  if (node.kind === 'map') return node.items.flatMap((item) => [item.key, item.value])
  return node.kind === 'seq' ? node.items.map((item) => item.value) : []
}

/* Paths into a catalog file: as text, and as steps through its tree. */

/** Steps from the root of the file. */
export type Path = readonly (string | number)[]

/** triggers[2].sources[0]; a key that is no word is written in brackets and quotes. */
export function pathText(path: Path): string {
  return path.reduce<string>((text, step) => {
    if (typeof step === 'number') return `${text}[${step}]`
    if (!/^[\w-]+$/.test(step)) return `${text}[${JSON.stringify(step)}]`
    return text ? `${text}.${step}` : step
  }, '')
}

/** Today's word of a section or field to the one a file of before 1.14 has (SPEC.md, Catalog YAML). */
const OLD_WORDS: Record<string, string> = { projects: 'usecases', template: 'recipe' }

/** The node one step below, with its key. A number also reads an array given as text. */
export function childAt(
  node: TreeNode,
  step: string | number,
): { value: TreeNode; key: TreeNode | null } | null {
  if (node.kind === 'seq') {
    const item = node.items[Number(step)]
    return item ? { value: item.value, key: null } : null
  }
  if (node.kind !== 'map') return null
  const key = String(step)
  const item = itemAt(node, key) ?? (OLD_WORDS[key] ? itemAt(node, OLD_WORDS[key]) : undefined)
  return item ? { value: item.value, key: item.key } : null
}

/*
 * Text to tree within bounds. The library's recursive composer only sees what the bounds let
 * through: size, depth and number of tokens are checked on the token stream, which is flat.
 */

/** Bytes of UTF-8, also with every alias written out. */
export const MAX_BYTES = 8 * 1024 * 1024
const MIB = 1024 * 1024
/** A text of that size as JSON, in which a character may take two: what a daemon takes at once, also of several catalogs. */
export const BODY_MAX_BYTES = 2 * MAX_BYTES + MIB
/** Collections within collections. */
export const MAX_DEPTH = 100
/**
 * A bound of time: a token takes about 3 µs to read and compose (2026-11), and imports do that where events are
 * stored. Some 60,000 lines of fields; a long text in a block is a few tokens.
 */
const MAX_TOKENS = 400_000
const FAULTS_TOLD = 100
const MESSAGE_MAX = 160

/** Something wrong with the text itself, by offset. */
interface Fault {
  start: number
  end: number
  message: string
}

interface Parsed {
  /** Null for a text without a value, and for one that has faults. */
  root: TreeNode | null
  faults: Fault[]
}

/** YAML 1.2 core schema; keys, tags and merge keys are checked on the tree. */
const OPTIONS = {
  version: '1.2',
  schema: 'core',
  merge: false,
  uniqueKeys: false,
  prettyErrors: false,
  keepSourceTokens: true,
  logLevel: 'silent',
} as const

/** @param title what the text is called. @returns a sentence with the size and the bound; null: it is not too large */
export function sizeFault(text: string, title = 'the file'): string | null {
  const bytes = Buffer.byteLength(text)
  return bytes > MAX_BYTES
    ? `${title} has ${sizeText(bytes)}; a catalog file has at most ${sizeText(MAX_BYTES)}`
    : null
}

/** Both ways: what is over by a few bytes would else be as large as the bound. */
export const sizeText = (bytes: number): string =>
  `${Number((bytes / MIB).toFixed(1))} MiB (${bytes.toLocaleString('en-US')} bytes)`

/** Parses one document. Faults are in the order of the text. */
export function parseTree(text: string): Parsed {
  const size = sizeFault(text)
  if (size) return refused({ start: 0, end: 0, message: size })
  const controls = controlCharacters(text)
  if (controls.length) return { root: null, faults: controls }
  const { tokens, fault } = tokensOf(text)
  if (fault) return refused(fault)
  const directive = tokens.find(({ type }) => type === 'directive')
  if (directive)
    return refused({
      start: directive.offset,
      end: directive.offset + 1,
      message: 'directives (%) are not accepted',
    })
  const documents = composed(tokens, text.length)
  const faults = documents.flatMap((document) =>
    [...document.errors, ...document.warnings].filter((error) => !isUnknownTag(error)).map(faultOf),
  )
  const second = documents[1]
  if (second) {
    const [start, end] = second.contents?.range ?? second.range
    faults.push({
      start,
      end: Math.min(end, start + 1),
      message: 'the file holds several documents; a catalog is one',
    })
  }
  if (faults.length) {
    const conflicts = conflictsLeft(text)
    return { root: null, faults: (conflicts.length ? conflicts : inOrder(faults)).slice(0, FAULTS_TOLD) }
  }
  const contents = documents[0]?.contents as ParsedNode | null | undefined
  return { root: contents ? plantTree(text, contents) : null, faults: [] }
}

/** Without stacks, which cost a hundred times what the rest of a fault does, and which nobody reads. */
function composed(tokens: CST.Token[], length: number): Document.Parsed[] {
  const { stackTraceLimit } = Error
  Error.stackTraceLimit = 0
  try {
    return [...new Composer(OPTIONS).compose(tokens, true, length)] as Document.Parsed[]
  } finally {
    Error.stackTraceLimit = stackTraceLimit
  }
}

const refused = (fault: Fault): Parsed => ({ root: null, faults: [fault] })

function inOrder(faults: Fault[]): Fault[] {
  return faults.sort((a, b) => a.start - b.start)
}

/** Of a text that is no YAML: what git left where both sides of a merge changed the same lines. */
function conflictsLeft(text: string): Fault[] {
  const message =
    'git left a merge conflict here: keep what is right of both sides, and take out the lines <<<<<<<, ======= and >>>>>>>'
  return [...text.matchAll(/^<{7}(?=[ \r\n])/gm)].map(({ index }) => ({
    start: index,
    end: index + 7,
    message,
  }))
}

/** YAML 1.2, 5.1: not in a text; the library would also take some of them for its own marks. */
function controlCharacters(text: string): Fault[] {
  const faults: Fault[] = []
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
  for (const { index } of text.matchAll(/[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]/g)) {
    const code = text.charCodeAt(index).toString(16).toUpperCase().padStart(4, '0')
    const message = `the control character U+${code} is not allowed; write it in double quotes as an escape`
    faults.push({ start: index, end: index + 1, message })
    if (faults.length === FAULTS_TOLD) break
  }
  return faults
}

function tokensOf(text: string): { tokens: CST.Token[]; fault?: Fault } {
  const parser = new Parser()
  const tokens: CST.Token[] = []
  let count = 0
  let broken = 0
  for (const lexeme of new Lexer().lex(text)) {
    for (const token of parser.next(lexeme)) {
      tokens.push(token)
      if (token.type === 'error') broken++
    }
    // More faults than are told are not looked for.
    if (broken > FAULTS_TOLD) return { tokens }
    count++
    const at = { start: parser.offset, end: parser.offset }
    if (count > MAX_TOKENS) return { tokens, fault: { ...at, message: 'the file holds too many values' } }
    if (parser.stack.length > MAX_DEPTH && depthOf(parser) > MAX_DEPTH)
      return { tokens, fault: { ...at, message: `values are nested more than ${MAX_DEPTH} deep` } }
  }
  for (const token of parser.end()) tokens.push(token)
  return { tokens }
}

function depthOf({ stack }: Parser): number {
  return stack.filter(({ type }) => ['block-map', 'block-seq', 'flow-collection'].includes(type)).length
}

type YAMLError = Pick<YAMLParseError | YAMLWarning, 'pos' | 'code' | 'message'>

/** A tag that is not known is told with its place in the file, by values.ts. */
const isUnknownTag = ({ code, message }: YAMLError): boolean =>
  code === 'TAG_RESOLVE_FAILED' && message.startsWith('Unresolved tag')

/** The library's sentence; what it quotes of the text is left out, since that may be a secret. */
function faultOf({ pos, message }: YAMLError): Fault {
  const plain = (message.charAt(0).toLowerCase() + message.slice(1))
    .replace(/: ".*$/s, '')
    .slice(0, MESSAGE_MAX)
  return { start: pos[0], end: pos[1], message: `not valid YAML: ${plain}` }
}

/* The library's nodes as places of the text: where each value, its key and its separators are. */

type Props = readonly CST.SourceToken[]

/** @param text the whole text, of which `node` was composed without an error */
function plantTree(text: string, node: ParsedNode): TreeNode {
  return plant(text, node, [], node.range[0])
}

/** @param slot where the value of an empty node belongs */
function plant(text: string, node: ParsedNode | null, props: Props, slot: number): TreeNode {
  const given = props.filter(({ type }) => type === 'anchor' || type === 'tag')
  const last = given.at(-1)
  const at = last ? last.offset + last.source.length : slot
  if (!node) return emptyScalar(at)
  const { anchor = null } = node as { anchor?: string }
  const { tag = null } = node as { tag?: string }
  const isEmpty = isScalar(node) && !node.srcToken
  const start = isEmpty ? at : node.range[0]
  const span = { outer: given[0]?.offset ?? start, start, end: isEmpty ? at : node.range[1], anchor, tag }
  if (isAlias(node)) return { ...span, kind: 'alias', name: node.source, tag: null }
  if (isScalar(node)) {
    const { value, source = '' } = node
    return {
      ...span,
      kind: 'scalar',
      value,
      source,
      style: styleOf(node),
      end: scalarEnd(text, node, span.end),
    }
  }
  return isMap(node)
    ? plantMap(text, node as YAMLMap.Parsed, span)
    : plantSeq(text, node as YAMLSeq.Parsed, span)
}

const emptyScalar = (at: number): ScalarNode => ({
  kind: 'scalar',
  value: null,
  source: '',
  style: 'plain',
  outer: at,
  start: at,
  end: at,
  anchor: null,
  tag: null,
})

function plantMap(text: string, node: YAMLMap.Parsed, span: Span): MapNode {
  const items = node.items.map((pair) => plantPair(text, pair as Pair<ParsedNode, ParsedNode | null>))
  const isBare = node.flow === true && !node.srcToken
  const style = isBare ? 'bare' : node.flow ? 'flow' : 'block'
  const end = node.flow && !isBare ? span.end : (items.at(-1)?.value.end ?? span.end)
  const start = isBare ? (items[0]?.start ?? span.start) : span.start
  return { ...span, start, outer: Math.min(span.outer, start), kind: 'map', style, items, end }
}

function plantPair(text: string, pair: Pair<ParsedNode, ParsedNode | null>): MapItem {
  const { start = [], sep = [] } = pair.srcToken as CST.CollectionItem
  const mark = start.find(({ type }) => type === 'explicit-key-ind')
  const key = plant(text, pair.key, start, mark ? mark.offset + 1 : (sep[0]?.offset ?? pair.key.range[0]))
  const colon = sep.find(({ type }) => type === 'map-value-ind')
  const slot = colon ? colon.offset + colon.source.length : key.end
  return { start: mark?.offset ?? key.outer, key, slot, value: plant(text, pair.value, sep, slot) }
}

function plantSeq(text: string, node: YAMLSeq.Parsed, span: Span): SeqNode {
  const source = (node.srcToken as CST.BlockSequence | CST.FlowCollection).items.filter(isItem)
  const items = node.items.map((child, i): SeqItem => {
    const { start = [] } = source[i]!
    const dash = start.find(({ type }) => type === 'seq-item-ind')
    const slot = dash ? dash.offset + 1 : child.range[0]
    const value = plant(text, child, start, slot)
    return { start: dash?.offset ?? value.outer, slot: dash ? slot : value.outer, value }
  })
  const end = node.flow ? span.end : (items.at(-1)?.value.end ?? span.end)
  return { ...span, kind: 'seq', style: node.flow ? 'flow' : 'block', items, end }
}

/** Whether a source item became an item; one of comments alone did not. */
function isItem({ start, key, sep, value }: CST.CollectionItem): boolean {
  const marks = ['seq-item-ind', 'explicit-key-ind', 'anchor', 'tag']
  return Boolean(key || sep || value || start.some(({ type }) => marks.includes(type)))
}

function styleOf({ type }: Scalar): ScalarNode['style'] {
  if (type === Scalar.QUOTE_SINGLE) return 'single'
  if (type === Scalar.QUOTE_DOUBLE) return 'double'
  if (type === Scalar.BLOCK_LITERAL) return 'literal'
  return type === Scalar.BLOCK_FOLDED ? 'folded' : 'plain'
}

/**
 * Where a block scalar ends: at the end of its last line with text, before the blank lines that set
 * it apart from what follows; with all of them when they are part of the value (chomping +).
 */
function scalarEnd(text: string, node: Scalar.Parsed, end: number): number {
  const token = node.srcToken
  if (token?.type !== 'block-scalar') return end
  const header = token.props.find(({ type }) => type === 'block-scalar-header') as CST.SourceToken
  const source = text.slice(node.range[0], end)
  const last = source.indexOf('\n', source.trimEnd().length)
  const isContent = header.source.includes('+') || (last >= 0 && /\n +/.test(source.slice(last)))
  const lineBreak = isContent || last < 0 ? source.length - (source.endsWith('\n') ? 1 : 0) : last
  return node.range[0] + lineBreak - (source[lineBreak - 1] === '\r' && source[lineBreak] === '\n' ? 1 : 0)
}

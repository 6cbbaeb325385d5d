/**
 * Text to tree within bounds. The library's recursive composer only sees what the bounds let
 * through: size, depth and number of tokens are checked on the token stream, which is flat.
 */
import {
  Composer,
  type CST,
  type Document,
  Lexer,
  type ParsedNode,
  Parser,
  type YAMLParseError,
  type YAMLWarning,
} from 'yaml'
import { plantTree } from './plant.ts'
import type { TreeNode } from './tree.ts'

/** Bytes of UTF-8, also with every alias written out. */
export const MAX_BYTES = 8 * 1024 * 1024
/** Collections within collections. */
export const MAX_DEPTH = 100
/**
 * A bound of time: a token takes about 3 µs to read and compose (2026-11), and imports do that where events are
 * stored. Some 60,000 lines of fields; a long text in a block is a few tokens.
 */
export const MAX_TOKENS = 400_000
const FAULTS_TOLD = 100
const MESSAGE_MAX = 160

/** Something wrong with the text itself, by offset. */
export interface Fault {
  start: number
  end: number
  message: string
}

export interface Parsed {
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

/** Parses one document. Faults are in the order of the text. */
export function parseTree(text: string): Parsed {
  if (Buffer.byteLength(text) > MAX_BYTES)
    return refused({ start: 0, end: 0, message: 'the file has more than 8 MiB' })
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
  if (faults.length) return { root: null, faults: inOrder(faults).slice(0, FAULTS_TOLD) }
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

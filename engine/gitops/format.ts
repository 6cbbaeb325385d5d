/**
 * A catalog file in one layout: two spaces, a part's name first, then its fields as the schemas list them. Comments,
 * the order of parts and what the file says stay.
 */
import {
  type Document,
  isAlias,
  isCollection,
  isMap,
  isPair,
  isScalar,
  isSeq,
  parseDocument,
  visit,
  type YAMLMap,
  type YAMLSeq,
} from 'yaml'
import { orderedEntry, SECTIONS, type Section } from '../declared/catalog-text/render.ts'
import { equal } from '../model/documents.ts'
import { type CatalogText, type FileProblem, plain, readValue } from './nodes.ts'

const PARSE = { version: '1.2', schema: 'core', merge: false, uniqueKeys: false, logLevel: 'silent' } as const
const PRINT = { indent: 2, indentSeq: true, lineWidth: 0 } as const
/** Prints until nothing moves any more. */
const ROUNDS = 4

/**
 * @returns the text in the layout; the text as it is, where it cannot be laid out without changing what it says or
 *   losing a comment; problems, where it is no YAML
 */
export function formatCatalog(of: CatalogText): { text: string; problems: FileProblem[] } {
  const { text } = of
  const before = readValue(of)
  if (before.problems.length) return { text, problems: before.problems }
  if (before.value === null) return { text, problems: [] }
  let laid = text
  if (printed(laid) === laid) return { text, problems: [] }
  for (let round = 0; round < ROUNDS; round++) {
    const next = printed(laid)
    if (next === laid) break
    laid = next
  }
  const after = readValue({ ...of, text: laid })
  const isSame =
    after.value !== null &&
    equal(plain(before.value), plain(after.value)) &&
    equal(commentsIn(text), commentsIn(laid)) &&
    printed(laid) === laid
  return { text: isSame ? laid : text, problems: [] }
}

function printed(text: string): string {
  const document = parseDocument(text, PARSE)
  arrange(document)
  const eol = text.includes('\r\n') ? '\r\n' : '\n'
  const out = document.toString(PRINT)
  return eol === '\n' ? out : out.replaceAll(/\r?\n/g, eol)
}

/** Fields in order, where no anchor stands in the way of its aliases; a blank line between sections. */
function arrange(document: Document): void {
  let hasAliases = false
  visit(document, {
    Alias: () => {
      hasAliases = true
    },
  })
  visit(document, { Collection: (_key, node) => pad(node) })
  if (!isMap(document.contents)) return
  const root = document.contents
  const isPart = root.has('kind')
  for (const [i, pair] of root.items.entries()) {
    const { key, value } = pair
    if (!isScalar(key)) continue
    if (i > 0 && isCollection(value) && !root.flow && !isPart) key.spaceBefore = true
    const section = SECTIONS.find((one) => one === key.value)
    if (!section || !isSeq(value) || hasAliases) continue
    for (const item of value.items) if (isMap(item)) order(item, section)
  }
}

/** Maps on one line are { a: 1 }, lists [a, b]. */
function pad(node: YAMLMap | YAMLSeq): void {
  const print = node.toString
  const flowCollectionPadding = isSeq(node) ? '' : ' '
  node.toString = (ctx, ...rest) => print.call(node, ctx && { ...ctx, flowCollectionPadding }, ...rest)
}

function order(map: YAMLMap, section: Section): void {
  const keys = map.items.map((pair) => (isPair(pair) && isScalar(pair.key) ? pair.key.value : null))
  if (!keys.every((key): key is string => typeof key === 'string') || new Set(keys).size !== keys.length)
    return
  if (map.items.some(({ value }) => isAlias(value))) return
  const wanted = Object.keys(orderedEntry(section, Object.fromEntries(keys.map((key) => [key, 0]))))
  const ordered = wanted.map((key) => map.items[keys.indexOf(key)]!)
  if (ordered.length !== map.items.length || ordered.every((pair, i) => pair === map.items[i])) return
  map.items = ordered
}

/** The comments of a text, sorted: none is lost, whatever moves. */
function commentsIn(text: string): string[] {
  const found: string[] = []
  const add = (comment: string | null | undefined) => {
    for (const line of comment?.split('\n') ?? []) if (line.trim()) found.push(line.trim())
  }
  const document = parseDocument(text, PARSE)
  add(document.commentBefore)
  add(document.comment)
  visit(document, {
    Node: (_key, node) => {
      add(node.commentBefore)
      add(node.comment)
    },
  })
  return found.sort()
}

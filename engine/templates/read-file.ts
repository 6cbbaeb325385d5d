/** One template file: YAML to a checked template, every fault with its line. */
import { type Document, isCollection, isMap, isNode, LineCounter, parseDocument, visit } from 'yaml'
import type { TemplateFile } from '../../schemas/types.ts'
import { fileFaults } from './check-file.ts'

/** Aliases of one file; more is a bomb, not a template. */
const MAX_ALIASES = 50

/** A template, or why there is none: `line:column: sentence` each. */
export type ReadFile = { file: TemplateFile; faults?: undefined } | { faults: string[] }

/**
 * @param key the file's name without its ending.
 * @param text of the file, YAML 1.2.
 */
export function readTemplate(key: string, text: string): ReadFile {
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, stringKeys: false })
  const placed = (offset: number, sentence: string): string => {
    const { line, col } = lines.linePos(offset)
    return `${line}:${col}: ${sentence}`
  }
  const syntax = [
    ...document.errors.map((error) => placed(error.pos[0], `is not YAML: ${error.message}`)),
    ...unquoted(document).map((offset) =>
      placed(offset, 'an expression must be in quotes, as in "{{ name }}"'),
    ),
  ]
  if (syntax.length) return { faults: syntax }
  const value = toValue(document)
  if (value instanceof Error) return { faults: [placed(0, `is not a template: ${value.message}`)] }
  const faults = fileFaults(value, key)
  if (faults.length === 0) return { file: value as TemplateFile }
  return { faults: faults.map((sentence) => placed(offsetOf(document, sentence), sentence)) }
}

/** Without quotes, `{{ name }}` is a map whose key is a map. @returns where that is. */
function unquoted(document: Document): number[] {
  const offsets: number[] = []
  visit(document, {
    Pair(_, pair) {
      if (isNode(pair.key) && isCollection(pair.key)) offsets.push(pair.key.range?.[0] ?? 0)
    },
  })
  return offsets
}

function toValue(document: Document): unknown {
  try {
    return document.toJS({ maxAliasCount: MAX_ALIASES })
  } catch (error) {
    if (error instanceof ReferenceError) return error
    throw error
  }
}

/** Where the path a sentence begins with is, or the deepest part of it that is there. */
function offsetOf(document: Document, sentence: string): number {
  const path = /^[\w-]+(?:\.[\w-]+|\[\d+\])*/.exec(sentence)?.[0].match(/[\w-]+/g) ?? []
  let offset = 0
  let node: unknown = document.contents
  for (const step of path) {
    if (!isCollection(node)) break
    const pair = isMap(node) ? node.items.find(({ key }) => String(key) === step) : undefined
    const next: unknown = isMap(node) ? pair?.value : node.get(Number(step), true)
    const place = pair?.key ?? next
    if (!isNode(place)) break
    offset = place.range?.[0] ?? offset
    node = next
  }
  return offset
}

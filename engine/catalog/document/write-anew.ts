/** A value written anew at the place of another, in the canonical style as far as the place allows. */
import type { Editing, Place } from './editing.ts'
import { flowText, itemLines, type Layout, pairLines } from './render.ts'
import { doubleQuoted, jsonQuoted } from './scalar-text.ts'
import type { Splices } from './splices.ts'
import type { TreeNode } from './tree.ts'

/** Writes `value` in place of a node. */
export function writeAnew({ splices, layout }: Editing, node: TreeNode, value: unknown, place: Place): void {
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
export function keyInFlow({ text }: Splices, key: string): string {
  return isJson(text) ? jsonQuoted(key) : flowText(key)
}

/** A text in double quotes, as the file it goes into has them. */
export const quotedIn = ({ text }: Splices, value: string): string =>
  isJson(text) ? jsonQuoted(value) : doubleQuoted(value)

/** Quoted as in JSON; what JSON need not escape and YAML must is escaped too. */
const jsonScalar = (value: unknown): string => (typeof value === 'string' ? jsonQuoted(value) : String(value))

const isJson = (text: string): boolean => /^\ufeff?\s*\{\s*"/.test(text)

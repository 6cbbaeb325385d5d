/** A scalar that becomes another one, in the quotes or the block it is written in where they hold it. */
import type { Place } from './editing.ts'
import { literalLines, scalarText, singleQuoted } from './scalar-text.ts'
import type { Splices } from './splices.ts'
import type { ScalarNode } from './tree.ts'
import { quotedIn } from './write-anew.ts'

/** @returns false when the value has to be written anew: it is no scalar, or needs another place */
export function editScalar(splices: Splices, node: ScalarNode, wanted: unknown, { kind }: Place): boolean {
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

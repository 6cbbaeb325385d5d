/** One changed field as lines of text: short values on one line, long ones as a diff. */
import { fieldWords } from '../../schemas/field-words.ts'
import type { FieldChange, MergeConflict } from '../../schemas/types.ts'
import { unsetWords } from '../../schemas/unset-words.ts'
import { type DiffLine, diffLines } from './line-diff.ts'
import { escapeLine, type Io, paint } from './terminal.ts'

/** Characters of a value that still share a line with the other one. */
const VALUE_MAX = 120
/** Characters shown before the first one that differs. */
const LEAD = 40
const STYLES = { ' ': 'dim', '-': 'red', '+': 'green' } as const

type Painter = Pick<Io, 'colour'>

/**
 * A field as a person says it: `config.labels` for the pointer /config/labels (RFC 6901).
 * @param kind of what it is a field of, where that is known
 */
export function fieldName(pointer: string, kind = ''): string {
  return escapeLine(fieldWords(kind, pointer)) || 'all of it'
}

/** `name: before → after`, or the name and the lines that differ below it. */
export function fieldLines(io: Painter, { path, from, to }: FieldChange, kind = ''): string[] {
  return valueLines(io, fieldName(path, kind), { from, to }, unsetAt(kind, path))
}

/** What is said of a value that is not set. */
const unsetAt = (kind: string, path: string): string => unsetWords(kind, path, valueText)

/** Two values of one field; where both are long, only what differs between them. */
function valueLines(
  io: Painter,
  name: string,
  { from, to }: Pick<FieldChange, 'from' | 'to'>,
  unset: string,
): string[] {
  const short = [from, to].every((value) => isUnset(value) || isShort(value))
  // Two values that differ and look alike are two secrets, whose masks are shown.
  if (!isUnset(from) && JSON.stringify(from) === JSON.stringify(to))
    return [
      `${name}: another secret${short && !/^•+$/.test(String(to)) ? ` in ${valueText(to, unset)}` : ''}`,
    ]
  if (short || isUnset(from) || isUnset(to))
    return [`${name}: ${valueText(from, unset)} → ${valueText(to, unset)}`]
  const [before, after] = [linesOf(from), linesOf(to)]
  if (before.length === 1 && after.length === 1) {
    const at = firstDifference(before[0]!, after[0]!)
    return [`${name}: ${windowAt(before[0]!, at)} → ${windowAt(after[0]!, at)}`]
  }
  // Both end in a line break: what follows it is no line.
  const last = before.at(-1) === '' && after.at(-1) === '' ? -1 : undefined
  const hunks = diffLines(before.slice(0, last), after.slice(0, last))
  const shown = hunks.flatMap((hunk, i) => [
    ...(i > 0 ? ['  …'] : []),
    ...hunk.map((line) => diffLine(io, line)),
  ])
  return [`${name}:`, ...shown]
}

function diffLine(io: Painter, { mark, text }: DiffLine): string {
  return paint(io, STYLES[mark], text === '' ? `  ${mark}`.trimEnd() : `  ${mark} ${escapeLine(text)}`)
}

/**
 * What two writers did to one field, for the person whose write was refused.
 * @returns lines: the field, then what it was, what was wanted and what it is now.
 */
export function conflictLines(conflict: MergeConflict): string[] {
  return threeLines(conflict, {
    base: 'was',
    theirs: 'is now',
    mine: 'this change wants',
    others: ['changed by the other', 'changed by this'],
  })
}

/** The same of a catalog file and the instance. */
export const mergeLines = (conflict: MergeConflict): string[] =>
  threeLines(conflict, {
    base: 'was applied as',
    theirs: 'the instance has',
    mine: 'the file says',
    others: ['changed by hand', 'changed in the file'],
  })

/** A field that was changed by hand and stays so. */
export function keptLines({ kind, name, path, mine, theirs }: MergeConflict): string[] {
  const head = `${kindName(kind)} ${escapeLine(name)}, ${fieldName(path, kind)}:`
  if (path === '') return [`${head} ${isUnset(theirs) ? 'deleted' : 'changed'}`]
  const isBrief = [mine, theirs].every((value) => isUnset(value) || isShort(value))
  const unset = unsetAt(kind, path)
  return [
    isBrief
      ? `${head} ${valueText(theirs, unset)}, the file says ${valueText(mine, unset)}`
      : `${head} changed`,
  ]
}

interface ThreeWords {
  base: string
  theirs: string
  mine: string
  /** Heads of what each side changed, where values are long. */
  others: readonly [string, string]
}

function threeLines({ kind, name, path, base, mine, theirs }: MergeConflict, words: ThreeWords): string[] {
  const plain = { colour: false }
  const head = `${kindName(kind)} ${escapeLine(name)}, ${fieldName(path, kind)}:`
  const values = [base, mine, theirs]
  const unset = unsetAt(kind, path)
  const text = (value: unknown) => valueText(value, unset)
  if (values.every((value) => isUnset(value) || isShort(value)))
    return [
      head,
      `  ${words.base} ${text(base)}, ${words.theirs} ${text(theirs)}, ${words.mine} ${text(mine)}`,
    ]
  return [
    head,
    ...valueLines(plain, words.others[0], { from: base, to: theirs }, unset).map((line) => `  ${line}`),
    ...valueLines(plain, words.others[1], { from: base, to: mine }, unset).map((line) => `  ${line}`),
  ]
}

/** A kind of object in words. */
export function kindName(kind: string): string {
  return kind === 'mcp_server' ? 'MCP server' : kind
}

const isUnset = (value: unknown): boolean => value === undefined || value === null

function isShort(value: unknown): boolean {
  if (typeof value === 'string' && value.trimEnd().includes('\n')) return false
  return JSON.stringify(value).length <= VALUE_MAX
}

function valueText(value: unknown, unset = 'not set'): string {
  if (isUnset(value)) return unset
  const text = JSON.stringify(value)
  return escapeLine(text.length > VALUE_MAX ? `${text.slice(0, VALUE_MAX - 1)}…` : text)
}

/** A text by its lines, anything else as JSON, a field per line. */
function linesOf(value: unknown): string[] {
  return (typeof value === 'string' ? value : JSON.stringify(value, null, 2)).split('\n')
}

function firstDifference(a: string, b: string): number {
  let at = 0
  while (at < a.length && a[at] === b[at]) at++
  return at
}

/** The part of a long line around `at`, so that what differs is in it. */
function windowAt(text: string, at: number): string {
  const start = Math.max(0, at - LEAD)
  const part = text.slice(start, start + VALUE_MAX)
  return escapeLine(
    `${start > 0 ? '…' : ''}${JSON.stringify(part).slice(1, -1)}${start + VALUE_MAX < text.length ? '…' : ''}`,
  )
}

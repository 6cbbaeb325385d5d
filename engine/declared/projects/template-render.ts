/** What expressions stand for: texts, whole specs, and whether an object is planned. */

import { createHash } from 'node:crypto'
import { fail } from '../../errors.ts'

/** What expressions can read. */
export interface Scope {
  /** Parameters by name; `item` and `index` in an object of a list; `args` in an action. */
  roots: Readonly<Record<string, unknown>>
  /** Names of the objects planned under a key of the file. */
  names: (key: string) => readonly string[]
}

/** Empty values stand for absent ones: no text, no value, no entries. */
export function isEmpty(value: unknown): boolean {
  return value === undefined || value === null || value === '' || (Array.isArray(value) && value.length === 0)
}

/**
 * Renders every text in a value. A text that is one expression becomes its value, of its own type; a
 * field or an entry whose only expression is empty is left out. @returns undefined when nothing is left.
 */
export function render(value: unknown, scope: Scope): unknown {
  if (typeof value === 'string') return renderText(value, scope)
  if (Array.isArray(value))
    return value.map((entry) => render(entry, scope)).filter((entry) => entry !== undefined)
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(
    Object.entries(value)
      .map(([name, field]) => [name, render(field, scope)] as const)
      .filter(([, field]) => field !== undefined),
  )
}

function renderText(text: string, scope: Scope): unknown {
  const parts = parseText(text)
  const [only] = parts
  if (parts.length !== 1 || only === undefined || typeof only === 'string') return renderPlain(text, scope)
  const value = evaluate(only, scope)
  return isEmpty(value) ? undefined : value
}

/**
 * Renders a text as text: an empty value is no text, a list its entries with commas between.
 * @param encode applied to each value by the root it came from.
 */
export function renderPlain(
  text: string,
  scope: Scope,
  encode: (value: string, root: string) => string = (value) => value,
): string {
  return parseText(text)
    .map((part) => (typeof part === 'string' ? part : encode(plain(evaluate(part, scope)), rootOf(part))))
    .join('')
}

const rootOf = ({ term }: Expression): string => ('path' in term ? term.path[0]! : '')

function plain(value: unknown): string {
  if (isEmpty(value)) return ''
  if (Array.isArray(value)) return value.map(plain).join(', ')
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

function evaluate({ term, fallback }: Expression, scope: Scope): unknown {
  const value = termValue(term, scope)
  return isEmpty(value) && fallback !== undefined ? fallback : value
}

function termValue(term: Expression['term'], { roots, names }: Scope): unknown {
  switch (term.kind) {
    case 'literal':
      return term.value
    case 'path':
      return valueAt(roots, term.path)
    case 'slug':
      return slug(plain(valueAt(roots, term.path)))
    case 'name':
      return names(term.key)[0]
    case 'names':
      return names(term.key)
  }
}

/** The value at a path; through a list, those of all its entries. */
export function valueAt(value: unknown, [head, ...rest]: readonly string[]): unknown {
  if (head === undefined) return value
  if (Array.isArray(value))
    return value.map((entry) => valueAt(entry, [head, ...rest])).filter((entry) => !isEmpty(entry))
  if (value === null || typeof value !== 'object' || !Object.hasOwn(value, head)) return undefined
  return valueAt((value as Record<string, unknown>)[head], rest)
}

/**
 * Whether a `when` holds: `name` when the value is neither empty nor false, `name=value` when it is
 * that value, `name=` when it is empty or false.
 */
export function holds(when: string | undefined, scope: Scope): boolean {
  if (when === undefined) return true
  const { path, value } = parseWhen(when)
  const actual = valueAt(scope.roots, path)
  const isSet = !isEmpty(actual) && actual !== false
  if (value === undefined) return isSet
  return value === '' ? !isSet : plain(actual) === value
}

/** The path of a `when`, and the value it compares with. */
export function parseWhen(when: string): { path: string[]; value?: string } {
  const at = when.indexOf('=')
  const path = (at < 0 ? when : when.slice(0, at)).trim().split('.')
  return at < 0 ? { path } : { path, value: when.slice(at + 1).trim() }
}

/*
 * The expressions of templates, `{{ … }}` in any text (catalog/README.md). They read values and
 * decide nothing: no code, no loops, no access to anything but the parameters, so that neither a
 * template nor a parameter can reach further. Rendering works on parsed values, never on YAML text:
 * no parameter can add a field.
 */

type Literal = string | number | boolean

type Term =
  | { kind: 'literal'; value: string }
  | { kind: 'path'; path: readonly string[] }
  | { kind: 'slug'; path: readonly string[] }
  | { kind: 'name' | 'names'; key: string }

export interface Expression {
  term: Term
  /** Stands in for an empty value. */
  fallback?: Literal
}

const EXPRESSION = /\{\{((?:"[^"]*"|[^"{}])*)\}\}/g
const PATH = '[a-z][a-z0-9_]*(?:\\.[a-z][a-z0-9_]*)*'
const LITERAL = '"[^"]*"|-?\\d+(?:\\.\\d+)?|true|false'
const TERM = new RegExp(
  `^\\s*(?:"(?<text>[^"]*)"|(?<path>${PATH})|slug\\(\\s*(?<slug>${PATH})\\s*\\)|(?<call>names?)\\(\\s*"(?<key>[^"]*)"\\s*\\))` +
    `\\s*(?:\\|\\s*default\\(\\s*(?<fallback>${LITERAL})\\s*\\)\\s*)?$`,
)

/**
 * Splits a text into its literal parts and its expressions.
 * @throws SvcError invalid: an expression that cannot be read.
 */
export function parseText(text: string): readonly (string | Expression)[] {
  const parts: (string | Expression)[] = []
  let rest = 0
  for (const match of text.matchAll(EXPRESSION)) {
    if (match.index > rest) parts.push(literalPart(text.slice(rest, match.index)))
    parts.push(parseExpression(match[1]!))
    rest = match.index + match[0].length
  }
  if (rest < text.length) parts.push(literalPart(text.slice(rest)))
  return parts
}

function literalPart(text: string): string {
  if (text.includes('{{'))
    fail('invalid', 'has {{ without an expression and its }}; the braces themselves are {{ "{{" }}')
  return text
}

function parseExpression(source: string): Expression {
  const groups = TERM.exec(source)?.groups
  if (!groups)
    fail(
      'invalid',
      `has an expression that is not known, {{ ${source.trim()} }}; there are paths such as item.repo, slug(path), name("key"), names("key"), "text", each with | default("text")`,
    )
  return {
    term: termOf(groups),
    ...(groups.fallback === undefined ? {} : { fallback: JSON.parse(groups.fallback) as Literal }),
  }
}

function termOf({ text, path, slug, call, key }: Record<string, string | undefined>): Term {
  if (text !== undefined) return { kind: 'literal', value: text }
  if (path !== undefined) return { kind: 'path', path: path.split('.') }
  if (slug !== undefined) return { kind: 'slug', path: slug.split('.') }
  return { kind: call as 'name' | 'names', key: key! }
}

/* Parts of names made from what a person typed. */

/** Longest slug: a name of 64 characters has room for two and the words around them. */
const MAX = 24
const HASH = 8

/**
 * Lowercase letters and digits with single dashes, at most 24 characters: fits the name of any part,
 * skills included (SPEC.md, Limits). What would be lost, by cutting or because nothing of it is a
 * letter or digit, is told apart by 8 hex digits of its SHA-256. @returns '' for empty text.
 */
export function slug(text: string): string {
  const plain = text
    .normalize('NFKD')
    .replace(/\p{Mark}/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')
  if (plain === '' && text.trim() === '') return ''
  if (plain !== '' && plain.length <= MAX) return plain
  const hash = createHash('sha256').update(text).digest('hex').slice(0, HASH)
  return plain === '' ? hash : `${plain.slice(0, MAX - HASH - 1).replace(/-$/, '')}-${hash}`
}

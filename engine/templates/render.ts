/** What expressions stand for: texts, whole specs, and whether an object is planned. */
import { type Expression, parseText } from './expression.ts'
import { slug } from './slug.ts'

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

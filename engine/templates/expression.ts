/**
 * The expressions of templates, `{{ … }}` in any text (catalog/README.md). They read values and
 * decide nothing: no code, no loops, no access to anything but the parameters, so that neither a
 * template nor a parameter can reach further. Rendering works on parsed values, never on YAML text:
 * no parameter can add a field.
 */
import { fail } from '../errors.ts'

type Literal = string | number | boolean

export type Term =
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

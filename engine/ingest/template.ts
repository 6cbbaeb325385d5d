/**
 * Summary texts (SPEC.md, Webhook connector config: text_template). A template holds {field}
 * placeholders, dots for nested values, and nothing else: no code, no formats, so that no payload or
 * template can make it throw.
 */
import { compileField } from './field.ts'

/** Characters of a text made from a template. */
export const TEXT_MAX = 4_096
const SUMMARY_MAX = 500

/**
 * Compiles a template into a function of the payload: one line, at most 4,096 characters. `{{` and `}}`
 * are literal braces, a missing field is empty text, an object or list is compact JSON.
 */
export function compileTemplate(template: string): (context: unknown) => string {
  const parts = parseTemplate(template).map((part) =>
    typeof part === 'string' ? part : compileField(part.field),
  )
  return (context) => {
    let text = ''
    for (const part of parts) {
      text += typeof part === 'string' ? part : textOf(part(context))
      if (text.length > TEXT_MAX) break
    }
    return oneLine(text, TEXT_MAX)
  }
}

/** The fields a template names. */
export function templateFields(template: string): string[] {
  return parseTemplate(template).flatMap((part) => (typeof part === 'string' ? [] : [part.field]))
}

/** Literal text and fields, in order. */
export function parseTemplate(template: string): (string | { field: string })[] {
  const parts: (string | { field: string })[] = []
  let rest = 0
  for (const match of template.matchAll(/\{\{|\}\}|\{([^{}]*)\}/g)) {
    if (match.index > rest) parts.push(template.slice(rest, match.index))
    if (match[0] === '{{') parts.push('{')
    else if (match[0] === '}}') parts.push('}')
    else parts.push({ field: match[1]!.trim() })
    rest = match.index + match[0].length
  }
  if (rest < template.length) parts.push(template.slice(rest))
  return parts
}

/** What a payload says without a template: text as it is, else compact JSON; at most 500 characters. */
export function summarise(value: unknown): string {
  return oneLine(typeof value === 'string' ? value : (JSON.stringify(value) ?? ''), SUMMARY_MAX)
}

/** Text on one line without NUL, at most `max` characters, never half a surrogate pair. */
export function oneLine(text: string, max: number): string {
  const cut =
    text.length > max ? text.slice(0, isHighSurrogate(text.charCodeAt(max - 1)) ? max - 1 : max) : text
  // One look for nearly all texts, which need no change.
  if (!SPECIAL.test(cut)) return cut
  return cut.replace(LINE_BREAK, ' ').replace(UNSTORABLE, '\ufffd')
}

const SPECIAL = /[\0\n\v\f\r\u0085\u2028\u2029\ud800-\udfff]/
const LINE_BREAK = /\r\n|[\n\v\f\r\u0085\u2028\u2029]/g
const UNSTORABLE = /[\0\p{Surrogate}]/gu

const isHighSurrogate = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdbff

function textOf(value: unknown): string {
  if (value === undefined || value === null) return ''
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

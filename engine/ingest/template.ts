/**
 * Summary texts. A template holds {field} placeholders, dots for nested values, and nothing else:
 * no code, no formats, so that no payload or template can make it throw.
 */
import { compileField } from './field.ts'

const TEXT_MAX = 4_096
const SUMMARY_MAX = 500

/** `{{` and `}}` are literal braces; a missing field is empty text. */
export function compileTemplate(template: string): (context: unknown) => string {
  const parts: (string | ((context: unknown) => unknown))[] = []
  let rest = 0
  for (const match of template.matchAll(/\{\{|\}\}|\{([^{}]*)\}/g)) {
    if (match.index > rest) parts.push(template.slice(rest, match.index))
    if (match[0] === '{{') parts.push('{')
    else if (match[0] === '}}') parts.push('}')
    else parts.push(compileField(match[1]!.trim()))
    rest = match.index + match[0].length
  }
  if (rest < template.length) parts.push(template.slice(rest))
  return (context) => {
    let text = ''
    for (const part of parts) {
      text += typeof part === 'string' ? part : textOf(part(context))
      if (text.length > TEXT_MAX) break
    }
    return oneLine(text, TEXT_MAX)
  }
}

/** Compact JSON, cut. */
export function summarise(value: unknown): string {
  return oneLine(typeof value === 'string' ? value : JSON.stringify(value), SUMMARY_MAX)
}

/** Text on one line without NUL, at most `max` characters, never half a surrogate pair. */
export function oneLine(text: string, max: number): string {
  const cut = text.length > max ? text.slice(0, /[\ud800-\udbff]/.test(text[max - 1]!) ? max - 1 : max) : text
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for.
  if (!/[\u0000\r\n\ud800-\udfff]/.test(cut)) return cut
  return cut
    .replace(/\r\n|\r|\n/g, ' ')
    .replaceAll('\0', '\ufffd')
    .replace(/\p{Surrogate}/gu, '\ufffd')
}

function textOf(value: unknown): string {
  if (value === undefined || value === null) return ''
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

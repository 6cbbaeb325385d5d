/**
 * Where a text stops being JSON (RFC 8259). JSON.parse says it only sometimes, and quotes the
 * content, which may be a secret. Used on the error path alone.
 */

const SPACE = /[ \t\r\n]*/y
const PUNCTUATION = '{}[],:'
const LITERAL = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y
// Printable text at a stretch, so that a long string costs few steps.
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters end a JSON string.
const STRING = /"[^"\\\u0000-\u001f]*(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\u0000-\u001f]*)*"/y

type Expected = 'value' | 'value or ]' | 'name' | 'name or }' | 'colon' | 'comma or end'

/**
 * @param text what JSON.parse refused.
 * @returns index of the first token that cannot stand there; the text's length where it ends too soon.
 */
export function faultAt(text: string): number {
  const open: string[] = []
  let expected: Expected = 'value'
  let at = skip(SPACE, text, 0)
  while (at < text.length) {
    const end = tokenEnd(text, at)
    const next: Expected | null = end === at ? null : step(expected, text[at]!, open)
    if (next === null) return at
    expected = next
    at = skip(SPACE, text, end)
  }
  return at
}

/** Index after the token at `at`; `at` itself when none begins there. */
function tokenEnd(text: string, at: number): number {
  const first = text[at]!
  if (PUNCTUATION.includes(first)) return at + 1
  return skip(first === '"' ? STRING : LITERAL, text, at)
}

function skip(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at
  return pattern.test(text) ? pattern.lastIndex : at
}

/** What may follow a token, told by its first character; null where the token cannot stand. */
function step(expected: Expected, token: string, open: string[]): Expected | null {
  if (expected === 'colon') return token === ':' ? 'value' : null
  if (expected === 'comma or end') {
    if (token === ',' && open.length > 0) return open.at(-1) === '{' ? 'name' : 'value'
    return close(token, open)
  }
  if (expected === 'name' || expected === 'name or }') {
    if (token === '"') return 'colon'
    return expected === 'name or }' ? close(token, open) : null
  }
  if (token === '{' || token === '[') {
    open.push(token)
    return token === '{' ? 'name or }' : 'value or ]'
  }
  if (expected === 'value or ]' && token === ']') return close(token, open)
  return PUNCTUATION.includes(token) ? null : 'comma or end'
}

function close(token: string, open: string[]): Expected | null {
  if (token !== (open.at(-1) === '{' ? '}' : ']') || open.length === 0) return null
  open.pop()
  return 'comma or end'
}

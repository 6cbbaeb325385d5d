/**
 * Scalars as YAML text that reads back to the same value here, and to the same kind of value in
 * readers of YAML 1.1, to which `on` is true and `2026-11-20` a date.
 */

/** Where a scalar is written: in a flow collection the signs of the collection end a plain one. */
export interface ScalarPlace {
  inFlow: boolean
}

/** Words and numbers that some reader takes for something else than text. */
const RESERVED = [/^(~|null|true|false|yes|no|on|off|y|n|nan|inf)$/i, /^[-+]?\.?[0-9]/, /^[-+]?\.(inf|nan)$/i]

/** Begins with a digit and is no number to anyone. */
const DURATION = /^[0-9]+(\.[0-9]+)?(ms|s|m|h|d|w)$/

/** What a plain scalar may consist of at all; anything else is quoted. */
const PLAIN = /^[\p{L}\p{N}_./$(+;][^\p{C}\p{Zl}\p{Zp}]*$/u

/** Characters that a double-quoted scalar shows as escapes although JSON does not. */
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Cn}\p{Co}\p{Zl}\p{Zp}\u00a0]/gu

/** A string, number, boolean or null on one line. */
export function scalarText(value: unknown, { inFlow }: ScalarPlace): string {
  if (typeof value !== 'string') return Object.is(value, -0) ? '0' : String(value)
  return isPlain(value, inFlow) ? value : doubleQuoted(value)
}

/** Whether a string needs no quotes. */
export function isPlain(text: string, inFlow: boolean): boolean {
  if (DURATION.test(text)) return true
  if (!PLAIN.test(text) || RESERVED.some((form) => form.test(text))) return false
  if (/[\s:]$|: |\s#/.test(text)) return false
  // A colon before a sign of the collection ends a key there.
  return !(inFlow && /[,[\]{}]|:/.test(text))
}

/**
 * JSON's escapes are YAML's, but for characters beyond U+FFFF, which JSON writes as two: readers built on libyaml
 * refuse half of a pair. What cannot be seen is escaped as well.
 */
export const doubleQuoted = (text: string): string =>
  JSON.stringify(text).replace(INVISIBLE, (char) => {
    const code = char.codePointAt(0)!.toString(16)
    return char.length === 1 ? `\\u${code.padStart(4, '0')}` : `\\U${code.padStart(8, '0')}`
  })

/** The same in a file that is JSON: beyond U+FFFF a character stands for itself, which both can read. */
export const jsonQuoted = (text: string): string =>
  JSON.stringify(text).replace(INVISIBLE, (char) =>
    char.length === 1 ? `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}` : char,
  )

/** Single quotes hold a line of visible characters. */
export function singleQuoted(text: string): string | null {
  return /[\p{C}\p{Zl}\p{Zp}]/u.test(text) ? null : `'${text.replaceAll("'", "''")}'`
}

/**
 * A string with line breaks as a literal block: the header, and the lines without their indentation.
 * @returns null when a literal block cannot hold it to the letter
 */
export function literalLines(text: string, step: number): { header: string; lines: string[] } | null {
  if (!text.includes('\n') || /[^\P{C}\n\t]|[\p{Zl}\p{Zp}]/u.test(text)) return null
  // More than one line break at the end would need to keep the blank lines that follow the value.
  if (/\n\n$/.test(text) || !/\S/.test(text)) return null
  const lines = text.replace(/\n$/, '').split('\n')
  if (/^\s*$/.test(lines.at(-1)!)) return null
  const indicator = /^[ \t\n]/.test(text) ? String(step) : ''
  return { header: `|${indicator}${text.endsWith('\n') ? '' : '-'}`, lines }
}

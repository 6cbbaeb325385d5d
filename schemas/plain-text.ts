/**
 * Text of unknown origin as it is safe to read: control bytes would move a cursor, set a title or paste input on a
 * terminal, and bidirectional controls show text in another order than it is. Both are shown as escapes.
 */

/** C0, DEL, C1, bidirectional controls and marks, line separators, the byte order mark. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
const UNSAFE = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g
const escaped = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`

/** Text of one line: unsafe characters become \uXXXX. */
export const escapeLine = (text: string): string => text.replace(UNSAFE, escaped)

/** As `escapeLine`, keeping line breaks and tabs. */
export const escapeText = (text: string): string =>
  text.replace(UNSAFE, (character) =>
    character === '\n' || character === '\t' ? character : escaped(character),
  )

/** A word as a POSIX shell takes it, so that a name cannot become a command. */
export const shellQuote = (text: string): string =>
  /^[A-Za-z0-9_./:=@%+,-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`

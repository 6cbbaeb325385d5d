/**
 * Text of unknown origin as it is safe to read: control bytes would move a cursor, set a title or paste input on a
 * terminal, and bidirectional controls show text in another order than it is. Both are shown as escapes.
 */

/**
 * C0, DEL, C1, bidirectional controls and marks, line separators, the byte order mark; and tags, which nobody sees and a
 * model reads as letters.
 */
const UNSAFE =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
  /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]|[\u{e0000}-\u{e007f}]/gu
const escaped = (character: string): string => {
  const code = character.codePointAt(0)!.toString(16)
  return code.length > 4 ? `\\u{${code}}` : `\\u${code.padStart(4, '0')}`
}

/** Text of one line: unsafe characters become \uXXXX, those beyond four digits \u{XXXXX}. */
export const escapeLine = (text: string): string => text.replace(UNSAFE, escaped)

/** As `escapeLine`, keeping line breaks and tabs. */
export const escapeText = (text: string): string =>
  text.replace(UNSAFE, (character) =>
    character === '\n' || character === '\t' ? character : escaped(character),
  )

/** A word as a POSIX shell takes it, so that a name cannot become a command. */
export const shellQuote = (text: string): string =>
  /^[A-Za-z0-9_./:=@%+,-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`

const HIDDEN = /[\ue021-\ue07e]/g

/**
 * A text of Markdown as one line: without what is markup, and with what only looks like it. An underscore within a word is
 * a character of a name, and a star between spaces multiplies (CommonMark 0.31, section 6.2).
 */
export const textOfMarkdown = (markdown: string): string =>
  markdown
    // What is escaped is no markup: it is hidden among characters that nobody writes until all markup is gone.
    .replace(/\\([!-/:-@[-`{-~])/g, (_, character: string) =>
      String.fromCharCode(0xe000 + character.charCodeAt(0)),
    )
    .replace(/^ {0,3}#{1,6}\s+/gm, '')
    .replace(/^\s*\* +/gm, '')
    .replace(/(?<![\w*])(\*{1,3})(?=\S)(.+?)(?<=\S)\1(?![\w*])/gs, '$2')
    .replace(/(?<!\w)_(?=[^\s_])(.+?)(?<=[^\s_])_(?!\w)/gs, '$1')
    .replace(/(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)/gs, '$2')
    .replace(HIDDEN, (character) => String.fromCharCode(character.charCodeAt(0) - 0xe000))
    .replace(/\s+/g, ' ')
    .trim()
    .replace(UNSAFE, escaped)

const HEADLINE_MAX = 100

/** The first heading, bold lead, or sentence of a note; empty of an empty one. */
export function headlineOf(note: string): string {
  const line = note.split('\n').find((text) => text.trim() !== '') ?? ''
  const bold = /^\*\*(.+?)\*\*/.exec(line.trim())?.[1]
  const text = bold === undefined ? textOfMarkdown(line) : escapeLine(bold)
  const sentence = /^.+?[.!?](?=\s|$)/.exec(text)?.[0] ?? text
  return sentence.length > HEADLINE_MAX ? `${sentence.slice(0, HEADLINE_MAX - 1)}…` : sentence
}

const SCHEME = /^[a-z][a-z0-9+.-]*:(\/\/)?/i

/**
 * Slack's text as people see it (docs.slack.dev/messaging/formatting-message-text): what stands in angle brackets is a link
 * or a mention, with the name to be shown behind a bar, and `&`, `<` and `>` themselves are escaped.
 * @example textOfSlack('<https://ci.example/1|build 1> &amp; <@U1|mara>') // 'build 1 (https://ci.example/1) & @mara'
 */
export const textOfSlack = (text: string): string =>
  text
    .replaceAll(
      /<([@#!]?)([^<>|\s][^<>|\n]*)(?:\|([^<>\n]*))?>/g,
      (_, sign: string, of: string, shown = '') =>
        sign === '' ? linkText(of, shown) : mentionText(sign, of, shown),
    )
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&')

/** The name of a link, and where it leads unless the name says that. */
function linkText(link: string, shown: string): string {
  const address = link.replace(SCHEME, '')
  if (shown === '') return link.startsWith('mailto:') ? address : link
  return [link, address].includes(shown) ? shown : `${shown} (${link})`
}

/** `@here`, `@name` or `#name`; the id where no name is given. Dates are told by what is shown for them. */
function mentionText(sign: string, of: string, shown: string): string {
  if (of.startsWith('date^')) return shown
  const name = shown === '' ? of.replace(/^subteam\^/, '') : shown.replace(/^[@#]/, '')
  return `${sign === '#' ? '#' : '@'}${name}`
}

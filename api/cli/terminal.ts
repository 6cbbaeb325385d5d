/**
 * What the commands write to and read from, and how text of unknown origin reaches a terminal.
 * Event text can hold control bytes that move the cursor, set the title or paste input, and
 * bidirectional controls that show text in another order than it is; both are shown as escapes.
 */
import { styleText } from 'node:util'
import { escapeLine, escapeText } from '../../schemas/plain-text.ts'
import type { Environment } from '../environment.ts'
import { CliError, EXIT } from './exit.ts'

export { escapeLine, escapeText } from '../../schemas/plain-text.ts'

/** The outside world of a command; tests pass their own. */
export interface Io {
  out(text: string): void
  err(text: string): void
  stdin: AsyncIterable<Uint8Array>
  /** True when `out` is a terminal. */
  isTerminal: boolean
  colour: boolean
  env: Environment
  fetch: typeof fetch
  /** Resolves after `ms`, or at once when `signal` is aborted. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
  /** Asks a person; false where none is at the terminal. */
  confirm(question: string): Promise<boolean>
  /** Opens an address in the person's browser; `failed` is told where none can be opened. */
  browse(url: string, failed: (reason: string) => void): void
  /** Aborted when the person asks the command to end. */
  interrupted: AbortSignal
}

/**
 * Asks a person at the terminal.
 * @param input where the answer is typed; one that is no terminal is not asked
 * @param output where the question is shown: beside what the command prints, which may go into a file
 * @param interrupted aborted at Ctrl+C before the question is shown
 * @returns false where they say no, nobody is there, or the input ends (Ctrl+D).
 * @throws CliError 130 at Ctrl+C
 */
export async function confirmOn(
  input: NodeJS.ReadableStream & { isTTY?: boolean },
  output: NodeJS.WritableStream,
  question: string,
  interrupted: AbortSignal,
): Promise<boolean> {
  if (!input.isTTY) return false
  const { createInterface } = await import('node:readline/promises')
  const prompt = createInterface({ input, output })
  const [interrupt, ended] = [new AbortController(), new AbortController()]
  prompt.on('SIGINT', () => interrupt.abort())
  // Ctrl+D.
  prompt.on('close', () => ended.abort())
  const stopped = AbortSignal.any([interrupted, interrupt.signal])
  const signal = AbortSignal.any([stopped, ended.signal])
  try {
    return /^y(es)?$/i.test((await prompt.question(`${question} [y/N] `, { signal })).trim())
  } catch (error) {
    if (!signal.aborted) throw error
    output.write('\n')
    if (stopped.aborted) throw new CliError('interrupted', EXIT.interrupted)
    return false
  } finally {
    prompt.close()
  }
}

/**
 * The API's JSON as it came, ending in a line break. On a terminal, characters that would act on
 * it are written as JSON escapes: the same value, harmless to look at.
 */
export function printJson(io: Io, text: string): void {
  const safe = io.isTerminal ? escapeText(text) : text
  io.out(safe.endsWith('\n') ? safe : `${safe}\n`)
}

/** Text of lines as it came; on a terminal, characters that would act on it are shown as escapes. */
export function printText(io: Io, text: string): void {
  io.out(io.isTerminal ? escapeText(text) : text)
}

export type Style = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'blue' | 'magenta' | 'cyan'

/** `text` in a style where the terminal shows colour. */
export function paint(io: Pick<Io, 'colour'>, style: Style, text: string): string {
  return io.colour ? styleText(style, text, { validateStream: false }) : text
}

const SOURCE_STYLES: readonly Style[] = ['cyan', 'magenta', 'yellow', 'green', 'blue']

/** The same source always gets the same colour. */
export function sourceStyle(name: string): Style {
  let sum = 0
  for (const character of name) sum = (sum * 31 + character.charCodeAt(0)) >>> 0
  return SOURCE_STYLES[sum % SOURCE_STYLES.length]!
}

/** What takes two columns of a terminal: letters of East Asia in full width, and emoji. */
const WIDE =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Hangul}\p{Emoji_Presentation}\u3000-\u303e\u30a0-\u30ff\u31f0-\u31ff\uff01-\uff60\uffe0-\uffe6]|\ufe0f/u
const NARROW = /^[\x20-\x7e]*$/
const CHARACTERS = new Intl.Segmenter()

/** How many columns of a terminal a text takes. */
export function widthOf(text: string): number {
  if (NARROW.test(text)) return text.length
  let width = 0
  for (const { segment } of CHARACTERS.segment(text)) width += WIDE.test(segment) ? 2 : 1
  return width
}

/** A text with blanks behind it, so that it takes so many columns. */
export const padTo = (text: string, width: number): string =>
  text + ' '.repeat(Math.max(0, width - widthOf(text)))

/** A column: its heading, the cell of a row, and its style. */
export interface Column<T> {
  title: string
  cell(row: T): string
  style?(row: T): Style | undefined
}

/** Rows in aligned columns with a heading; cells are escaped, styles do not count as width. */
export function table<T>(io: Pick<Io, 'colour'>, columns: readonly Column<T>[], rows: readonly T[]): string {
  const cells = rows.map((row) => columns.map((column) => escapeLine(column.cell(row))))
  const widths = columns.map((column, i) =>
    cells.reduce((most, line) => Math.max(most, widthOf(line[i]!)), column.title.length),
  )
  const last = columns.length - 1
  const pad = (text: string, i: number) => (i === last ? text : padTo(text, widths[i]!))
  const heading = columns.map((column, i) => paint(io, 'dim', pad(column.title, i))).join('  ')
  const lines = cells.map((line, r) =>
    line
      .map((text, i) => {
        const style = columns[i]!.style?.(rows[r]!)
        return style ? paint(io, style, pad(text, i)) : pad(text, i)
      })
      .join('  '),
  )
  return `${[heading, ...lines].map((line) => line.trimEnd()).join('\n')}\n`
}

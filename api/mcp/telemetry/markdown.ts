/** Answers as Markdown within a size: tables whose cells are what others sent, and what was left out in words. */

/** Characters of one answer at most; about 4,000 tokens. */
export const ANSWER_MAX = 16_000
const CELL_MAX = 160

/**
 * A cell of a table: one line, without what would end it or begin markup. What producers sent is data, so that a link,
 * an image or a heading in it is shown as it is written.
 */
export function cell(value: string | number | null | undefined, max = CELL_MAX): string {
  if (value === null || value === undefined || value === '') return '–'
  const line = String(value)
    .replace(/[\p{Cc}\p{Cf}\u2028\u2029]+/gu, ' ')
    .trim()
  const short = line.length > max ? `${line.slice(0, max - 1)}…` : line
  return short.replace(/[\\`*_[\]<>|!]/g, '\\$&')
}

/** An id as code, to copy; what is no plain id is a cell like others. */
export const code = (id: string | null): string =>
  id !== null && /^[\w.:@/-]{1,200}$/.test(id) ? `\`${id}\`` : cell(id)

export interface Table {
  columns: readonly string[]
  rows: readonly (readonly string[])[]
}

/**
 * A heading, a table as far as it fits, and notes.
 * @param rest what to do where rows are left out, given how many are shown
 * @param next where the next page is, if there is one; it begins behind all rows, so that it is not said where some are left out
 */
export function answer(
  heading: string,
  { columns, rows }: Table,
  notes: readonly string[],
  rest: (shown: number) => string,
  next = '',
): string {
  const head = [heading, '', `| ${columns.join(' | ')} |`, `|${columns.map(() => '---').join('|')}|`]
  const after = notes.filter((note) => note !== '')
  const room = ANSWER_MAX - [...head, ...after].join('\n').length - 400
  const lines: string[] = []
  let size = 0
  for (const row of rows) {
    const line = `| ${row.join(' | ')} |`
    size += line.length + 1
    if (size > room) break
    lines.push(line)
  }
  const left = rows.length - lines.length
  const cut =
    left > 0 ? [`${left} of ${rows.length} rows are left out for length. ${rest(lines.length)}`] : []
  if (left === 0 && next !== '') after.push(next)
  return [...head, ...lines, '', ...cut, ...after].join('\n').trimEnd()
}

/** Milliseconds as people say them. */
export function duration(ms: number): string {
  if (ms < 1) return `${round(ms * 1_000)} µs`
  if (ms < 1_000) return `${round(ms)} ms`
  return ms < 120_000 ? `${round(ms / 1_000)} s` : `${round(ms / 60_000)} min`
}

/** A number to four digits. */
export function round(value: number | null): string {
  if (value === null) return '–'
  return Number.isInteger(value) ? String(value) : String(Number(value.toPrecision(4)))
}

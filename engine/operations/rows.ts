/**
 * Answers that hold stored payloads, as JSON text: `raw` is text as received and is spliced in as it is, because
 * parsing and writing it again would change large numbers and drop repeated keys.
 */
import type { ReadAnswer, Row } from '../calls.ts'

/** A row as JSON text, its payload byte for byte. */
export function rowJson(row: Row): string {
  const { raw, ...rest } = row
  const text = JSON.stringify(rest)
  return raw === undefined ? text : `${text.slice(0, -1)},"raw":${raw}}`
}

export function rowsJson(rows: readonly Row[]): string {
  return `[${rows.map(rowJson).join(',')}]`
}

export function readJson(answer: ReadAnswer): string {
  const { rows, ...rest } = answer
  return `${JSON.stringify(rest).slice(0, -1)},"rows":${rowsJson(rows)}}`
}

/**
 * What makes two events repeats of one another: source, type, every label that names no request, and the text but
 * for ids and for numbers that measure. A number that says what happened, such as a status or a version, is part of
 * the text: 200 and 500 are no repeats, 48 ms and 51 ms are.
 */

import type { Row } from '../calls.ts'
import { SPAN_ID_LABELS, SPAN_PARENT_LABELS, TRACE_ID_LABELS } from '../context/index.ts'
import { pointOf } from './points.ts'

/** Of a request, or an event: as many values as events. */
const OF_REQUESTS = new Set([...TRACE_ID_LABELS, ...SPAN_ID_LABELS, ...SPAN_PARENT_LABELS])

const PIECES = new RegExp(
  [
    // A long id: hexadecimal, with dashes or without; an address of the network.
    String.raw`(?<id>\b[0-9a-f]{8}(?:-?[0-9a-f]{4,})+\b|\b\d{1,3}(?:\.\d{1,3}){3}\b)`,
    // What says what happened: a version; a number after a word such as status, or after a path or a protocol.
    String.raw`(?<said>\bv?\d+\.\d+\.\d+[\w.+-]*|\b(?:status|code|http|exit(?:ed)?|rc|errno|signal|level|severity|priority|returned|responded|answered|replica|shard|partition|version|attempt of)(?:[\s_-]?code|[\s_-]?status)?\W{1,3}(?:with\s)?\d+\b(?!\s?(?:ms|s|us|ns|%|[KMG]i?B|bytes))|\bHTTP\/[\d.]+"?\s+\d{3}\b|(?:(?<=\s)|^)\/\S*\s+[1-5]\d\d\b(?!\s?(?:ms|s|us|ns|%|[KMG]i?B|bytes)))`,
    // A word with digits in it, and a number.
    String.raw`(?<mixed>\b(?=\w*\d)(?=\w*[A-Za-z])\w{6,}\b)|(?<number>-?\d+(?:\.\d+)?)`,
  ].join('|'),
  'gi',
)

export interface Shape {
  /** Equal for repeats. */
  key: string
  /** Numbers that measure, in the order of the text. */
  numbers: number[]
}

/** @returns what an event is a repeat of, and its numbers */
export function shapeOf(row: Row): Shape {
  const point = pointOf(row)
  if (point) return { key: point.series, numbers: [point.value] }
  const { numbers, text } = blanked(row.text)
  const labels = Object.entries(row.labels)
    .filter(([name, value]) => typeof value === 'string' && !OF_REQUESTS.has(name))
    .sort(([a], [b]) => (a < b ? -1 : 1))
  return { key: [row.source, row.event_type, JSON.stringify(labels), text].join('\0'), numbers }
}

function blanked(whole: string): { text: string; numbers: number[] } {
  const numbers: number[] = []
  const text = whole.replace(PIECES, (_piece, ...rest) => {
    const { said, number } = rest.at(-1) as Record<string, string | undefined>
    if (said !== undefined) return said
    if (number !== undefined) numbers.push(Number(number))
    return number === undefined ? '#' : '0'
  })
  return { text, numbers }
}

/** Least and most of one number of a fold; `name` of a label that has it, absent: the next number of the text. */
export interface Range {
  name?: string
  least: number
  most: number
}

/** Ranges of the numbers of repeats, kept as they come. */
export class Ranges {
  private readonly texts: Range[] = []
  private readonly labels = new Map<string, Range>()

  add(row: Row, numbers: readonly number[]): void {
    for (const [i, value] of numbers.entries()) {
      this.texts[i] ??= { least: value, most: value }
      widen(this.texts[i], value)
    }
    for (const [name, value] of Object.entries(row.labels)) {
      if (typeof value !== 'number') continue
      const range = this.labels.get(name) ?? { name, least: value, most: value }
      this.labels.set(name, range)
      widen(range, value)
    }
  }

  /** Those that differ; a number that a label repeats is told once. */
  told(): Range[] {
    const named = [...this.labels.values()]
    const texts = this.texts.filter(
      ({ least, most }) => !named.some((one) => one.least === least && one.most === most),
    )
    return [...texts, ...named].filter(({ least, most }) => least !== most).slice(0, RANGES_MAX)
  }
}

const RANGES_MAX = 4

function widen(range: Range, value: number): void {
  range.least = Math.min(range.least, value)
  range.most = Math.max(range.most, value)
}

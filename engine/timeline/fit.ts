/**
 * Fits events into a budget of tokens. Where all of them fit they are given as they are. Where they do not,
 * repeats (fold.ts) become one row with their count, first and last, and the ranges of their numbers; errors and
 * what is rare are kept before what is common, because the one deploy line explains the thousand requests. The
 * order is a function of the rows alone, so that the next page goes on where this one stopped and the pages
 * together hold every event once.
 */

import type { Row } from '../calls.ts'
import { cautiousTokens } from '../context/index.ts'
import { Ranges, shapeOf } from './fold.ts'
import { foldOf, pointOf } from './points.ts'
import { renderRow } from './present.ts'

/** Tokens, counted cautiously. */
export const tokensOf = cautiousTokens

/** Types of errors and warnings. */
const TROUBLE = /^(e|f|w|warn(ing)?|err(or)?|severe|fatal|crit(ical)?|panic|emerg|alert|failure|failed)$/i

interface Group {
  key: string
  count: number
  oldest: { id: string; time: string }
  newest: Row
  ranges: Ranges
}

export interface Rendering {
  /** A row as it will be sent. */
  lineOf(row: Row): string
  /** Its payload, where it is sent too. */
  rawOf?(row: Row): Row
}

export const PLAIN: Rendering = { lineOf: renderRow }

export interface Fitted {
  /** Rows kept, in no particular order. */
  rows: Row[]
  /** Groups given so far, of this chunk: where the next page begins. */
  taken: number
  /** True when this chunk has more groups. */
  more: boolean
  tokens: number
  /** Rows of this chunk left for later pages, by source and type. */
  left: { source: string; eventType: string; count: number }[]
}

/** The rows of one chunk, as they are read. */
export class Fitting {
  private readonly groups = new Map<string, Group>()
  /** All of them, as long as they fit unfolded. */
  private plain: Row[] | null = []
  private tokens = 0
  private readonly references: Row[] = []

  /** @param budget tokens for rows, above 0. @param foldsPoints series are one row even where all would fit */
  constructor(
    private readonly budget: number,
    private readonly rendering: Rendering = PLAIN,
    private readonly foldsPoints = false,
  ) {}

  /** Kinds of events so far. */
  get size(): number {
    return this.groups.size
  }

  add(row: Row): void {
    const isPoint = this.foldsPoints && row.labels.signal === 'metrics' && pointOf(row) !== null
    if (this.plain && !isPoint) {
      const whole = this.whole(row)
      this.tokens += this.costOf(whole)
      if (this.tokens > this.budget) this.plain = null
      else this.plain.push(whole)
    }
    if (row.reference) this.references.push(row)
    else this.group(row)
  }

  private group(row: Row): void {
    const { key, numbers } = shapeOf(row)
    const { id, event_time: time } = row
    const known = this.groups.get(key)
    if (!known) {
      const ranges = new Ranges()
      ranges.add(row, numbers)
      this.groups.set(key, { key, count: 1, oldest: { id, time }, newest: row, ranges })
      return
    }
    known.count++
    known.ranges.add(row, numbers)
    if (isBefore({ id, time }, known.oldest)) known.oldest = { id, time }
    if (isBefore({ id: known.newest.id, time: known.newest.event_time }, { id, time })) known.newest = row
  }

  /** @param skip groups that earlier pages gave. */
  fitted(skip: number): Fitted {
    const whole = skip === 0 ? this.unfolded() : null
    if (whole) return whole
    const groups = this.inOrder()
    const kept: Row[] = []
    let tokens = 0
    let taken = skip
    for (; taken < groups.length; taken++) {
      let row = this.whole(rowOf(groups[taken]!))
      let cost = this.costOf(row)
      if (cost > this.budget && kept.length === 0) {
        row = this.cutToFit(row)
        cost = this.costOf(row)
      }
      if (tokens + cost > this.budget) break
      kept.push(row)
      tokens += cost
    }
    return {
      rows: kept,
      taken,
      more: taken < groups.length,
      tokens,
      left: groups.slice(taken).map(({ newest, count }) => ({
        ...{ source: newest.source, eventType: newest.event_type, count },
      })),
    }
  }

  /** All of them as they are, but for the points of a series; null where they do not fit. */
  private unfolded(): Fitted | null {
    if (!this.plain) return null
    const points = this.foldsPoints
      ? [...this.groups.values()]
          .filter(({ newest }) => pointOf(newest))
          .map((group) => this.whole(rowOf(group)))
      : []
    const tokens = points.reduce((sum, row) => sum + this.costOf(row), this.tokens)
    if (tokens > this.budget) return null
    return { rows: [...this.plain, ...points], taken: 0, more: false, tokens, left: [] }
  }

  /**
   * Documents; then in turns errors, the most common first, and all else, what is rare first: so that neither a
   * long tail of single lines nor many kinds of errors push out the other. A total order.
   */
  private inOrder(): Group[] {
    const kinds = new Map<string, number>()
    for (const group of this.groups.values())
      kinds.set(kindOf(group), (kinds.get(kindOf(group)) ?? 0) + group.count)
    // One line of a kind that has thousands is no rare event.
    const rarity = (group: Group) => Math.log2(1 + group.count) + Math.log2(1 + kinds.get(kindOf(group))!)
    const byAge = (a: Group, b: Group) =>
      compare(b.newest.event_time, a.newest.event_time) || numberOf(a.oldest.id) - numberOf(b.oldest.id)
    const all = [...this.groups.values()]
    const errors = all.filter(isTrouble).sort((a, b) => b.count - a.count || byAge(a, b))
    const others = all
      .filter((group) => !isTrouble(group))
      .sort((a, b) => rarity(a) - rarity(b) || byAge(a, b))
    const references = this.references.map(
      (row): Group => ({
        ...{ key: row.id, count: 1, newest: row, ranges: new Ranges() },
        oldest: { id: row.id, time: row.event_time },
      }),
    )
    return [...references, ...inTurn(others, errors)]
  }

  private whole(row: Row): Row {
    return this.rendering.rawOf?.(row) ?? row
  }

  /** What a row takes: its lines, and its payload where asked for. */
  private costOf(row: Row): number {
    return (
      tokensOf(`${this.rendering.lineOf(row)}\n`) + (row.raw === undefined ? 0 : tokensOf(`${row.raw}\n`))
    )
  }

  /**
   * An event larger than the whole budget would stop the paging; its text is cut with a note of
   * where the whole is, and its payload is left to GET /api/events/{id}.
   */
  private cutToFit(row: Row): Row {
    const { raw: _raw, ...bare } = row
    if (this.costOf(bare) <= this.budget) return bare
    const note = ` … [cut; the whole is event ${row.id}]`
    const [line = ''] = row.text.split('\n')
    const cut = (length: number): Row => ({ ...bare, labels: {}, text: line.slice(0, length) + note })
    let low = 0
    let high = Math.min(line.length, this.budget * CHARACTERS_PER_TOKEN)
    while (low < high) {
      const middle = Math.ceil((low + high) / 2)
      if (this.costOf(cut(middle)) <= this.budget) low = middle
      else high = middle - 1
    }
    return cut(/[\uD800-\uDBFF]/.test(line[low - 1] ?? '') ? low - 1 : low)
  }
}

/** So many characters surely hold a token. */
const CHARACTERS_PER_TOKEN = 8

/**
 * The same of rows that are at hand.
 * @param rows one chunk of the timeline. @param budget tokens for rows, above 0.
 * @param skip groups that earlier pages gave.
 */
export function fitRows(rows: readonly Row[], budget: number, skip: number, rendering = PLAIN): Fitted {
  const fitting = new Fitting(budget, rendering)
  for (const row of rows) fitting.add(row)
  return fitting.fitted(skip)
}

const isTrouble = ({ newest }: Group): boolean => TROUBLE.test(newest.event_type)
const kindOf = ({ newest }: Group): string => `${newest.source}\0${newest.event_type}`

/** One of each, as long as there are both. */
function inTurn<T>(a: readonly T[], b: readonly T[]): T[] {
  const both: T[] = []
  for (let i = 0; i < Math.max(a.length, b.length); i++) both.push(...a.slice(i, i + 1), ...b.slice(i, i + 1))
  return both
}

function rowOf({ count, oldest, newest, ranges }: Group): Row {
  return count === 1 ? newest : { ...newest, fold: foldOf(oldest, newest, count, ranges.told()) }
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)
const numberOf = (id: string): number => Number(id.slice(4))

/** By time, then by arrival. */
function isBefore(a: { id: string; time: string }, b: { id: string; time: string }): boolean {
  return a.time < b.time || (a.time === b.time && numberOf(a.id) < numberOf(b.id))
}

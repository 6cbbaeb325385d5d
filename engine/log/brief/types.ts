/** What a brief is made of, and what it is: data in, data out, no store. */

import type { SourceGap } from '../../../schemas/types.ts'
import { cautiousTokens } from './words.ts'

/** What a tracer says of a span. */
export interface SpanFacts {
  /** Ids; of a span without a parent that one's is empty. */
  trace: string
  id: string
  parent: string
  /** Epoch ms. */
  begin: number
  end: number
  /** Whether it ended with an error. */
  failed: boolean
}

/** One event as the brief looks at it. */
export interface ContextRow {
  /** As it is cited: evt_12. */
  id: string
  source: string
  /** Level of a log line, name of a metric, kind of a change. */
  type: string
  /** Event time, epoch ms. */
  at: number
  text: string
  /** Where its text lies as it is stored, UTF-8: of most rows of a long window it is never read as a text. */
  page?: Uint8Array
  from?: number
  to?: number
  /** How its text is worded, once that was looked at: a row that is looked at again need not be masked again. */
  wording?: Wording
  labels: Readonly<Record<string, string | number>>
  /** Those of them that are texts, where that is not all; rows with the same have the same object. */
  words?: Readonly<Record<string, string>>
  /** Whose it is; empty: nobody's. */
  entity: string
  /** What tells it from others of its type, where that is more than labels: a series of points, a span's name. */
  series?: string
  /** What it measures, by name; `value` is the one that type and series name. */
  values: Readonly<Record<string, number>>
  /**
   * Of a metric point what its value is, as far as that is known: what was counted since a start, what was counted since
   * the point before, or a level, which goes up and down.
   */
  counts?: Counts | undefined
  /** Of a point that counts measurements: what they add up to, and their unit; empty: none. */
  sum?: number | undefined
  unit?: string | undefined
  /** A measurement (a metric point, a span that did not fail): its text says no more than its values do. */
  isSample: boolean
  /** Where it is a span that says more than its labels do. */
  span?: SpanFacts
  /** Whether it is what an agent found: told by itself, and nothing of what happened. */
  isFinding?: boolean
}

export type Counts = 'total' | 'step' | 'level'

/** Source and type, with how many events of the window are of them. */
export interface Kind {
  source: string
  type: string
  count: number
  /** Whether events of it are changes; absent until somebody asks. */
  isChange?: boolean
}

/** What one pod or component of an entity writes to one source. */
export interface Stream {
  times: number[]
  /** When its entity first wrote anything to its source, seconds. */
  known: number
  /** Covered, from and to, seconds. */
  spans: [number, number][]
  /** Patterns that first came before the focus, lines there, and lines in the focus: the odds of a new one. */
  firsts: number
  before: number
  lately: number
}

/** A row with its age, and with what it is one of; objects and not keys, since there are 100,000 of them. */
export interface Timed {
  row: ContextRow
  /** Seconds before the end of the window, at most about 0. */
  t: number
  kind: Kind
  /** Of lines without samples. */
  stream: Stream | null
  /** Of lines of the focus and its baseline. */
  cls: LineClass | null
}

/** A text without what varies in it. */
export interface Wording {
  words: readonly string[]
  /** The words as one text. */
  said: string
  /** Whether texts of it may hold the id of a trace in as much of them as is looked at. */
  mayTrace: boolean
}

/** Wordings by the bytes of stored texts: few, and the same of every window, so that they are kept from look to look. */
export interface Wordings {
  /** @param of how the text of a row is worded, where that is not known */
  get(page: Uint8Array, from: number, to: number, of: (row: ContextRow) => Wording, row: ContextRow): Wording
}

/** All lines of a source and type that are the same but for numbers and ids. */
export interface LineClass {
  source: string
  wording: Wording
  count: number
  template: Template | null
}

/** Lines of one wording; words that differ among them are `<*>`. */
export interface Template {
  n: number
  words: string[]
  /** Its lines by whose they are, in order of time; without changes. */
  byEntity: Map<string, GroupLines>
}

/** Lines of one template and entity, and their times, both in order of time. */
export interface GroupLines {
  lines: Timed[]
  times: number[]
}

/** How far the rows reach, where that is not all there was. */
interface Cut {
  /** Rows of which the newest were taken. */
  of: number
  source: string
  /** Epoch ms of the oldest that was taken. */
  since: number
  /** One in so many was taken, where the newest minute alone was too much. */
  every?: number
}

/** No entity has this name: all are told of alike. */
export const NOBODY = '\0'

export interface BriefRequest {
  rows: readonly ContextRow[]
  /** The entity that is asked about; `NOBODY`: none. */
  entity: string
  /** Label that names it. */
  label: string
  /** Events that tripped the trigger. */
  fired?: readonly string[]
  /** End of the window, epoch ms. */
  now: number
  /** Tokens of all that is rendered, fence included. */
  budget: number
  /** Sources that had more rows than were read. */
  cuts?: readonly Cut[]
  /** When sources took nothing in: what stopped with its source did not stop by itself. */
  gaps?: readonly SourceGap[]
  /** What is compared with what; the last quarter of an hour with the two hours before it when absent. */
  windows?: Windows
  /** What is known from earlier looks of how texts are worded; of stored rows. */
  known?: Wordings
}

export type SectionName =
  | 'requests'
  | 'changes'
  | 'numbers'
  | 'lines'
  | 'findings'
  | 'usual'
  | 'rest'
  | 'left'

/**
 * Events that a text names, each with how many it stands for, and with numbers that the text has of it and the event may
 * not: what was usual, a mean, a rate. They are as they are told, rounded.
 */
export type Shown = [id: string, count: number, numbers?: readonly number[]][]

/** One line, with the events it stands for: first the oldest, last the newest. */
export interface BriefLine {
  text: string
  shown: Shown
}

export interface Section {
  name: SectionName
  title: string
  lines: BriefLine[]
}

export interface Brief {
  /** Of the entity: counts, onset, and what history there is. */
  head: string
  sections: Section[]
  /** Epoch ms when the trouble began, as far as the events say; null: they do not. */
  onset: number | null
  /** Entities by how much speaks for each, the strongest first. */
  suspects: string[]
  /** Counted cautiously (words.ts), of the text as it is rendered. */
  tokens: number
}

/* Lines into a budget: each part within its share, all within the whole. */

/** Of the budget, at most. */
const SHARES: Record<SectionName, number> = {
  requests: 0.35,
  changes: 0.3,
  numbers: 0.45,
  lines: 0.6,
  findings: 0.12,
  usual: 0.12,
  rest: 0.5,
  left: 1,
}
const TITLES: Record<SectionName, string> = {
  requests: '## Requests that took another path',
  changes: '## Changes',
  numbers: '## Numbers that moved: usual (5 to 95 %) → now',
  lines: '## New, risen or stopped',
  findings: '## Found before by agents',
  usual: '## As usual',
  rest: '## Other events',
  left: '## Left out',
}
const ORDER: SectionName[] = ['requests', 'changes', 'numbers', 'lines', 'findings', 'usual', 'rest', 'left']

export class Packing {
  private readonly budget: number
  private left: number
  private readonly used = new Map<SectionName, number>()
  private readonly lines = new Map<SectionName, BriefLine[]>()

  /** @param budget tokens. @param reserved of them for what is not put here. */
  constructor(budget: number, reserved: number) {
    this.budget = budget
    this.left = budget - reserved
  }

  /** @returns false where it does not fit: a shorter one may. */
  put(section: SectionName, line: BriefLine): boolean {
    const isFirst = !this.lines.has(section)
    const cost = costOf(line.text) + (isFirst ? costOf(TITLES[section]) : 0)
    const used = this.used.get(section) ?? 0
    if (cost > this.left || used + cost > SHARES[section] * this.budget) return false
    this.left -= cost
    this.used.set(section, used + cost)
    if (isFirst) this.lines.set(section, [])
    this.lines.get(section)!.push(line)
    return true
  }

  /** Tokens to give to what was reserved. */
  release(reserved: number): void {
    this.left += reserved
  }

  has(section: SectionName): boolean {
    return this.lines.has(section)
  }

  sort(section: SectionName, order: readonly BriefLine[]): void {
    this.lines.get(section)?.sort((a, b) => order.indexOf(a) - order.indexOf(b))
  }

  sections(): Section[] {
    return ORDER.flatMap((name) => {
      const lines = this.lines.get(name)
      return lines ? [{ name, title: TITLES[name], lines }] : []
    })
  }
}

/** With its line break. */
export const costOf = (line: string): number => cautiousTokens(`${line}\n`)

/* The times that a brief looks at, seconds before its end. */

export interface Windows {
  /** What is new or moved in it is told. */
  focus: number
  /** What is usual is learned from so long before the focus. */
  baseline: number
  /** Changes and slow trends are looked for so far back. */
  back: number
  /** Rates are compared over each of these; the one that moved most counts. */
  rates: readonly number[]
  series: readonly number[]
}

/** Of a run's first message: the last quarter of an hour against the two hours before it. */
export const LATELY: Windows = {
  focus: 900,
  baseline: 7_200,
  back: 129_600,
  rates: [60, 120, 180, 300, 600, 900],
  series: [90, 180, 300, 600, 900],
}

/** Shorter ones hold too few events to be compared. */
const SHORTEST = 15

/** The same of a window of any length. @param focus, baseline seconds */
export function windowsOf(focus: number, baseline: number): Windows {
  const scaled = (lengths: readonly number[]) => {
    const all = lengths.map((length) => Math.max(SHORTEST, Math.round((length * focus) / LATELY.focus)))
    return [...new Set(all)]
  }
  return {
    focus,
    baseline,
    back: focus + baseline,
    rates: scaled(LATELY.rates),
    series: scaled(LATELY.series),
  }
}

/* Small statistics that the parts share; pure. */

/** In ascending order, copied. */
export const ascending = (values: readonly number[]): Float64Array => new Float64Array(values).sort()

/** @param sorted ascending. @param q 0 to 1. @returns NaN of nothing */
export function quantile(sorted: Float64Array, q: number): number {
  return sorted.length ? sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))]! : Number.NaN
}

/** Median distance from a value, in units of a standard deviation of normal noise. */
export function spreadAround(values: readonly number[], middle: number): number {
  return quantile(ascending(values.map((value) => Math.abs(value - middle))), 0.5) * 1.48
}

/** Log likelihood ratio of more events than a Poisson rate expects; 0 where there are not more. */
export const ratioUp = (found: number, expected: number): number =>
  found > expected ? found * Math.log(found / expected) - (found - expected) : 0

/** The same of fewer. */
export const ratioDown = (found: number, expected: number): number =>
  found < expected ? (found > 0 ? found * Math.log(found / expected) : 0) + (expected - found) : 0

/** n·KL(k/n ‖ p): how surprising k of n is where a share p is usual. */
export const surprise = (k: number, n: number, p: number): number =>
  (k ? k * Math.log(k / n / p) : 0) + (n - k ? (n - k) * Math.log((n - k) / n / (1 - p)) : 0)

/** The value of a key, made when it is new. Where it is asked for 100,000 times, the function is not to be made each time. */
export function valueAt<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  const known = map.get(key)
  if (known !== undefined) return known
  const made = make()
  map.set(key, made)
  return made
}

export function listAt<K, V>(map: Map<K, V[]>, key: K): V[] {
  const known = map.get(key)
  if (known !== undefined) return known
  const made: V[] = []
  map.set(key, made)
  return made
}

export function mapAt<K, L, V>(map: Map<K, Map<L, V>>, key: K): Map<L, V> {
  const known = map.get(key)
  if (known !== undefined) return known
  const made = new Map<L, V>()
  map.set(key, made)
  return made
}

export const addTo = <K>(map: Map<K, number>, key: K, count = 1): void => {
  map.set(key, (map.get(key) ?? 0) + count)
}

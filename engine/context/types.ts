/** What a brief is made of, and what it is: data in, data out, no store. */
import type { Windows } from './windows.ts'

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
  labels: Readonly<Record<string, string | number>>
  /** Whose it is; empty: nobody's. */
  entity: string
  /** What tells it from others of its type, where that is more than labels: a series of points, a span's name. */
  series?: string
  /** What it measures, by name; `value` is the one that type and series name. */
  values: Readonly<Record<string, number>>
  /** A measurement (a metric point, a span that did not fail): its text says no more than its values do. */
  isSample: boolean
  /** Where it is a span that says more than its labels do. */
  span?: SpanFacts
}

/** Source and type, with how many events of the window are of them. */
export interface Kind {
  source: string
  type: string
  count: number
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

/** All lines of a source and type that are the same but for numbers and ids. */
export interface LineClass {
  source: string
  words: readonly string[]
  count: number
  template: Template | null
  /** Whether its lines may hold the id of a trace. */
  mayTrace: boolean
}

/** Lines of one wording; words that differ among them are `<*>`. */
export interface Template {
  n: number
  words: string[]
}

/** How far the rows reach, where that is not all there was. */
export interface Cut {
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
  /** What is compared with what; the last quarter of an hour with the two hours before it when absent. */
  windows?: Windows
}

export type SectionName = 'requests' | 'changes' | 'numbers' | 'lines' | 'usual' | 'left'

/** One line, with the events it stands for: first the oldest, last the newest. */
export interface BriefLine {
  text: string
  /** Ids the line names, each with how many events it stands for. */
  shown: [id: string, count: number][]
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
  /** Epoch ms when the trouble began, as far as the events say. */
  onset: number
  /** Entities by how much speaks for each, the strongest first. */
  suspects: string[]
  /** Counted cautiously (tokens.ts), of the text as it is rendered. */
  tokens: number
}

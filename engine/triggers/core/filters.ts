/** Filters, compiled: all must hold, those first that cost least to read. */
import { RE2JS } from 're2js'
import type { Filter } from '../../../schemas/types.ts'
import { compareDecimals } from '../../log/ingest/json.ts'
import { compileField } from '../../log/ingest/json-project.ts'
import { WORK_MAX } from '../../log/ingest/pattern.ts'
import { TYPE_LABEL } from '../../log/store/labels.ts'
import { spellingsOf } from '../../model/units.ts'
import type { EventCursor } from './entries.ts'

export interface CompiledFilter {
  field: Field
  op: Filter['op']
  test(event: EventCursor): boolean
  /** Of a text. */
  testText(text: string): boolean
  /** Values it lets through, where those can be listed; lower case for `in`. */
  values: readonly string[] | null
  /** Operator and value. */
  expected: string
}

/** Answers remembered by label id and filter; then they are forgotten. */
const MEMO_MAX = 10_000
const COMPARE = { gt: '>', gte: '>=', lt: '<', lte: '<=' } as const
/** Fields that hold the level of a log record. */
const LEVEL_FIELDS = new Set(['event_type', 'severity'])
/** What is told of an actual value. */
const ACTUAL_MAX = 200

/** Compiled filters in the order they are judged. @throws Error when a pattern is not supported. */
export function compileFilters(filters: readonly Filter[]): CompiledFilter[] {
  return filters.map(compileFilter).sort((a, b) => a.field.cost - b.field.cost)
}

/** The first filter that does not hold, or null. */
export function failing(filters: readonly CompiledFilter[], event: EventCursor): CompiledFilter | null {
  for (const filter of filters) if (!filter.test(event)) return filter
  return null
}

/** What an event has in the field of a filter; null: nothing. */
export function actualOf({ field }: CompiledFilter, event: EventCursor): string | null {
  const text = field.text(event)
  if (text === undefined) return null
  return text.length > ACTUAL_MAX ? `${text.slice(0, ACTUAL_MAX)}…` : text
}

function compileFilter({ field: name, op: given, value = '' }: Filter): CompiledFilter {
  const field = fieldOf(name)
  const list = Array.isArray(value) ? value : [value]
  // A level is a level however it was spelled when the trigger was made: Info, INFO and info are one.
  const levels = LEVEL_FIELDS.has(name) ? list.flatMap((item) => spellingsOf(String(item))) : []
  const op = given === 'eq' && levels.length > 0 ? 'in' : given
  if (given === 'neq' && levels.length > 0) {
    const others = textTest('in', levels)
    const testText = (text: string): boolean => !others(text)
    return {
      field,
      op,
      values: null,
      testText,
      test: remembering(field, testText),
      expected: `neq ${list[0]}`,
    }
  }
  const texts = [
    ...list.map((item) => (op === 'in' ? String(item).toLowerCase() : String(item))),
    ...(op === 'in' ? levels : []),
  ]
  const filter = { field, op, values: op === 'eq' || op === 'in' ? texts : null }
  if (op === 'exists') {
    const wanted = String(value) !== 'false'
    const test = (event: EventCursor) => (field.text(event) !== undefined) === wanted
    return { ...filter, test, testText: () => wanted, expected: `exists ${wanted}` }
  }
  const testText = textTest(op, texts)
  return { ...filter, testText, test: remembering(field, testText), expected: `${given} ${list.join(', ')}` }
}

function textTest(op: Filter['op'], values: string[]): (text: string) => boolean {
  const value = values[0]!
  switch (op) {
    case 'eq':
      return (text) => text === value
    case 'neq':
      return (text) => text !== value
    case 'prefix':
      return (text) => text.startsWith(value)
    case 'in': {
      const set = new Set(values)
      return (text) => set.has(text.toLowerCase())
    }
    case 'contains': {
      const part = value.toLowerCase()
      return (text) => text.toLowerCase().includes(part)
    }
    case 'regex': {
      const pattern = RE2JS.compile(value)
      const longest = Math.floor(WORK_MAX / pattern.programSize())
      return (text) => pattern.matcher(text.length > longest ? text.slice(0, longest) : text).find()
    }
    default: {
      const holds = comparison(COMPARE[op as keyof typeof COMPARE], 0)
      return (text) => numberIn(text) !== undefined && holds(compareDecimals(text, value))
    }
  }
}

/** Remembers the answer for a label's id: the same few values come again and again. */
function remembering(field: Field, testText: (text: string) => boolean): (event: EventCursor) => boolean {
  const plain = (event: EventCursor) => {
    const text = field.text(event)
    return text !== undefined && testText(text)
  }
  if (field.labelName === null) return plain
  const memo = new Map<number, boolean>()
  const numbers = new Map<number, boolean>()
  return (event) => {
    const label = field.label(event)
    if (label === undefined) {
      const number = field.number?.(event)
      if (number === undefined) return plain(event)
      let answer = numbers.get(number)
      if (answer === undefined) {
        if (numbers.size >= MEMO_MAX) numbers.clear()
        answer = plain(event)
        numbers.set(number, answer)
      }
      return answer
    }
    let answer = memo.get(label)
    if (answer === undefined) {
      if (memo.size >= MEMO_MAX) memo.clear()
      answer = testText(event.value(label))
      memo.set(label, answer)
    }
    return answer
  }
}

/* Fields that filters and conditions name, found in an event. */

/** Stands for every string label: that of the entity can be of any name. */
export const ANY_LABEL = ''

export interface Field {
  name: string
  /** Name of the label whose value it is, if it is one: its tests can be remembered by label id. */
  labelName: string | null
  /** That label of an event. */
  label(event: EventCursor): number | undefined
  /** The number it is, where it is a number label: tests of its text can be remembered by it. */
  number?(event: EventCursor): number | undefined
  /** Text form; undefined: it is missing. */
  text(event: EventCursor): string | undefined
  /** What it costs to read, as an order. */
  cost: number
}

const PAYLOAD = 'payload.'
const NO_LABEL = () => undefined

export function fieldOf(name: string): Field {
  if (name === 'event_type') return labelField(name, TYPE_LABEL, (event) => event.typeLabel())
  if (name === 'key_value') return labelField(name, ANY_LABEL, (event) => event.entityLabel())
  if (name === 'source') return plainField(name, 1, (event) => event.sourceName(event.sourceId))
  if (name === 'text') return plainField(name, 3, (event) => event.text())
  if (name.startsWith(PAYLOAD)) {
    const find = compileField(name.slice(PAYLOAD.length))
    return plainField(name, 4, (event) => textForm(find(event.payload())))
  }
  return {
    name,
    labelName: name,
    label: (event) => event.label(name),
    number: (event) => event.number(name),
    text(event) {
      const label = event.label(name)
      return label === undefined ? textForm(event.number(name)) : event.value(label)
    },
    cost: 2,
  }
}

function labelField(
  name: string,
  labelName: string,
  label: (event: EventCursor) => number | undefined,
): Field {
  const text = (event: EventCursor) => {
    const id = label(event)
    return id === undefined ? undefined : event.value(id)
  }
  return { name, labelName, label, text, cost: 0 }
}

function plainField(name: string, cost: number, text: (event: EventCursor) => string | undefined): Field {
  return { name, labelName: null, label: NO_LABEL, text, cost }
}

/** Null is as good as missing, as it is for labels. */
function textForm(value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

/** The number a text is, or undefined. */
export function numberIn(text: string): number | undefined {
  if (text.trim() === '') return undefined
  const number = Number(text)
  return Number.isFinite(number) ? number : undefined
}

/* Predicates of thresholds, such as "> 5" or, of a rate, "> 5/m". */

export interface Predicate {
  text: string
  /** Of a rate: milliseconds of its unit. */
  unitMs: number
  holds(value: number): boolean
  /** "above 5". */
  words: string
}

const UNIT_MS: Record<string, number> = { s: 1_000, m: 60_000, h: 3_600_000 }
const WORDS: Record<string, string> = {
  '>': 'above',
  '>=': 'at least',
  '<': 'below',
  '<=': 'at most',
  '==': 'exactly',
}

/** @throws Error when it is none; the schema of triggers lets only these through. */
export function parsePredicate(text: string): Predicate {
  const match = /^(>=|<=|==|>|<) ?(-?\d+(?:\.\d+)?)(\/([smh]))?$/.exec(text)
  if (!match) throw new Error(`${text} is no comparison with a number`)
  const [, op, digits, per = '', unit = 's'] = match
  const limit = Number(digits)
  return {
    text,
    unitMs: UNIT_MS[unit]!,
    holds: comparison(op!, limit),
    words: `${WORDS[op!]} ${digits}${per}`,
  }
}

/** @param op as in predicates */
function comparison(op: string, limit: number): (value: number) => boolean {
  switch (op) {
    case '>':
      return (value) => value > limit
    case '>=':
      return (value) => value >= limit
    case '<':
      return (value) => value < limit
    case '<=':
      return (value) => value <= limit
    default:
      return (value) => value === limit
  }
}

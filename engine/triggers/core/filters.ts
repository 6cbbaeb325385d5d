/** Filters, compiled: all must hold, those first that cost least to read. */
import { RE2JS } from 're2js'
import type { Filter } from '../../../schemas/types.ts'
import { compareDecimals } from '../../ingest/json-digits.ts'
import { WORK_MAX } from '../../ingest/pattern.ts'
import { spellingsOf } from '../../levels.ts'
import type { EventCursor } from './cursor.ts'
import { type Field, fieldOf, numberIn } from './fields.ts'
import { comparison } from './predicate.ts'

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
  return (event) => {
    const label = field.label(event)
    if (label === undefined) return plain(event)
    let answer = memo.get(label)
    if (answer === undefined) {
      if (memo.size >= MEMO_MAX) memo.clear()
      answer = testText(event.value(label))
      memo.set(label, answer)
    }
    return answer
  }
}

/**
 * The numbers of a trigger that a person may change without knowing how a trigger is written. A knob
 * that is there decides: the condition and the cooldown are written from it. One that is missing is
 * read from them, where the number is one a knob can hold; otherwise the number stays as it is.
 */
import type { PlanKnob } from '../../../schemas/types.ts'

type Condition = Record<string, unknown>

/** What knobs are about. */
export interface Numbers {
  condition: Condition
  cooldown: string
}

interface Dial {
  id: PlanKnob['id']
  label: string
  min: number
  max: number
  isWhole: boolean
  read(numbers: Numbers): number | null
  write(numbers: Numbers, value: number): Numbers
}

const MINUTES: Record<string, number> = { s: 1 / 60, m: 1, h: 60, d: 1_440 }
const DAY = 1_440
const WEEK = 10_080
const COUNTED = ['count', 'distinct']
const PREDICATE = /^(>=|<=|==|>|<) ?(-?\d+(?:\.\d+)?)(\/[smh])?$/

/** @returns the numbers as the knobs say, and the knobs as they then are. */
export function turnKnobs(given: Numbers, knobs: readonly PlanKnob[]): Numbers & { knobs: PlanKnob[] } {
  let numbers: Numbers = { ...given, condition: atLeastOne(given.condition) }
  const turned: PlanKnob[] = []
  for (const dial of dialsOf(numbers.condition)) {
    const { id, label, min, max } = dial
    const set = knobs.find((knob) => knob.id === id)
    const value = set ? within(dial, set.value) : held(dial, dial.read(numbers))
    if (value === null) continue
    numbers = dial.write(numbers, value)
    turned.push({ id, label, value, min, max })
  }
  return { ...numbers, knobs: turned }
}

function dialsOf(condition: Condition): Dial[] {
  if ('every' in condition) return [minutes('every_minutes', 'Every, in minutes', 'every', WEEK)]
  if ('cron' in condition) return []
  const window = ['window', 'absent_for', 'within'].find((field) => typeof condition[field] === 'string')
  return [
    ...(typeof condition.predicate === 'string' ? [threshold(String(condition.aggregate))] : []),
    ...(window ? [minutes('window_minutes', WINDOW_LABELS[window]!, window, DAY)] : []),
    cooldown,
  ]
}

const WINDOW_LABELS: Record<string, string> = {
  window: 'Within, in minutes',
  absent_for: 'Silent for, in minutes',
  within: 'Within, in minutes',
}

function threshold(aggregate: string): Dial {
  const isCount = COUNTED.includes(aggregate)
  const isRate = aggregate === 'rate'
  return {
    id: 'threshold',
    label: isCount ? 'How many' : isRate ? 'How many a unit of time' : 'Threshold',
    min: isCount ? 1 : isRate ? 0.001 : -1e9,
    max: isCount || isRate ? 100_000 : 1e9,
    isWhole: isCount,
    read: ({ condition }) => {
      const number = PREDICATE.exec(String(condition.predicate))?.[2]
      return number === undefined ? null : Number(number)
    },
    write: (numbers, value) => {
      const [, op, , unit = ''] = PREDICATE.exec(String(numbers.condition.predicate)) ?? []
      if (op === undefined) return numbers
      return { ...numbers, condition: { ...numbers.condition, predicate: `${op} ${value}${unit}` } }
    },
  }
}

function minutes(id: PlanKnob['id'], label: string, field: string, max: number): Dial {
  return {
    id,
    label,
    min: 1,
    max,
    isWhole: true,
    read: ({ condition }) => minutesOf(condition[field]),
    write: (numbers, value) => ({
      ...numbers,
      condition: { ...numbers.condition, [field]: durationOf(value) },
    }),
  }
}

const cooldown: Dial = {
  id: 'cooldown_minutes',
  label: 'Wait before waking again, in minutes',
  min: 1,
  max: DAY,
  isWhole: true,
  read: ({ cooldown: text }) => minutesOf(text || '5m'),
  write: (numbers, value) => ({ ...numbers, cooldown: durationOf(value) }),
}

/** A count is never below nothing: "more than none" is said as "at least one", which a knob can hold. */
function atLeastOne(condition: Condition): Condition {
  const isNone = COUNTED.includes(String(condition.aggregate)) && /^> ?0$/.test(String(condition.predicate))
  return isNone ? { ...condition, predicate: '>= 1' } : condition
}

function minutesOf(text: unknown): number | null {
  const match = /^(\d+(?:\.\d+)?)([smhd])$/.exec(String(text))
  return match ? Number(match[1]) * MINUTES[match[2]!]! : null
}

const durationOf = (value: number): string => (value % 60 === 0 ? `${value / 60}h` : `${value}m`)

/** A number as it was set, brought within what the knob can hold. */
function within({ min, max, isWhole }: Dial, value: number): number {
  const bounded = Math.min(max, Math.max(min, value))
  return isWhole ? Math.round(bounded) : bounded
}

/** A number as it was read; null where it would have to be another one. */
function held(dial: Dial, value: number | null): number | null {
  return value !== null && within(dial, value) === value ? value : null
}

/** What fields of sampled entries are: scalars by their dotted names, times, and ids. */
import { parseEventTime } from '../../ingest/time.ts'

const DEPTH_MAX = 6
const FIELDS_MAX = 200
const SHORT = 64
/** Names a time mostly has; the first that holds times is taken. */
const TIME_NAME =
  /(^|[._])(timestamp|time|datetime|date|at|ts|created|updated|published|occurred|observed)$|(_at|_time|_date|At|Time|Date)$/
const ID_NAME = /(^|\.)(id|uuid|guid|key|sha|number)$|(_id|Id|ID)$/

export interface FieldSeen {
  name: string
  kind: 'string' | 'number' | 'other'
  /** Its values in the sample, without those that are absent. */
  values: unknown[]
}

/** The scalars of an entry by their dotted names; of a scalar entry it is `value`. */
export function flat(value: unknown): Record<string, unknown> {
  const found: Record<string, unknown> = Object.create(null) as Record<string, unknown>
  let count = 0
  const walk = (one: unknown, name: string, depth: number): void => {
    if (one === null || one === undefined || Array.isArray(one) || count >= FIELDS_MAX) return
    if (typeof one !== 'object') {
      found[name === '' ? 'value' : name] = one
      count++
    } else if (depth < DEPTH_MAX)
      for (const [key, inner] of Object.entries(one))
        walk(inner, name === '' ? key : `${name}.${key}`, depth + 1)
  }
  walk(value, '', 0)
  return found
}

/** Fields in the order they are met. */
export function fieldsOf(sample: readonly Record<string, unknown>[]): FieldSeen[] {
  const byName = new Map<string, unknown[]>()
  for (const entry of sample)
    for (const [name, value] of Object.entries(entry)) byName.set(name, [...(byName.get(name) ?? []), value])
  return [...byName].map(([name, values]) => ({ name, values, kind: kindOf(values) }))
}

function kindOf(values: readonly unknown[]): FieldSeen['kind'] {
  const is = (type: string) => values.every((value) => typeof value === type)
  if (is('number')) return 'number'
  return is('string') ? 'string' : 'other'
}

/** Text that fits a label and a line. */
export const isShort = (value: unknown): boolean =>
  typeof value !== 'string' || (value !== '' && value.length <= SHORT)

/** The field that holds a time in every entry it is in, those named like one first. @param nowMs epoch ms */
export function timeOf(fields: readonly FieldSeen[], nowMs: number): string | undefined {
  const times = fields.filter(({ values }) => values.every((value) => isTime(value, nowMs)))
  return (times.find(({ name }) => TIME_NAME.test(name)) ?? times.find(({ kind }) => kind === 'string'))?.name
}

function isTime(value: unknown, nowMs: number): boolean {
  if (typeof value === 'number') return value >= 1e9 && value < 4e12
  return typeof value === 'string' && value.length >= 10 && parseEventTime(value, nowMs).ts !== null
}

/** The field that is there in every entry and never twice the same, named like an id. */
export function idOf(fields: readonly FieldSeen[], entries: number, isList: boolean): string | undefined {
  if (!isList) return undefined
  return fields.find(
    ({ name, kind, values }) =>
      kind !== 'other' && ID_NAME.test(name) && values.length === entries && new Set(values).size === entries,
  )?.name
}

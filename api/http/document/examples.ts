/**
 * An example of each body and answer, made of its schema: what the schema says itself (`examples`), else what the table
 * below has for the name of a field, else a value that fits its form. Tests hold that each fits its schema, and that the
 * server takes what is sent.
 */

import { TEXTS } from './example-texts.ts'

export interface Schema {
  $ref?: string
  type?: string | string[]
  enum?: unknown[]
  const?: unknown
  default?: unknown
  examples?: unknown[]
  anyOf?: Schema[]
  oneOf?: Schema[]
  properties?: Record<string, Schema>
  required?: string[]
  additionalProperties?: boolean | Schema
  items?: Schema
  minItems?: number
  minLength?: number
  maxLength?: number
  minimum?: number
  maximum?: number
  format?: string
  pattern?: string
  description?: string
}

/** Where the optional fields of an answer are shown; deeper only those that are always there. */
const SHOWN_DEPTH = 3
/** No example: the schema leads back to itself. */
const NONE = Symbol('none')

interface At {
  /** Name of the field. */
  name: string
  depth: number
  /** References on the way here. */
  within: readonly string[]
  /** Optional fields too, as far as SHOWN_DEPTH. */
  whole: boolean
}

/**
 * @param find the schema a reference leads to.
 * @param whole with optional fields: of answers. Bodies have what they must have.
 */
export function exampleOf(schema: Schema, find: (ref: string) => Schema, whole: boolean): unknown {
  const made = sample(schema, { name: '', depth: 0, within: [], whole })
  return made === NONE ? null : made

  function sample(one: Schema, at: At): unknown {
    if (one.$ref !== undefined) {
      if (at.within.includes(one.$ref)) return NONE
      return sample(find(one.$ref), { ...at, within: [...at.within, one.$ref] })
    }
    if (Array.isArray(one.examples) && one.examples.length > 0) return one.examples[0]
    if (one.const !== undefined) return one.const
    if (one.enum) return one.enum.find((value) => value !== null) ?? null
    const variants = one.anyOf ?? one.oneOf
    if (variants) return firstOf(variants, at)
    const types = [one.type ?? []].flat()
    const type = types.find((given) => given !== 'null') ?? types[0]
    if (type === 'object') return object(one, at)
    if (type === 'array') return array(one, at)
    if (type === 'integer' || type === 'number') return number(one, type, at.name)
    if (type === 'boolean') return /^(ok|enabled|configured|delivered)$/.test(at.name)
    // What may be missing is, unless it is known what it looks like.
    if (type === 'string') {
      const known = TEXTS[`${titleOf(at)}.${at.name}`] ?? TEXTS[at.name]
      return types.includes('null') && known === undefined && one.format === undefined
        ? null
        : text(one, at, known)
    }
    return type === 'null' ? null : 'checkout'
  }

  function firstOf(variants: readonly Schema[], at: At): unknown {
    const known = variants.filter(({ type }) => type !== 'null')
    for (const variant of known) {
      const made = sample(variant, at)
      if (made !== NONE) return made
    }
    return known.length < variants.length ? null : NONE
  }

  function object(one: Schema, at: At): unknown {
    const made: Record<string, unknown> = {}
    for (const [name, field] of Object.entries(one.properties ?? {})) {
      const isNeeded = one.required?.includes(name) ?? false
      if (!isNeeded && !(at.whole && at.depth < SHOWN_DEPTH)) continue
      const value = sample(field, { ...at, name, depth: at.depth + 1 })
      if (value !== NONE) made[name] = value
      else if (isNeeded) return NONE
    }
    const { additionalProperties: others } = one
    if (typeof others === 'object' && Object.keys(one.properties ?? {}).length === 0) {
      const value = sample(others, { ...at, depth: at.depth + 1 })
      if (value !== NONE) made.checkout = value
    }
    return made
  }

  function array(one: Schema, at: At): unknown {
    if (!one.items || (!at.whole && !one.minItems)) return []
    const entry = sample(one.items, { ...at, depth: at.depth + 1 })
    return entry === NONE ? [] : [entry]
  }
}

function number(
  { minimum = 0, maximum = Number.MAX_SAFE_INTEGER }: Schema,
  type: string,
  name: string,
): number {
  const wanted = NUMBERS[name] ?? (type === 'integer' ? 1 : 0.5)
  return Math.min(maximum, Math.max(minimum, wanted))
}

const NUMBERS: Readonly<Record<string, number>> = {
  version: 12,
  change_set: 12,
  cost_usd: 0.0123,
  line: 3,
  column: 5,
  index: 0,
  port: 7601,
  max_rounds: 12,
  input_tokens: 1840,
  output_tokens: 210,
}

/** @param known what the table has for it. @throws Error where nothing says what it looks like */
function text(
  { format, pattern, minLength = 0, maxLength = Number.MAX_SAFE_INTEGER }: Schema,
  at: At,
  known: string | undefined,
): string {
  if (format === 'date-time') return TIME
  const fits = (given: string | undefined) =>
    given !== undefined &&
    given.length >= minLength &&
    given.length <= maxLength &&
    (pattern === undefined || new RegExp(pattern, 'u').test(given))
  const time = /(_at|^at|_ingest|^now|_seen)$/.test(at.name) ? TIME : undefined
  const found = [known, time, ...(pattern === undefined ? [] : CANDIDATES)].find(fits)
  if (found === undefined)
    throw new Error(
      `no example: say in api/http/document/examples.ts what ${titleOf(at)}.${at.name} looks like`,
    )
  return found
}

/** Title of the schema it is in: the nearest that has one. */
const titleOf = ({ within }: At): string => within.at(-1)?.split('/').at(-1) ?? ''

const TIME = '2026-11-20T12:00:00Z'

/** For patterns: the first that fits is taken. */
const CANDIDATES = [
  'checkout',
  '15m',
  'evt_42',
  '> 5',
  'https://example.com/hook',
  'CHECKOUT',
  'E3kq8c9pY0vJ1sWmZ2xTnB4rLhGdUaQfOe7iPb5yKxA',
  'E3kq8c9pY0vJ1sWmZ2xTnB4rLhGdUaQfOe7iPb5yKxAVwN6t',
  '3f79bb7b435b05321651daefd374cdc681dc06faa65e374e38337b88ca046dea',
  'index',
]

/**
 * Arguments of a model's call in the form that the schema of the tool has, for the tools of svc mcp, of Ask and of runs.
 * What can mean one thing only is taken; the rest stays as it is, for the check to say what is wrong with it. Models
 * that must fill every field give null, or nothing between quotes, for one they leave out: that is taken as absent.
 */
import { readUnixTime } from './instants.ts'
import { BODY_DEPTH_MAX, nestsDeeper } from './json-body.ts'

type Json = Record<string, unknown>

/** A value that is none of the forms its argument may have. */
export class ArgumentFault extends Error {
  constructor(
    message: string,
    readonly field: string,
  ) {
    super(message)
  }
}

/**
 * @param schema of the tool's arguments. @param given arguments, in any form.
 * @returns them in the form the schema has. @throws ArgumentFault naming the field and what it takes
 */
export const taken = (schema: Json, given: Json): Json => takenObject(schema, given, '')

/** @returns map: any names, with values of one schema; free: anything */
export function kindOf({ type, additionalProperties: rest }: Json): 'map' | 'free' | null {
  if (type !== 'object' || rest === false) return null
  return typeof rest === 'object' ? 'map' : 'free'
}

function takenObject(schema: Json, given: Json, at: string): Json {
  const { properties = {}, required = [] } = schema as {
    properties?: Record<string, Json>
    required?: string[]
  }
  return Object.fromEntries(
    Object.entries(given)
      .filter(([name, value]) => {
        const one = Object.hasOwn(properties, name) ? properties[name]! : null
        return one === null || required.includes(name) || !isLeftOut(one, value)
      })
      .map(([name, value]) => [
        name,
        Object.hasOwn(properties, name) ? takenValue(properties[name]!, value, `${at}${name}`) : value,
      ]),
  )
}

function takenValue(schema: Json, value: unknown, at: string): unknown {
  const kind = kindOf(schema)
  if (kind === 'map') return value === null || isObject(value) ? value : mapOf(value, at)
  if (kind === 'free') return typeof value === 'string' ? objectOf(value, at) : value
  if (schema.type === 'array' && isObject(schema.items))
    return takenList(schema.items, listGiven(schema.items, value), at)
  if (schema.type === 'string') return takenText(schema, value)
  if (typeof value === 'string') return scalarOf(schema, value)
  return schema.type === 'object' && isObject(value) ? takenObject(schema, value, `${at}.`) : value
}

const takenList = (items: Json, list: unknown, at: string): unknown =>
  Array.isArray(list) ? list.map((one, i) => takenValue(items, one, `${at}[${i}]`)) : list

/** @returns a list that was given as its JSON text, or as its one entry; anything else as it is */
export function listGiven({ type }: Json, value: unknown): unknown {
  if (typeof value === 'string') {
    const list = jsonIn(value)
    if (Array.isArray(list)) return list
    return type === 'string' ? [value] : isObject(list) ? [list] : value
  }
  return type === 'object' && isObject(value) ? [value] : value
}

/** @returns the one text of a list; anything else as it is */
export const textGiven = (value: unknown): unknown =>
  Array.isArray(value) && value.length === 1 && typeof value[0] === 'string' ? value[0] : value

const EVENT_ID = '^evt_[0-9]{1,15}$'

function takenText({ format, pattern }: Json, given: unknown): unknown {
  const value = textGiven(given)
  if (typeof value === 'number' || typeof value === 'boolean')
    return takenText({ format, pattern }, String(value))
  if (pattern === EVENT_ID && typeof value === 'string' && /^\d{1,15}$/.test(value)) return `evt_${value}`
  // A time without its zone may be one of the place where a client runs: it is refused.
  return format === 'date-time' && typeof value === 'string' ? (readUnixTime(value.trim()) ?? value) : value
}

/** A number or a truth value that a model put between quotes; any other text as it is, for the check to say. */
function scalarOf({ type }: Json, value: string): unknown {
  if ((type === 'integer' || type === 'number') && /^-?\d{1,15}(\.\d{1,15})?$/.test(value))
    return Number(value)
  if (type === 'boolean' && /^(true|false)$/i.test(value)) return value.toLowerCase() === 'true'
  return value
}

/** Whether a value stands for none: null, and "" where the schema takes no empty text. */
function isLeftOut({ type, minLength, pattern, format, enum: values, anyOf }: Json, value: unknown): boolean {
  if (value === null) return !(Array.isArray(anyOf) && anyOf.some((one: Json) => one.type === 'null'))
  if (value !== '' || (type !== 'string' && type !== 'array')) return false
  return (
    type === 'array' ||
    Number(minLength ?? 0) > 0 ||
    format !== undefined ||
    values !== undefined ||
    (typeof pattern === 'string' && !new RegExp(pattern, 'u').test(''))
  )
}

const PAIR = /^\s*([A-Za-z0-9_.-]{1,64})\s*=\s*(\S.*?)\s*$/s

/** @returns labels that were given as an entity is written, `service=checkout`, or as JSON text; anything else as it is */
export function labelsGiven(value: unknown): unknown {
  if (typeof value !== 'string') return value
  const [, label, one] = PAIR.exec(value) ?? []
  return label === undefined ? (jsonIn(value) ?? value) : [{ label, value: one }]
}

/** @throws ArgumentFault */
function mapOf(given: unknown, at: string): Json {
  const list = labelsGiven(given)
  if (isObject(list)) return list
  const map = new Map<string, unknown>()
  for (const one of Array.isArray(list) ? list : [null]) {
    const { label, value } = isObject(one) ? one : {}
    if (typeof label !== 'string' || value === undefined)
      throw new ArgumentFault(`${at} must be a list of {label, value}, or an object of labels and values`, at)
    if (map.has(label)) throw new ArgumentFault(`${at} has the label ${label} twice`, at)
    map.set(label, value)
  }
  return Object.fromEntries(map)
}

/** @throws ArgumentFault */
function objectOf(text: string, at: string): Json {
  if (nestsDeeper(text, BODY_DEPTH_MAX))
    throw new ArgumentFault(`${at} must not nest more than ${BODY_DEPTH_MAX} deep`, at)
  const value = jsonIn(text)
  if (!isObject(value)) throw new ArgumentFault(`${at} must be an object, or the JSON text of one`, at)
  return value
}

/** @returns the list or object that a text is the JSON of; null: it is none */
function jsonIn(text: string): unknown {
  if (!/^\s*[[{]/.test(text) || nestsDeeper(text, BODY_DEPTH_MAX)) return null
  try {
    return JSON.parse(text)
  } catch {
    // A text that only looks like one is a text.
    return null
  }
}

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

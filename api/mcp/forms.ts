/**
 * The forms that arguments may have. Tools are declared by the schemas of schemas/mcp, and checked against
 * them; models are shown a form that every provider's function calling can hold to:
 *
 * - a map with free names is a list of {label, value}, and an object of any form its JSON text: strict
 *   schemas close every object (platform.openai.com/docs/guides/structured-outputs, Supported schemas;
 *   docs.anthropic.com, Structured outputs, JSON Schema limitations);
 * - rules that only the check needs are not shown (ai.google.dev/api/caching, Schema, has no propertyNames,
 *   uniqueItems or const); descriptions say what they mean, and a refusal names the rule.
 *
 * Both forms are taken, always. Models that must fill every field give null, or nothing between quotes,
 * for one they leave out: that is taken as absent.
 */
import { BODY_DEPTH_MAX, nestsDeeper } from '../json-body.ts'
import { ToolError } from './tool.ts'

type Json = Record<string, unknown>

/** Keywords that models are not shown. */
const CHECKS =
  /^(minLength|maxLength|pattern|minItems|maxItems|uniqueItems|propertyNames|minProperties|maxProperties|exclusiveMinimum)$/

const TEXT_HINT = 'A JSON object, as text.'

/** @param schema of a tool's arguments. @returns how models are shown it */
export function shownSchema({ description: _ofTheTool, ...schema }: Json): Json {
  return shown(schema)
}

function shown(schema: Json): Json {
  const kind = kindOf(schema)
  if (kind === 'map') {
    const { description, additionalProperties } = schema
    const properties = { label: { type: 'string' }, value: shown(additionalProperties as Json) }
    const items = { type: 'object', properties, required: ['label', 'value'], additionalProperties: false }
    return { type: 'array', description, items }
  }
  if (kind === 'free')
    return { type: 'string', description: [schema.description, TEXT_HINT].filter(Boolean).join(' ') }
  return Object.fromEntries(
    Object.entries(schema)
      .filter(([keyword, value]) => !CHECKS.test(keyword) && !(keyword === 'required' && isEmptyList(value)))
      .map(([keyword, value]) => [
        keyword,
        keyword === 'properties'
          ? Object.fromEntries(Object.entries(value as Json).map(([name, one]) => [name, shown(one as Json)]))
          : keyword === 'items'
            ? shown(value as Json)
            : value,
      ]),
  )
}

/** map: any names, with values of one schema; free: anything. */
function kindOf({ type, additionalProperties: rest }: Json): 'map' | 'free' | null {
  if (type !== 'object' || rest === false) return null
  return typeof rest === 'object' ? 'map' : 'free'
}

/**
 * @param schema of the tool's arguments. @param given arguments, in either form.
 * @returns them in the form the schema has. @throws ToolError naming the field and what it takes
 */
export const taken = (schema: Json, given: Json): Json => takenObject(schema, given, '')

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
  if (typeof value === 'string') return scalarOf(schema, value)
  if (Array.isArray(value) && typeof schema.items === 'object')
    return value.map((one, i) => takenValue(schema.items as Json, one, `${at}[${i}]`))
  return schema.type === 'object' && isObject(value) ? takenObject(schema, value, `${at}.`) : value
}

/** A number or a truth value that a model put between quotes; any other text as it is, for the check to say. */
function scalarOf({ type }: Json, value: string): unknown {
  if ((type === 'integer' || type === 'number') && /^-?\d{1,15}(\.\d{1,15})?$/.test(value))
    return Number(value)
  if (type === 'boolean' && (value === 'true' || value === 'false')) return value === 'true'
  return value
}

/** Whether a value stands for none: null, and "" where the schema takes no empty text. */
function isLeftOut({ type, minLength, pattern, format, enum: values, anyOf }: Json, value: unknown): boolean {
  if (value === null) return !(Array.isArray(anyOf) && anyOf.some((one: Json) => one.type === 'null'))
  if (value !== '' || type !== 'string') return false
  return (
    Number(minLength ?? 0) > 0 ||
    format !== undefined ||
    values !== undefined ||
    (typeof pattern === 'string' && !new RegExp(pattern, 'u').test(''))
  )
}

/** @throws ToolError */
function mapOf(list: unknown, at: string): Json {
  const map = new Map<string, unknown>()
  for (const one of Array.isArray(list) ? list : [null]) {
    const { label, value } = isObject(one) ? one : {}
    if (typeof label !== 'string' || value === undefined)
      throw new ToolError(`${at} must be a list of {label, value}, or an object of labels and values`, at)
    if (map.has(label)) throw new ToolError(`${at} has the label ${label} twice`, at)
    map.set(label, value)
  }
  return Object.fromEntries(map)
}

/** @throws ToolError */
function objectOf(text: string, at: string): Json {
  const fault = () => new ToolError(`${at} must be an object, or the JSON text of one`, at)
  if (nestsDeeper(text, BODY_DEPTH_MAX))
    throw new ToolError(`${at} must not nest more than ${BODY_DEPTH_MAX} deep`, at)
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw fault()
  }
  if (!isObject(value)) throw fault()
  return value
}

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const isEmptyList = (value: unknown): boolean => Array.isArray(value) && value.length === 0

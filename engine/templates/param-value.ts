/**
 * Checks values against the parameters' schema: the part of JSON Schema draft-07 of
 * schemas/template-param.json. Messages name the field and the rule, never the value.
 */
import type { TemplateParam, TemplateParams } from '../../schemas/types.ts'

/** An object: the whole of the parameters or arguments, or one parameter of that type. */
type ObjectRules = Pick<TemplateParams, 'required'> & { properties?: TemplateParams['properties'] }

/** @returns one plain sentence per fault. @param at path of the value, such as params.window. */
export function valueFaults(rules: TemplateParam, value: unknown, at: string): string[] {
  const type = types[rules.type]
  if (!type.holds(value)) return [`${at} must be ${type.word}`]
  if (rules.enum && !rules.enum.includes(value as string))
    return [`${at} must be one of ${rules.enum.join(', ')}`]
  if (typeof value === 'string') return textFaults(rules, value, at)
  if (typeof value === 'number') return numberFaults(rules, value, at)
  if (Array.isArray(value)) return listFaults(rules, value, at)
  return typeof value === 'object' ? objectFaults(rules, value as Record<string, unknown>, at) : []
}

/** The same for an object: unknown fields, required ones, and each field. */
export function objectFaults(
  rules: ObjectRules,
  value: Readonly<Record<string, unknown>>,
  at: string,
): string[] {
  const properties = rules.properties ?? {}
  const known = Object.keys(properties)
  const list = known.length ? `it has ${known.join(', ')}` : 'it has none'
  return [
    ...Object.keys(value)
      .filter((name) => !Object.hasOwn(properties, name))
      .map((name) => `${at}.${name} is not a known field; ${list}`),
    ...(rules.required ?? [])
      .filter((name) => value[name] === undefined)
      .map((name) => `${at}.${name} is required`),
    ...known
      .filter((name) => value[name] !== undefined)
      .flatMap((name) => valueFaults(properties[name]!, value[name], `${at}.${name}`)),
  ]
}

const types: Record<TemplateParam['type'], { word: string; holds: (value: unknown) => boolean }> = {
  string: { word: 'text', holds: (value) => typeof value === 'string' },
  number: { word: 'a number', holds: (value) => Number.isFinite(value) },
  integer: { word: 'a whole number', holds: (value) => Number.isSafeInteger(value) },
  boolean: { word: 'true or false', holds: (value) => typeof value === 'boolean' },
  array: { word: 'a list', holds: Array.isArray },
  object: {
    word: 'an object',
    holds: (value) => value !== null && typeof value === 'object' && !Array.isArray(value),
  },
}

function textFaults(
  { minLength = 0, maxLength, pattern }: TemplateParam,
  value: string,
  at: string,
): string[] {
  const length = [...value].length
  const faults: string[] = []
  if (length < minLength)
    faults.push(
      minLength === 1 ? `${at} must not be empty` : `${at} must have at least ${minLength} characters`,
    )
  if (maxLength !== undefined && length > maxLength)
    faults.push(`${at} must have at most ${maxLength} characters`)
  if (pattern !== undefined && !new RegExp(pattern, 'u').test(value))
    faults.push(`${at} must match ${pattern}`)
  return faults
}

function numberFaults({ minimum, maximum }: TemplateParam, value: number, at: string): string[] {
  if (minimum !== undefined && value < minimum) return [`${at} must be at least ${minimum}`]
  return maximum !== undefined && value > maximum ? [`${at} must be at most ${maximum}`] : []
}

function listFaults(
  { minItems = 0, maxItems, items }: TemplateParam,
  value: unknown[],
  at: string,
): string[] {
  if (value.length < minItems)
    return [minItems === 1 ? `${at} must not be empty` : `${at} must have at least ${minItems} entries`]
  if (maxItems !== undefined && value.length > maxItems)
    return [`${at} must have at most ${maxItems} entries`]
  return items ? value.flatMap((entry, i) => valueFaults(items, entry, `${at}[${i}]`)) : []
}

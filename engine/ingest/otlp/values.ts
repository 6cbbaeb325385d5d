/**
 * Values of OTLP as plain JSON: `{stringValue: "a"}` is "a", a list of attributes is an object. Nothing is
 * lost by it: integers past 2^53 are text, as OTLP/JSON has them, doubles keep a point, bytes keep their
 * name. Written as JSON text, because that is what is stored.
 */
import { fail } from '../../errors.ts'
import { fieldsOf, listOf } from './form.ts'

const DEPTH_MAX = 90
const WHOLE = /^-?\d+$/
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/

/** A value of any type as JSON text; null for one of no type. @throws SvcError invalid: nested too deep */
export function valueText(value: unknown, depth = 0): string {
  if (depth > DEPTH_MAX) fail('invalid', `a value nests deeper than ${DEPTH_MAX}`)
  const given = fieldsOf(value)
  if (given.stringValue !== undefined) return JSON.stringify(String(given.stringValue))
  if (given.intValue !== undefined) return wholeText(given.intValue)
  if (given.boolValue !== undefined) return String(given.boolValue === true)
  if (given.doubleValue !== undefined) return doubleText(given.doubleValue)
  if (given.arrayValue !== undefined) {
    const values = listOf(fieldsOf(given.arrayValue).values)
    return `[${values.map((inner) => valueText(inner, depth + 1)).join(',')}]`
  }
  if (given.kvlistValue !== undefined) return attributesText(fieldsOf(given.kvlistValue).values, depth + 1)
  if (given.bytesValue !== undefined) return `{"bytesValue":${JSON.stringify(String(given.bytesValue))}}`
  return 'null'
}

/** Attributes, a list of {key, value}, as the text of an object. */
export function attributesText(attributes: unknown, depth = 0): string {
  const entries = listOf(attributes).map((attribute) => {
    const { key, value } = fieldsOf(attribute)
    return `${JSON.stringify(String(key ?? ''))}:${valueText(value, depth)}`
  })
  return `{${entries.join(',')}}`
}

/** An integer: a number as far as all programs read the same from it, text beyond. */
export function wholeText(value: unknown): string {
  const text = typeof value === 'string' ? value : String(value)
  if (!WHOLE.test(text)) return JSON.stringify(text)
  return Number.isSafeInteger(Number(text)) ? String(Number(text)) : `"${text}"`
}

/** A double, with a point where it is whole; NaN and the infinities by name. */
export function doubleText(value: unknown): string {
  const text = String(value)
  if (!NUMBER.test(text)) return JSON.stringify(text)
  return WHOLE.test(text) ? `${text}.0` : text
}

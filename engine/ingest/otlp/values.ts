/**
 * Values of OTLP as plain JSON: `{stringValue: "a"}` is "a", a list of attributes is an object. Nothing is
 * lost by it: integers past 2^53 are text, as OTLP/JSON has them, doubles keep a point, bytes keep their
 * name. Written as JSON text, because that is what is stored. What is no value of its kind is told, never
 * stored as something else.
 */
import { type Fields, fieldsOf, listOf, RecordFault } from './form.ts'

const DEPTH_MAX = 90
const WHOLE = /^-?\d{1,40}$/
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/
/** Digits that are below 2^63 whatever they are. */
const SURE_LENGTH = 18
const KINDS =
  'one of stringValue, intValue, doubleValue, boolValue, arrayValue, kvlistValue and bytesValue, as in {"stringValue": "a"}'

/** A value of any type as JSON text; null for one of no type. @throws RecordFault */
export function valueText(value: unknown, depth = 0): string {
  if (depth > DEPTH_MAX) throw new RecordFault(`a value nests deeper than ${DEPTH_MAX}`)
  if (value === undefined || value === null) return 'null'
  const given = fieldsOf(value)
  if (given !== value) throw new RecordFault(`a value is not ${KINDS}`)
  const { stringValue, intValue, boolValue, doubleValue } = given
  if (stringValue !== undefined) return textOf(stringValue, 'stringValue')
  if (intValue !== undefined) return wholeText(intValue, 'intValue')
  if (boolValue !== undefined) {
    if (typeof boolValue !== 'boolean') throw new RecordFault('boolValue is not true or false')
    return String(boolValue)
  }
  if (doubleValue !== undefined) return doubleText(doubleValue, 'doubleValue')
  return nestedText(given, depth)
}

function nestedText(given: Fields, depth: number): string {
  const { arrayValue, kvlistValue, bytesValue } = given
  if (arrayValue !== undefined) {
    const values = listIn(arrayValue, 'arrayValue')
    return `[${values.map((inner) => valueText(inner, depth + 1)).join(',')}]`
  }
  if (kvlistValue !== undefined)
    return attributesText(listIn(kvlistValue, 'kvlistValue'), 'values', depth + 1)
  if (bytesValue !== undefined) return `{"bytesValue":${textOf(bytesValue, 'bytesValue')}}`
  if (Object.keys(given).length > 0) throw new RecordFault(`a value is not ${KINDS}`)
  return 'null'
}

function listIn(value: unknown, name: string): unknown[] {
  const { values } = fieldsOf(value)
  if (fieldsOf(value) !== value || (values !== undefined && values !== null && !Array.isArray(values)))
    throw new RecordFault(`${name} is not {"values": [...]}`)
  return listOf(values)
}

function textOf(value: unknown, name: string): string {
  if (typeof value !== 'string') throw new RecordFault(`${name} is not text`)
  return JSON.stringify(value)
}

/**
 * Attributes, a list of {key, value}, as the text of an object.
 * @param name what they are called. @throws RecordFault
 */
export function attributesText(attributes: unknown, name: string, depth = 0): string {
  if (attributes === undefined || attributes === null) return '{}'
  if (!Array.isArray(attributes)) throw new RecordFault(`${name} is not a list of {key, value}`)
  const entries = attributes.map((attribute, i) => {
    const { key = '', value } = fieldsOf(attribute)
    if (fieldsOf(attribute) !== attribute || typeof key !== 'string')
      throw new RecordFault(`${name}[${i}] is not {key, value}`)
    try {
      return `${JSON.stringify(key)}:${valueText(value, depth)}`
    } catch (error) {
      throw error instanceof RecordFault && depth === 0 ? error.in(`${name}.${key.slice(0, 64)}`) : error
    }
  })
  return `{${entries.join(',')}}`
}

/**
 * An integer: a number as far as all programs read the same from it, text beyond.
 * @param name of its field. @param isSigned whether it may be below 0. @throws RecordFault
 */
export function wholeText(value: unknown, name: string, isSigned = true): string {
  const text = wholeDigits(value, name, isSigned)
  return Number.isSafeInteger(Number(text)) ? String(Number(text)) : `"${text}"`
}

/** The digits of a 64-bit integer, which JSON of protobuf writes as number or text. @throws RecordFault */
export function wholeDigits(value: unknown, name: string, isSigned: boolean): string {
  const text = typeof value === 'number' || typeof value === 'string' ? String(value) : ''
  const isWhole = WHOLE.test(text)
  if (isWhole && text.length <= SURE_LENGTH && (isSigned || text[0] !== '-')) return text
  // Of the numbers of JSON those with an exponent may be whole, too.
  const number = isWhole
    ? BigInt(text)
    : NUMBER.test(text) && Number.isInteger(Number(text))
      ? BigInt(Number(text))
      : null
  if (number === null || number !== (isSigned ? BigInt.asIntN(64, number) : BigInt.asUintN(64, number)))
    throw new RecordFault(`${name} is not a whole number of 64 bits${isSigned ? '' : ' from 0'}`)
  return String(number)
}

/** A double, with a point where it is whole; NaN and the infinities by name. @throws RecordFault */
export function doubleText(value: unknown, name: string): string {
  const text = typeof value === 'number' || typeof value === 'string' ? String(value) : ''
  if (NUMBER.test(text)) return /^-?\d+$/.test(text) ? `${text}.0` : text
  if (typeof value === 'string' && /^(?:NaN|-?Infinity)$/.test(text)) return JSON.stringify(text)
  throw new RecordFault(`${name} is not a number`)
}

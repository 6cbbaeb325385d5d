/**
 * Labels of an event (SPEC.md, Sources and labels 2): each is a constant or a payload field, the
 * primary one is the entity key, number labels can be aggregated. An absent value makes no label. A
 * field's value is read as text, then rewritten by pattern, then by map, then typed; spaces around it are not part of it.
 */
import type { Label } from '../../../schemas/types.ts'
import { compileReplace, patternFault } from '../../model/pattern.ts'
import { compileField } from './json-project.ts'

interface ResolvedLabels {
  /** [name, value], the primary one first where `hasEntity`; no name twice. */
  strings: [string, string][]
  hasEntity: boolean
  /** Null when there are none. */
  numbers: Record<string, number> | null
  /** The first label that is left out since its value is too long. */
  tooLong: string | undefined
}

/**
 * The labels of one event.
 * @param stamped labels of the connector; a declared label that has a value wins over one of its name.
 * @param entityLabel the stamped label that is the entity where no declared primary label has a value.
 */
type ResolveLabels = (
  context: Record<string, unknown>,
  stamped?: Record<string, string | number>,
  entityLabel?: string,
) => ResolvedLabels

const VALUE_BYTES_MAX = 1_024
const LABELS_MAX = 64
/** `key_value` addresses the entity in a selector; the other is no name an object can hold. */
const RESERVED = new Set(['key_value', '__proto__'])

/** Whether it can name a label: 1 to 64 letters, digits or underscores, and not reserved. */
export function isLabelName(name: string): boolean {
  return /^[A-Za-z0-9_]{1,64}$/.test(name) && !RESERVED.has(name)
}

/** Rules a schema cannot say. @returns a sentence per fault. */
export function validateLabels(labels: readonly Label[]): string[] {
  const faults: string[] = []
  const seen = new Set<string>()
  labels.forEach((label, i) => {
    if (seen.has(label.name)) faults.push(`labels[${i}].name repeats ${label.name}`)
    seen.add(label.name)
    faults.push(...labelFaults(label).map((fault) => `labels[${i}]${fault}`))
  })
  if (labels.filter((label) => label.primary).length > 1) faults.push('labels: at most one label is primary')
  return faults
}

function labelFaults(label: Label): string[] {
  const faults: string[] = []
  if (!isLabelName(label.name)) faults.push(`.name ${label.name} is reserved`)
  if (label.primary && label.type === 'number') faults.push(': the primary label must be a string')
  if ('const' in label) {
    if (label.type === 'number' && toNumber(label.const) === null) faults.push('.const must be a number')
    if (label.type !== 'number') {
      const value = toLabelValue(label.const)
      if (value === undefined) faults.push('.const is blank')
      if (value === TOO_LONG) faults.push(`.const must have at most ${VALUE_BYTES_MAX} bytes`)
    }
    return faults
  }
  if (label.pattern !== undefined) {
    const fault = patternFault(label.pattern, label.replace ?? '')
    if (fault) faults.push(`.${fault}`)
  } else if (label.replace !== undefined) faults.push('.replace needs a pattern')
  return faults
}

/** Compiles labels without a fault into a function of an event's context. */
export function compileLabels(labels: readonly Label[]): ResolveLabels {
  const primary = labels.find((label) => label.primary)
  const ordered = primary ? [primary, ...labels.filter((label) => label !== primary)] : labels
  const compiled = ordered.map((label) => ({ name: label.name, resolve: compileLabel(label) }))
  return (context, stamped, entityLabel) => {
    const strings: [string, string][] = []
    let numbers: Record<string, number> | null = null
    let tooLong: string | undefined
    for (const { name, resolve } of compiled) {
      const value = resolve(context)
      if (typeof value === 'string') strings.push([name, value])
      else if (value === TOO_LONG) tooLong ??= name
      else if (value !== undefined) {
        numbers ??= {}
        numbers[name] = value
      }
    }
    if (stamped)
      numbers = addStamped(stamped, strings, numbers, (name) => {
        tooLong ??= name
      })
    const hasEntity = moveFirst(strings, primary?.name) || moveFirst(strings, entityLabel)
    return {
      strings: strings.length > LABELS_MAX ? strings.slice(0, LABELS_MAX) : strings,
      hasEntity,
      numbers,
      tooLong,
    }
  }
}

function addStamped(
  stamped: Record<string, string | number>,
  strings: [string, string][],
  numbers: Record<string, number> | null,
  onTooLong: (name: string) => void,
): Record<string, number> | null {
  let all = numbers
  for (const [name, given] of Object.entries(stamped)) {
    if (strings.some(([declared]) => declared === name) || (all && Object.hasOwn(all, name))) continue
    if (typeof given === 'number') {
      if (!Number.isFinite(given)) continue
      all ??= {}
      all[name] = given
    } else {
      const value = toLabelValue(given)
      if (typeof value === 'string') strings.push([name, value])
      else if (value === TOO_LONG) onTooLong(name)
    }
  }
  return all
}

/** Puts that label first. @returns whether the event has it. */
function moveFirst(strings: [string, string][], name: string | undefined): boolean {
  if (name === undefined) return false
  if (strings[0]?.[0] === name) return true
  const at = strings.findIndex(([declared]) => declared === name)
  if (at < 0) return false
  strings.unshift(...strings.splice(at, 1))
  return true
}

function compileLabel(label: Label): (context: unknown) => string | number | typeof TOO_LONG | undefined {
  const isNumber = label.type === 'number'
  if ('const' in label) {
    const value = isNumber ? (toNumber(label.const) ?? undefined) : toLabelValue(label.const)
    return () => value
  }
  const read = compileField(label.field)
  const replace = label.pattern === undefined ? null : compileReplace(label.pattern, label.replace ?? '')
  const map = label.map === undefined ? null : new Map(Object.entries(label.map))
  if (!replace && !map && !isNumber) return (context) => toLabelValue(read(context))
  return (context) => {
    let value = toText(read(context))
    if (value !== undefined && replace) value = replace(value)
    if (value !== undefined && map) value = map.get(value) ?? map.get(withoutSpaces(value)) ?? value
    if (value === undefined) return undefined
    return isNumber ? (toNumber(value) ?? undefined) : toLabelValue(value)
  }
}

const DECIMAL = /^\s*[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?\s*$/i

function toNumber(value: string | number): number | null {
  if (typeof value === 'string' && !DECIMAL.test(value)) return null
  const number = Number(value)
  return Number.isFinite(number) ? number : null
}

/** Text of a value that can be a label; numbers in their JSON form; undefined for any other. */
function toText(value: unknown): string | undefined {
  if (typeof value === 'string') return value
  if (typeof value === 'number') return Number.isFinite(value) ? String(value) : undefined
  return typeof value === 'boolean' ? String(value) : undefined
}

const TOO_LONG = null

/** To the sender. @param sample a label that events were to have */
export const tooLongNotice = ({ sample }: { sample: string }): string =>
  `values over 1,024 bytes are no labels: events that have one for ${sample} are stored without that label.`

/** On the source. @param given how many events lack a label, and which the first of them */
export function tooLongHealth({ count, sample }: { count: number; sample: string }): string {
  const which =
    count === 1 ? `1 event has no label ${sample}` : `${count} events lack a label, the first ${sample}`
  return `${which}, since values over 1,024 bytes are no labels: read a part of the value by pattern, or another field.`
}

/**
 * The value as it is stored: without spaces around it, of which nobody sees that they make it another, well-formed, without
 * NUL; undefined when it is empty.
 */
function toLabelValue(value: unknown): string | typeof TOO_LONG | undefined {
  const given = toText(value)
  if (given === undefined || given === '') return undefined
  const text = withoutSpaces(given)
  if (text === '') return undefined
  // 341 characters are at most 1,023 bytes: the byte count is only needed past that.
  if (text.length > 341 && Buffer.byteLength(text) > VALUE_BYTES_MAX) return TOO_LONG
  return UNSTORABLE.test(text) ? text.replace(UNSTORABLE_ALL, '\ufffd') : text
}

/** Without spaces, tabs and line ends of ASCII around it: what the kernel finds at one look at each end. */
function withoutSpaces(text: string): string {
  let [from, to] = [0, text.length]
  while (from < to && SPACES.has(text.charCodeAt(from))) from++
  while (to > from && SPACES.has(text.charCodeAt(to - 1))) to--
  return from === 0 && to === text.length ? text : text.slice(from, to)
}

const SPACES: ReadonlySet<number> = new Set([0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x20])

// Half a surrogate pair has no UTF-8 form: two values that differ in memory would be one when stored.
const UNSTORABLE = /[\0\p{Surrogate}]/u
const UNSTORABLE_ALL = /[\0\p{Surrogate}]/gu

/*
 * Summary texts (SPEC.md, Webhook connector config: text_template). A template holds {field}
 * placeholders, dots for nested values, and nothing else: no code, no formats, so that no payload or
 * template can make it throw.
 */

/** Characters of a text made from a template. */
export const TEXT_MAX = 4_096
const SUMMARY_MAX = 500

/**
 * Compiles a template into a function of the payload: one line, at most 4,096 characters. `{{` and `}}`
 * are literal braces, a missing field is empty text, an object or list is compact JSON.
 */
export function compileTemplate(template: string): (context: unknown) => string {
  const parts = parseTemplate(template).map((part) =>
    typeof part === 'string' ? part : compileField(part.field),
  )
  return (context) => {
    let text = ''
    for (const part of parts) {
      text += typeof part === 'string' ? part : textOf(part(context))
      if (text.length > TEXT_MAX) break
    }
    return oneLine(text, TEXT_MAX)
  }
}

/** The fields a template names. */
export function templateFields(template: string): string[] {
  return parseTemplate(template).flatMap((part) => (typeof part === 'string' ? [] : [part.field]))
}

/** Literal text and fields, in order. */
export function parseTemplate(template: string): (string | { field: string })[] {
  const parts: (string | { field: string })[] = []
  let rest = 0
  for (const match of template.matchAll(/\{\{|\}\}|\{([^{}]*)\}/g)) {
    if (match.index > rest) parts.push(template.slice(rest, match.index))
    if (match[0] === '{{') parts.push('{')
    else if (match[0] === '}}') parts.push('}')
    else parts.push({ field: match[1]!.trim() })
    rest = match.index + match[0].length
  }
  if (rest < template.length) parts.push(template.slice(rest))
  return parts
}

/** What a payload says without a template: text as it is, else compact JSON; at most 500 characters. */
export function summarise(value: unknown): string {
  return oneLine(typeof value === 'string' ? value : (JSON.stringify(value) ?? ''), SUMMARY_MAX)
}

/** Text on one line without NUL, at most `max` characters, never half a surrogate pair. */
export function oneLine(text: string, max: number): string {
  const cut =
    text.length > max ? text.slice(0, isHighSurrogate(text.charCodeAt(max - 1)) ? max - 1 : max) : text
  // One look for nearly all texts, which need no change.
  if (!SPECIAL.test(cut)) return cut
  return cut.replace(LINE_BREAK, ' ').replace(UNSTORABLE_TEXT, '\ufffd')
}

const SPECIAL = /[\0\n\v\f\r\u0085\u2028\u2029\ud800-\udfff]/
const LINE_BREAK = /\r\n|[\n\v\f\r\u0085\u2028\u2029]/g
const UNSTORABLE_TEXT = /[\0\p{Surrogate}]/gu

const isHighSurrogate = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdbff

function textOf(value: unknown): string {
  if (value === undefined || value === null) return ''
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

/** Labels of the traces that a span links to, in the order of its links; what is linked to finds it by them. */
export const LINKED_TRACE_LABELS = [
  'linked_trace_id',
  'linked_trace_id_2',
  'linked_trace_id_3',
  'linked_trace_id_4',
] as const

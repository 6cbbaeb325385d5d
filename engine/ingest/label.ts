/**
 * Labels of an event (SPEC.md, Sources and labels 2): each is a constant or a payload field, the
 * primary one is the entity key, number labels can be aggregated. An absent value makes no label.
 */
import type { Label } from '../../schemas/types.ts'
import { compileField } from './field.ts'
import { compileReplace, patternFault } from './pattern.ts'

export interface ResolvedLabels {
  /** [name, value], the primary one first where `hasEntity`; no name twice. */
  strings: [string, string][]
  hasEntity: boolean
  numbers: Record<string, number> | null
}

const VALUE_BYTES_MAX = 1_024
const LABELS_MAX = 64

/** Rules a schema cannot say. @returns a sentence per fault. */
export function validateLabels(labels: readonly Label[]): string[] {
  const faults: string[] = []
  const seen = new Set<string>()
  labels.forEach((label, i) => {
    const at = `labels[${i}]`
    if (label.name === 'key_value') faults.push(`${at}.name key_value is reserved`)
    if (seen.has(label.name)) faults.push(`${at}.name repeats ${label.name}`)
    seen.add(label.name)
    if (label.primary && label.type === 'number') faults.push(`${at}: the primary label must be a string`)
    if (label.type === 'number' && 'const' in label && toNumber(label.const) === null)
      faults.push(`${at}.const must be a number`)
    if ('field' in label && label.pattern !== undefined) {
      const fault = patternFault(label.pattern)
      if (fault) faults.push(`${at}.${fault}`)
    }
    if ('field' in label && label.replace !== undefined && label.pattern === undefined)
      faults.push(`${at}.replace needs a pattern`)
  })
  if (labels.filter((label) => label.primary).length > 1) faults.push('labels: at most one label is primary')
  return faults
}

type Resolve = (context: unknown) => string | number | undefined

/** Compiles labels into a function of an event's context. */
export function compileLabels(
  labels: readonly Label[],
): (
  context: Record<string, unknown>,
  stamped?: Record<string, string | number>,
  entityLabel?: string,
) => ResolvedLabels {
  const ordered = [...labels].sort((a, b) => Number(b.primary ?? false) - Number(a.primary ?? false))
  const compiled = ordered.map((label) => ({
    name: label.name,
    primary: label.primary === true,
    resolve: compileLabel(label),
  }))
  const declared = new Set(labels.map((label) => label.name))
  return (context, stamped, entityLabel) => {
    const strings: [string, string][] = []
    let numbers: Record<string, number> | null = null
    let hasEntity = false
    for (const { name, primary, resolve } of compiled) {
      const value = resolve(context)
      if (typeof value === 'string') {
        strings.push([name, value])
        if (primary) hasEntity = true
      } else if (value !== undefined) {
        numbers ??= {}
        numbers[name] = value
      }
    }
    if (stamped) numbers = addStamped(stamped, declared, strings, numbers)
    if (!hasEntity && entityLabel !== undefined) hasEntity = moveFirst(strings, entityLabel)
    return {
      strings: strings.length > LABELS_MAX ? strings.slice(0, LABELS_MAX) : strings,
      hasEntity,
      numbers,
    }
  }
}

function addStamped(
  stamped: Record<string, string | number>,
  declared: ReadonlySet<string>,
  strings: [string, string][],
  numbers: Record<string, number> | null,
): Record<string, number> | null {
  let all = numbers
  for (const [name, given] of Object.entries(stamped)) {
    if (declared.has(name)) continue
    if (typeof given === 'number') {
      all ??= {}
      all[name] = given
    } else {
      const value = toLabelValue(given)
      if (value !== undefined) strings.push([name, value])
    }
  }
  return all
}

function moveFirst(strings: [string, string][], name: string): boolean {
  const at = strings.findIndex(([n]) => n === name)
  if (at < 0) return false
  strings.unshift(...strings.splice(at, 1))
  return true
}

function compileLabel(label: Label): Resolve {
  const number = label.type === 'number'
  if ('const' in label) {
    const value = number ? (toNumber(label.const) ?? undefined) : toLabelValue(label.const)
    return () => value
  }
  const read = compileField(label.field)
  const replace = label.pattern === undefined ? null : compileReplace(label.pattern, label.replace ?? '')
  const map = label.map === undefined ? null : new Map(Object.entries(label.map))
  if (!replace && !map && !number) return (context) => toLabelValue(read(context))
  return (context) => {
    const found = read(context)
    if (number && typeof found === 'number' && !replace && !map)
      return Number.isFinite(found) ? found : undefined
    let value = toLabelValue(found)
    if (value !== undefined && replace) value = replace(value)
    if (value !== undefined && map) value = map.get(value) ?? value
    if (value === undefined) return undefined
    return number ? (toNumber(value) ?? undefined) : toLabelValue(value)
  }
}

function toNumber(value: unknown): number | null {
  if (typeof value === 'string' && value.trim() === '') return null
  const number = typeof value === 'number' || typeof value === 'string' ? Number(value) : Number.NaN
  return Number.isFinite(number) ? number : null
}

/** The value as label text; undefined where there is none to be had. */
function toLabelValue(value: unknown): string | undefined {
  if (typeof value === 'string') {
    if (value === '') return undefined
    // 341 characters are at most 1,023 bytes: the byte count is only needed past that.
    if (value.length > 341 && Buffer.byteLength(value) > VALUE_BYTES_MAX) return undefined
    return value.includes('\0') ? value.replaceAll('\0', '\ufffd') : value
  }
  if (typeof value === 'number') return Number.isFinite(value) ? String(value) : undefined
  if (typeof value === 'boolean') return String(value)
  return undefined
}

/**
 * Differences and three-way merges of JSON documents, field by field. Objects are compared key by
 * key; lists and scalars are one field. Fields are named by RFC 6901 pointers.
 */
import type { FieldChange } from '../../schemas/types.ts'

/** A field that two writers changed from the same base. */
export interface FieldConflict {
  path: string
  base: unknown
  mine: unknown
  theirs: unknown
}

type Fields = Readonly<Record<string, unknown>>

const isObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Deep equality of JSON values; the order of keys does not count, the order of a list does. */
export function equal(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (Array.isArray(a) && Array.isArray(b))
    return a.length === b.length && a.every((item, i) => equal(item, b[i]))
  if (!isObject(a) || !isObject(b)) return false
  const keys = Object.keys(a).filter((key) => a[key] !== undefined)
  return (
    keys.length === Object.keys(b).filter((key) => b[key] !== undefined).length &&
    keys.every((key) => equal(a[key], b[key]))
  )
}

/** The fields that differ, in the order of `before`, then of `after`. */
export function differences(before: unknown, after: unknown, path = ''): FieldChange[] {
  if (equal(before, after)) return []
  if (!isObject(before) || !isObject(after)) {
    const change: FieldChange = { path }
    if (before !== undefined) change.from = before
    if (after !== undefined) change.to = after
    return [change]
  }
  return keysOf(before, after).flatMap((key) =>
    differences(before[key], after[key], `${path}/${escapeKey(key)}`),
  )
}

/** Whether a field is a set of entries by name, which is left out when it is empty. */
export type IsSet = (path: string) => boolean

/**
 * What both writers wanted, where they did not change the same field.
 * @returns the merged value, and the fields both changed differently.
 */
export function merge<T>(
  base: T,
  mine: T,
  theirs: T,
  isSet: IsSet = () => false,
): { merged: T; conflicts: FieldConflict[] } {
  const conflicts: FieldConflict[] = []
  const merged = mergeAt({ base, mine, theirs }, '', isSet, conflicts) as T
  return { merged, conflicts }
}

function mergeAt(
  sides: { base: unknown; mine: unknown; theirs: unknown },
  path: string,
  isSet: IsSet,
  conflicts: FieldConflict[],
): unknown {
  if (equal(sides.mine, sides.theirs) || equal(sides.base, sides.mine)) return sides.theirs
  if (equal(sides.base, sides.theirs)) return sides.mine
  const none = isSet(path) ? {} : undefined
  const { base = none, mine = none, theirs = none } = sides
  if (!isObject(mine) || !isObject(theirs) || !(isObject(base) || base === undefined)) {
    conflicts.push({ path, ...sides })
    return theirs
  }
  const out: Record<string, unknown> = {}
  for (const key of keysOf(theirs, mine)) {
    const inner = { base: base?.[key], mine: mine[key], theirs: theirs[key] }
    const value = mergeAt(inner, `${path}/${escapeKey(key)}`, isSet, conflicts)
    if (value !== undefined) out[key] = value
  }
  const isLeftOut = sides.mine === undefined || sides.theirs === undefined
  return isLeftOut && Object.keys(out).length === 0 ? undefined : out
}

/** A document with a merge patch applied (RFC 7396): null removes a field. */
export function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch
  const out: Record<string, unknown> = isObject(target) ? { ...target } : {}
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete out[key]
    else out[key] = mergePatch(out[key], value)
  }
  return out
}

const keysOf = (a: Fields, b: Fields): string[] => [...new Set([...Object.keys(a), ...Object.keys(b)])]

/** A key as a part of an RFC 6901 pointer. */
const escapeKey = (key: string): string => key.replaceAll('~', '~0').replaceAll('/', '~1')

/** Merge patches (RFC 7396): applied, and made of what differs. */
import { type Fields, isFields, nullsRemoved, sameValue } from './values.ts'

/** A document with a patch applied: null removes a field. */
export function patched(target: unknown, patch: unknown): unknown {
  if (!isFields(patch)) return patch
  const out: Record<string, unknown> = isFields(target) ? { ...target } : {}
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete out[key]
    else out[key] = patched(out[key], value)
  }
  return out
}

/** Two patches as one that does what both do, one after the other: unlike in one that is applied, nulls are kept. */
export function composed(first: unknown, then: unknown): unknown {
  if (!isFields(first) || !isFields(then)) return then
  const out: Record<string, unknown> = { ...first }
  for (const [key, value] of Object.entries(then))
    out[key] = Object.hasOwn(first, key) ? composed(first[key], value) : value
  return out
}

/** Whether two patches speak of a same value. */
export const sharesValue = (a: unknown, b: unknown): boolean =>
  !isFields(a) ||
  !isFields(b) ||
  Object.keys(b).some((key) => Object.hasOwn(a, key) && sharesValue(a[key], b[key]))

/**
 * The patch that leads from one document to another. A field that is null stands for one that is not
 * set, which is what a patch makes of it.
 * @returns null when nothing differs.
 */
export function patchBetween(before: Fields, after: Fields): Fields | null {
  const [from, to] = [nullsRemoved(before), nullsRemoved(after)]
  const patch: Record<string, unknown> = {}
  for (const key of new Set([...Object.keys(from), ...Object.keys(to)])) {
    const [was, is] = [from[key], to[key]]
    if (sameValue(was, is)) continue
    if (is === undefined) patch[key] = null
    else if (isFields(was) && isFields(is)) patch[key] = patchBetween(was, is) ?? {}
    else patch[key] = is
  }
  return Object.keys(patch).length ? patch : null
}

/** The keys an RFC 6901 pointer leads through. */
export const keysOf = (pointer: string): string[] =>
  pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))

/** The pointer of some keys. */
export const pointerOf = (keys: readonly string[]): string =>
  keys.map((key) => `/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')

/** The value at a pointer; undefined where there is none. */
export const valueAt = (doc: unknown, pointer: string): unknown =>
  keysOf(pointer).reduce<unknown>((value, key) => (isFields(value) ? value[key] : undefined), doc)

/**
 * A document without what a pointer leads to, and without what is empty thereby. Where the document
 * ends on the way, as a patch does that removes all of an object, that end goes.
 */
export function without(doc: Fields, pointer: string): Fields {
  const [key, ...rest] = keysOf(pointer)
  if (key === undefined || !Object.hasOwn(doc, key)) return doc
  const { [key]: inner, ...others } = doc
  if (rest.length === 0 || !isFields(inner)) return others
  const left = without(inner, pointerOf(rest))
  return Object.keys(left).length ? { ...doc, [key]: left } : others
}

/** A document with a value at a pointer; undefined removes it. */
export function withValue(doc: Fields, pointer: string, value: unknown): Fields {
  if (value === undefined) return without(doc, pointer)
  const [key, ...rest] = keysOf(pointer)
  if (key === undefined) return doc
  const inner = doc[key]
  return {
    ...doc,
    [key]: rest.length ? withValue(isFields(inner) ? inner : {}, pointerOf(rest), value) : value,
  }
}

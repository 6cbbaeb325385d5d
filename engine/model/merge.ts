/**
 * Three-way merges of JSON documents, field by field: what one side alone changed is taken, what both changed in
 * different ways is a conflict. Fields are named by RFC 6901 pointers, entries of a list by their name.
 */

/** A field that two writers changed from the same base. */
export interface FieldConflict {
  path: string
  base: unknown
  mine: unknown
  theirs: unknown
}

export interface MergeRules {
  /** Whether a field is a set of entries by name, which is left out when it is empty. */
  isSet?(path: string): boolean
  /** Whether a field is a list of names, no name twice: what each side added or took out of it is merged. */
  isNames?(path: string): boolean
  /** Lists whose entries have names are merged by these; else a list is one field. */
  byName?: boolean
  /** Whether a field is taken whole, whatever it holds. */
  isWhole?(path: string): boolean
  /** Whose value a field that is in conflict gets; theirs where it is left out. */
  prefer?(path: string): 'mine' | 'theirs'
}

interface Sides {
  base: unknown
  mine: unknown
  theirs: unknown
}

export type Fields = Readonly<Record<string, unknown>>

export const isObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/**
 * What both writers wanted, where they did not change the same field.
 * @returns the merged value, and the fields both changed differently.
 */
export function merge<T>(
  base: T,
  mine: T,
  theirs: T,
  rules: MergeRules = {},
): { merged: T; conflicts: FieldConflict[] } {
  const merging = new Merging(rules)
  const merged = merging.at({ base, mine, theirs }, '') as T
  return { merged, conflicts: merging.conflicts }
}

class Merging {
  readonly conflicts: FieldConflict[] = []

  constructor(private readonly rules: MergeRules) {}

  at(sides: Sides, path: string): unknown {
    if (equal(sides.mine, sides.theirs) || equal(sides.base, sides.mine)) return sides.theirs
    if (equal(sides.base, sides.theirs)) return sides.mine
    if (this.rules.isWhole?.(path)) return this.conflict(sides, path)
    const ofNames = this.rules.isNames?.(path) ? namesOf(sides) : null
    const lists = ofNames ?? (this.rules.byName ? listsOf(sides) : null)
    if (lists) return this.list(lists, sides, path)
    const none = this.rules.isSet?.(path) ? {} : undefined
    const { base = none, mine = none, theirs = none } = sides
    if (!isObject(mine) || !isObject(theirs) || !(isObject(base) || base === undefined))
      return this.conflict(sides, path)
    const out: Record<string, unknown> = {}
    for (const key of keysOf(theirs, mine)) {
      const inner = { base: base?.[key], mine: mine[key], theirs: theirs[key] }
      const value = this.at(inner, `${path}/${escapeKey(key)}`)
      if (value !== undefined) out[key] = value
    }
    const isLeftOut = sides.mine === undefined || sides.theirs === undefined
    return isLeftOut && Object.keys(out).length === 0 ? undefined : out
  }

  private conflict(sides: Sides, path: string): unknown {
    this.conflicts.push({ path, ...sides })
    return this.rules.prefer?.(path) === 'mine' ? sides.mine : sides.theirs
  }

  private list({ base, mine, theirs }: NamedLists, sides: Sides, path: string): unknown[] {
    const order = this.orderOf([...base.keys()], [...mine.keys()], [...theirs.keys()], sides, path)
    return order.flatMap((name) => {
      const inner = { base: base.get(name), mine: mine.get(name), theirs: theirs.get(name) }
      const value = this.at(inner, `${path}/${escapeKey(name)}`)
      return value === undefined ? [] : [value]
    })
  }

  /** Of the side that moved entries; two orders of what both have are a conflict of the list. */
  private orderOf(
    base: readonly string[],
    mine: readonly string[],
    theirs: readonly string[],
    sides: Sides,
    path: string,
  ): string[] {
    const both = (list: readonly string[], other: readonly string[]) =>
      list.filter((name) => other.includes(name))
    if (equal(both(theirs, base), both(base, theirs))) return interleaved(mine, theirs)
    if (equal(both(mine, base), both(base, mine))) return interleaved(theirs, mine)
    if (!equal(both(mine, theirs), both(theirs, mine))) this.conflict(sides, path)
    return this.rules.prefer?.(path) === 'theirs' ? interleaved(theirs, mine) : interleaved(mine, theirs)
  }
}

/** All names of both: in the order of the first, what the second alone has after what it follows there. */
function interleaved(first: readonly string[], second: readonly string[]): string[] {
  const out = [...first]
  second.forEach((name, i) => {
    if (first.includes(name)) return
    const previous = second.slice(0, i).findLast((one) => out.includes(one))
    out.splice(previous === undefined ? 0 : out.indexOf(previous) + 1, 0, name)
  })
  return out
}

/* Lists whose entries are told apart by what they say. */

/** By which of their fields entries of a list within a document are told apart: the first that all have. */
const NAMES = [['kind', 'name'], ['name'], ['verdict', 'agent'], ['verdict']]

type NamedLists = Record<'base' | 'mine' | 'theirs', ReadonlyMap<string, unknown>>

/** Entries by name; null: the sides are no lists, or two entries of one have no name or the same. */
function listsOf({ base = [], mine, theirs }: Sides): NamedLists | null {
  if (!Array.isArray(base) || !Array.isArray(mine) || !Array.isArray(theirs)) return null
  const all = [...base, ...mine, ...theirs]
  const keys = NAMES.find((names) =>
    all.every((item) => isObject(item) && names.every((name) => typeof item[name] === 'string')),
  )
  if (!keys || all.length === 0) return null
  const named = (list: readonly Fields[]) => new Map(list.map((item) => [nameBy(keys, item), item]))
  const lists = { base: named(base), mine: named(mine), theirs: named(theirs) }
  const isUnique =
    lists.base.size === base.length && lists.mine.size === mine.length && lists.theirs.size === theirs.length
  return isUnique ? lists : null
}

/** Lists of names, each its own entry; null: one of the sides is no list. */
function namesOf({ base = [], mine, theirs }: Sides): NamedLists | null {
  if (!Array.isArray(base) || !Array.isArray(mine) || !Array.isArray(theirs)) return null
  const named = (list: readonly string[]) => new Map(list.map((name) => [name, name]))
  return { base: named(base), mine: named(mine), theirs: named(theirs) }
}

const nameBy = (keys: readonly string[], item: Fields): string =>
  keys.map((key) => String(item[key])).join(' ')

/** What an entry of a list goes by in a pointer, such as its name; null: it has none. */
export function nameOfEntry(item: unknown): string | null {
  if (!isObject(item)) return null
  const keys = NAMES.find((names) => names.every((name) => typeof item[name] === 'string'))
  return keys ? nameBy(keys, item) : null
}

/** The value at a pointer through maps and, by name, through lists. */
export function valueAt(doc: unknown, pointer: string): unknown {
  return stepsOf(pointer).reduce<unknown>((value, step) => {
    if (Array.isArray(value)) return value.find((item) => nameOfEntry(item) === step) ?? value[Number(step)]
    return isObject(value) ? value[step] : undefined
  }, doc)
}

/** The steps of a pointer. */
export const stepsOf = (pointer: string): string[] =>
  pointer
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))

export const keysOf = (a: Fields, b: Fields): string[] => [...new Set([...Object.keys(a), ...Object.keys(b)])]

/** A key as a part of an RFC 6901 pointer. */
export const escapeKey = (key: string): string => key.replaceAll('~', '~0').replaceAll('/', '~1')

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

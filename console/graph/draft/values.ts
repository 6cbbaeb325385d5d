/** JSON values, compared and told apart. */
export type Fields = Readonly<Record<string, unknown>>

export const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Deep equality; the order of keys does not count, the order of a list does. */
export function sameValue(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (Array.isArray(a) && Array.isArray(b))
    return a.length === b.length && a.every((item, i) => sameValue(item, b[i]))
  if (!isFields(a) || !isFields(b)) return false
  const keys = Object.keys(a)
  return keys.length === Object.keys(b).length && keys.every((key) => sameValue(a[key], b[key]))
}

/** A document without the fields that are null or not set; lists stay as they are. */
export function nullsRemoved(doc: Fields): Fields {
  return Object.fromEntries(
    Object.entries(doc)
      .filter(([, value]) => value !== null && value !== undefined)
      .map(([key, value]) => [key, isFields(value) ? nullsRemoved(value) : value]),
  )
}

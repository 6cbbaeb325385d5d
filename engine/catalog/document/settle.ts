/** What an entry of a file is to say, in the words the file already says it with where it can. */
import { equal } from '../../changes/fields.ts'
import { fieldOf, isEntry } from './sections.ts'

/** Fields of one map that differ and are still compared one by one. */
const FIELDS_MAX = 100

/** Whether a value means the same as the one that is wanted. */
type Means = (candidate: unknown) => boolean

/**
 * A value that means what `after` means and keeps as much of `before` as it can: a field that is
 * absent where its default is given, a word where a map says the same.
 */
export function settle(before: unknown, after: unknown, means: Means): unknown {
  if (equal(before, after) || means(before)) return before
  if (isEntry(before) && isEntry(after)) {
    const all = new Set([...Object.keys(before), ...Object.keys(after)])
    const keys = [...all].filter((key) => !equal(fieldOf(before, key), fieldOf(after, key)))
    if (keys.length > FIELDS_MAX) return after
    return keys.reduce((current: Record<string, unknown>, key) => {
      const inner = settle(fieldOf(before, key), fieldOf(after, key), (value) =>
        means(withField(current, key, value)),
      )
      return withField(current, key, inner)
    }, after)
  }
  if (Array.isArray(before) && Array.isArray(after) && before.length === after.length)
    return before.slice(0, FIELDS_MAX).reduce((current: unknown[], item, i) => {
      if (equal(item, after[i])) return current
      const inner = settle(item, after[i], (value) => means(current.with(i, value)))
      return current.with(i, inner)
    }, after)
  return after
}

/** A copy with the field set; without it, when the value is undefined. */
function withField(map: Record<string, unknown>, key: string, value: unknown): Record<string, unknown> {
  if (value !== undefined) return { ...map, [key]: value }
  const { [key]: _gone, ...rest } = map
  return rest
}

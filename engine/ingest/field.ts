/**
 * One resolver for field names, whatever the connector: the exact name first, then a walk over the
 * dots to any depth, trying the longest name at each level, so that `resourceAttributes.service.name`
 * is found nested or flat. A string that is JSON is walked into like an object: `Message.AlarmName`.
 * Only own properties count: a payload cannot reach a prototype.
 */
import { parseText, TEXT_LEVELS } from './json-text.ts'

/**
 * @param context what the payload offers; anything but an object has no fields.
 * @param path a name, dotted for nested values; entries of a list are counted from 0.
 * @returns the value, or undefined where there is none.
 */
export function lookup(context: unknown, path: string): unknown {
  return context === null || typeof context !== 'object' ? undefined : walk(context, path, TEXT_LEVELS)
}

/** @param levels strings that may still be walked into. */
function walk(context: unknown, path: string, levels: number): unknown {
  if (typeof context === 'string') {
    const inner = levels > 0 ? parseText(context) : undefined
    return inner === undefined ? undefined : walk(inner, path, levels - 1)
  }
  if (context === null || typeof context !== 'object') return undefined
  if (owns(context, path)) return (context as Record<string, unknown>)[path]
  for (let dot = path.lastIndexOf('.'); dot > 0; dot = path.lastIndexOf('.', dot - 1)) {
    const head = path.slice(0, dot)
    if (!owns(context, head)) continue
    const found = walk((context as Record<string, unknown>)[head], path.slice(dot + 1), levels)
    if (found !== undefined) return found
  }
  return undefined
}

/** The same as a function of the context; a name without dots needs no walk. */
export function compileField(path: string): (context: unknown) => unknown {
  if (path.includes('.')) return (context) => lookup(context, path)
  return (context) =>
    context !== null && typeof context === 'object' && owns(context, path)
      ? (context as Record<string, unknown>)[path]
      : undefined
}

/** The names at the top of a payload that a look-up of `path` may begin with. */
export function headsOf(path: string): string[] {
  const heads = [path]
  for (let dot = path.lastIndexOf('.'); dot > 0; dot = path.lastIndexOf('.', dot - 1))
    heads.push(path.slice(0, dot))
  return heads
}

/** A list's `length` is its own property too, but not of the payload. */
function owns(context: object, name: string): boolean {
  return Object.hasOwn(context, name) && !(name === 'length' && Array.isArray(context))
}

/**
 * One resolver for field names, whatever the connector: the exact name first, then a walk over the
 * dots to any depth, trying the longest name at each level, so that `resourceAttributes.service.name`
 * is found nested or flat. Only own properties count: a payload cannot reach a prototype.
 */

/** @param path a name, dotted for nested values; list indexes are numbers. */
export function lookup(context: unknown, path: string): unknown {
  if (context === null || typeof context !== 'object') return undefined
  if (Object.hasOwn(context, path)) return (context as Record<string, unknown>)[path]
  for (let dot = path.lastIndexOf('.'); dot > 0; dot = path.lastIndexOf('.', dot - 1)) {
    const head = path.slice(0, dot)
    if (!Object.hasOwn(context, head)) continue
    const found = lookup((context as Record<string, unknown>)[head], path.slice(dot + 1))
    if (found !== undefined) return found
  }
  return undefined
}

/** The same as a function of the context; a name without dots needs no walk. */
export function compileField(path: string): (context: unknown) => unknown {
  if (path.includes('.')) return (context) => lookup(context, path)
  return (context) =>
    context !== null && typeof context === 'object' && Object.hasOwn(context, path)
      ? (context as Record<string, unknown>)[path]
      : undefined
}

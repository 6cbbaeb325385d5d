/**
 * Schemas of the MCP tools for clients that know none of our other schemas: every reference is
 * replaced by what it leads to, a choice of types is spelt out, and what only we read is left out.
 */

type Json = Record<string, unknown>

/** Keywords of ours, and those that only name a schema. */
const OURS = /^(\$schema|\$id|title|tsType|x-.*)$/

/**
 * @param find the schema with an $id.
 * @returns a copy without references. @throws Error where schemas lead in a circle: a fault of ours.
 */
export function selfContained(schema: Json, find: (id: string) => Json, within: string[] = []): Json {
  const ref = schema.$ref
  if (typeof ref !== 'string') return copyOf(schema, find, within)
  if (within.includes(ref)) throw new Error(`${within.join(' → ')} → ${ref} is a circle`)
  return selfContained(find(ref), find, [...within, ref])
}

function copyOf(schema: Json, find: (id: string) => Json, within: string[]): Json {
  const inner = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(inner)
    return typeof value === 'object' && value !== null ? selfContained(value as Json, find, within) : value
  }
  const { type, format, ...others } = schema
  // Some clients know one type a schema alone.
  const types = Array.isArray(type)
    ? {
        anyOf: type.map((one) =>
          one === 'string' && format !== undefined ? { type: one, format } : { type: one },
        ),
      }
    : { ...(type === undefined ? {} : { type }), ...(format === undefined ? {} : { format }) }
  return Object.fromEntries(
    Object.entries({ ...types, ...others })
      .filter(([keyword]) => !OURS.test(keyword))
      .map(([keyword, value]) => [keyword, keyword === 'properties' ? named(value as Json) : inner(value)]),
  )

  /** The names of properties are not keywords. */
  function named(properties: Json): Json {
    return Object.fromEntries(Object.entries(properties).map(([name, value]) => [name, inner(value)]))
  }
}

/** The schemas as data, for who reads them and checks nothing. */
import { findSchema, type Schema, schemaIds } from './registry.ts'

export { schemaIds } from './registry.ts'

/** The schema with this $id. @throws Error when there is none: a fault of ours. */
export function schemaOf(id: string): Schema {
  const schema = findSchema(id)
  if (!schema) throw new Error(`no schema has the $id ${id}`)
  return schema
}

/** All schemas, for OpenAPI and the docs. */
export const allSchemas = (): Schema[] => schemaIds.map(schemaOf)

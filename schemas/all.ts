/** The schemas as data, for who reads them and checks nothing. */
import { schemas } from './registry.ts'

const byId = new Map(schemas.map((schema) => [schema.$id, schema]))

/** The schema with this $id. @throws Error when there is none: a fault of ours. */
export function schemaOf(id: string): (typeof schemas)[number] {
  const schema = byId.get(id)
  if (!schema) throw new Error(`no schema has the $id ${id}`)
  return schema
}

/** All schemas, for OpenAPI and the docs. */
export function allSchemas(): typeof schemas {
  return schemas
}

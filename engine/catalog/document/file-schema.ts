/**
 * The JSON Schema of a catalog file in one piece, for editors: every noun as a definition, and the
 * config of a source checked by its connector.
 */

import { schemaOf } from '../../../schemas/index.ts'
import type { CatalogFileSchema } from '../../../schemas/types.ts'

type Json = Record<string, unknown>

/** @param connectors with the schema of their config. @returns draft-07, without outside references. */
export function catalogFileSchema(
  connectors: readonly { kind: string; schema: object }[],
): CatalogFileSchema {
  const definitions: Json = {}
  const root = inlined(schemaOf('catalog.json') as Json, definitions)
  for (const { kind, schema } of connectors)
    definitions[`config-${kind}`] = inlined(schema as Json, definitions)
  const source = definitions['catalog-source'] as Json
  const properties = source.properties as Json
  source.properties = {
    ...properties,
    connector: { ...(properties.connector as Json), enum: connectors.map(({ kind }) => kind) },
  }
  source.allOf = connectors.map(({ kind }) => ({
    if: { properties: { connector: { const: kind } }, required: ['connector'] },
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema.
    then: { properties: { config: { $ref: `#/definitions/config-${kind}` } } },
  }))
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    $id: 'catalog.schema.json',
    ...root,
    definitions: Object.fromEntries(Object.entries(definitions).sort(([a], [b]) => (a < b ? -1 : 1))),
  }
}

/** A copy without our own keywords, its references pointing at definitions, which it adds. */
function inlined(schema: Json, definitions: Json): Json {
  const copy = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(copy)
    if (typeof value !== 'object' || value === null) return value
    const out: Json = {}
    for (const [key, entry] of Object.entries(value)) {
      if (key.startsWith('x-') || key === 'tsType' || key === '$schema' || key === '$id') continue
      out[key] = key === '$ref' ? refTo(String(entry), definitions) : copy(entry)
    }
    return out
  }
  return copy(schema) as Json
}

function refTo(id: string, definitions: Json): string {
  const name = id.replace(/\.json$/, '')
  if (definitions[name] === undefined) {
    // Reserved first: a schema may refer to itself.
    definitions[name] = {}
    definitions[name] = inlined(schemaOf(id) as Json, definitions)
  }
  return `#/definitions/${name}`
}

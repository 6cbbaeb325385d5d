/**
 * The JSON Schema of a catalog file in one piece, for editors: every noun as a definition, and the config of a source
 * checked by its connector. A file of one part and one of an environment are checked, too.
 */
import { schemaOf } from './index.ts'
import { SECTION_OF } from './kinds.ts'
import type { CatalogFileSchema } from './types.ts'

type Json = Record<string, unknown>

const DEFINITIONS = '#/definitions/'

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
  source.allOf = connectors.map(({ kind }) =>
    where('connector', [kind], { properties: { config: { $ref: `${DEFINITIONS}config-${kind}` } } }),
  )
  const { title, ...sections } = root
  definitions.catalog = {
    ...sections,
    properties: { ...(sections.properties as Json), kind: KIND },
    ...EXTRAS,
  }
  for (const [kind, section] of Object.entries(SECTION_OF)) {
    const entry = entryOf(sections, section)
    definitions[`part-${kind}`] = onePart(entry, definitions[entry] as Json)
    definitions[`changed-${kind}`] = changed(entry, definitions)
  }
  definitions['catalog-environment'] = ofEnvironment(sections)
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    $id: 'catalog.schema.json',
    title: String(title),
    ...{ description: root.description, type: 'object' },
    ...given(
      'environment',
      given('kind', { properties: { kind: KIND } }, { $ref: `${DEFINITIONS}catalog-environment` }),
      given('kind', byKind(), { $ref: `${DEFINITIONS}catalog` }),
    ),
    definitions: Object.fromEntries(Object.entries(definitions).sort(([a], [b]) => (a < b ? -1 : 1))),
  }
}

/** What a file of one part is. */
const KIND: Json = {
  description:
    'The file is one part: all else in it are fields of that, as in its section. Read by svc catalog and at boot.',
  enum: [...Object.keys(SECTION_OF), 'mcp server'],
}

/** Keys that nobody reads: the parser of the file knows them from their beginning alone. */
const EXTRAS: Json = {
  patternProperties: {
    '^x-': {
      description: 'For what is written once, with an anchor, and is named by aliases; read by nobody.',
    },
  },
}

/** What a file of one part may say beside its fields. */
const BESIDE = ['catalog', 'include', 'values', 'moved', 'tests', 'lint']

/** The definition of what a section lists. */
function entryOf({ properties }: Json, section: string): string {
  const { items } = (properties as Record<string, Json>)[section]!
  return String((items as Json).$ref).slice(DEFINITIONS.length)
}

/** The same as a field of a definition says. */
const fieldOf = (definition: string, field: string): Json => ({
  $ref: `${DEFINITIONS}${definition}/properties/${field}`,
})

const fieldsOf = (definition: string, fields: readonly string[]): Json =>
  Object.fromEntries(fields.map((field) => [field, fieldOf(definition, field)]))

function onePart(entry: string, schema: Json): Json {
  const fields = Object.keys(schema.properties as Json)
  const properties = { kind: KIND, ...fieldsOf('catalog', BESIDE), ...fieldsOf(entry, fields) }
  return { ...schema, properties, ...EXTRAS }
}

/** An entry of an environment: what it says of a part, all else of which other files say; null takes a field out. */
function changed(entry: string, definitions: Json): Json {
  const { title, type, properties } = definitions[entry] as Json
  const fields = Object.entries(properties as Record<string, Json>).map(([field, schema]) => {
    const whole = fieldOf(entry, field)
    if (field === 'name') return [field, whole]
    // Of a map the environment says a part, or a value stands for it.
    const { description } = schema
    if (mayBeMap(schema, definitions)) return [field, { description, type: ['object', 'string', 'null'] }]
    return [field, { ...(description ? { description } : {}), anyOf: [whole, { type: 'null' }] }]
  })
  const remove = { type: 'boolean', description: 'Takes the part out of this environment.' }
  return {
    ...{ title, type, required: ['name'], additionalProperties: false },
    properties: { ...Object.fromEntries(fields), remove },
  }
}

function mayBeMap({ $ref, type, oneOf = [], anyOf = [] }: Json, definitions: Json): boolean {
  if (typeof $ref === 'string')
    return mayBeMap(definitions[$ref.slice(DEFINITIONS.length)] as Json, definitions)
  const ways = [...(oneOf as Json[]), ...(anyOf as Json[])]
  return [type].flat().includes('object') || ways.some((way) => mayBeMap(way, definitions))
}

function ofEnvironment({ properties }: Json): Json {
  const said = Object.entries(SECTION_OF).map(([kind, section]) => [
    section,
    {
      ...(properties as Record<string, Json>)[section],
      items: { $ref: `${DEFINITIONS}changed-${kind}` },
    },
  ])
  return {
    properties: { ...fieldsOf('catalog', Object.keys(properties as Json)), ...Object.fromEntries(said) },
    ...EXTRAS,
    additionalProperties: false,
  }
}

const byKind = (): Json => ({
  properties: { kind: KIND },
  allOf: Object.keys(SECTION_OF).map((kind) =>
    where('kind', kind === 'mcp_server' ? [kind, 'mcp server'] : [kind], {
      $ref: `${DEFINITIONS}part-${kind}`,
    }),
  ),
})

/** What holds where a field is one of these words. */
const where = (field: string, words: readonly string[], schema: Json): Json => ({
  if: {
    properties: { [field]: words.length === 1 ? { const: words[0] } : { enum: words } },
    required: [field],
  },
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema.
  then: schema,
})

/** What holds where a field is given, and where it is not. */
const given = (field: string, there: Json, absent: Json): Json => ({
  if: { required: [field] },
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema.
  then: there,
  else: absent,
})

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
    return orValue(out)
  }
  return copy(schema) as Json
}

/** What `((values.name))` may stand in for, though it is no number, switch or duration itself: replaced before it is checked. */
const VALUE = { type: 'string', pattern: '\\(\\(values\\.' }
const REPLACED = ['number', 'integer', 'boolean']

/** A schema of one value that a reference to a value of the catalog does not fit, and that reference. */
function orValue(schema: Json): Json {
  const { type, pattern, description, title, ...rules } = schema
  const types = [type].flat().filter((one) => typeof one === 'string')
  const isText = types.includes('string') && typeof pattern !== 'string' && !Array.isArray(rules.enum)
  const isOne = types.length > 0 && !types.includes('object') && !types.includes('array')
  if (!isOne || isText || 'const' in schema) return schema
  if (!types.includes('string') && !types.some((one) => REPLACED.includes(String(one)))) return schema
  const own = { type, ...(pattern === undefined ? {} : { pattern }), ...rules }
  return {
    ...(title === undefined ? {} : { title }),
    ...(description === undefined ? {} : { description }),
    anyOf: [own, VALUE],
  }
}

function refTo(id: string, definitions: Json): string {
  const name = id.replace(/\.json$/, '')
  if (definitions[name] === undefined) {
    // Reserved first: a schema may refer to itself.
    definitions[name] = {}
    definitions[name] = inlined(schemaOf(id) as Json, definitions)
  }
  return `${DEFINITIONS}${name}`
}

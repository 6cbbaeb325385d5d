/**
 * The order in which fields are written: the name first, then as the schemas list them. Fields no
 * schema lists (a connector's config, a template's parameters) keep the order they are given in.
 */
import { schemaOf } from '../../../schemas/index.ts'
import { type Entry, isEntry, type Section } from './sections.ts'

interface Schema {
  $ref?: string
  properties?: Record<string, Schema>
  items?: Schema
  anyOf?: Schema[]
}

/** Fields before all others, in this order; the rest follows its schema. */
const FIRST = ['kind', 'name', 'template', 'recipe', 'project', 'trigger']

const SECTION_SCHEMAS: Record<Section, Schema> = {
  sources: { $ref: 'catalog-source.json' },
  triggers: { $ref: 'catalog-trigger.json' },
  agents: { $ref: 'catalog-agent.json' },
  mcp_servers: { $ref: 'catalog-mcp-server.json' },
  projects: { $ref: 'catalog-project.json' },
  skills: { $ref: 'catalog-skill.json' },
  wiring: { anyOf: [{ $ref: 'catalog-wake.json' }, { $ref: 'catalog-handoff.json' }] },
}

/** A source's config is free in the schema of the file, but its labels are not. */
const CONFIG: Schema = { properties: { labels: { items: { $ref: 'label.json' } } } }

/** An entry with its fields, and those within, in the order they are written; undefined ones left out. */
export function orderedEntry(section: Section, entry: Entry): Entry {
  return ordered(entry, SECTION_SCHEMAS[section]) as Entry
}

function ordered(value: unknown, schema: Schema | undefined): unknown {
  if (Array.isArray(value)) return value.map((item) => ordered(item, listed(schema).items))
  if (!isEntry(value)) return value
  const { properties } = listed(schema, value)
  const given = Object.keys(value).filter((key) => value[key] !== undefined)
  const known = Object.keys(properties ?? {})
  const keys =
    properties && schema !== CONFIG ? [...given].sort((a, b) => rankOf(a, known) - rankOf(b, known)) : given
  return Object.fromEntries(keys.map((key) => [key, ordered(value[key], within(key, properties))]))
}

function within(key: string, properties: Record<string, Schema> | undefined): Schema | undefined {
  if (key === 'config' && properties?.connector) return CONFIG
  return properties?.[key]
}

/** Fields that no schema lists come last. */
function rankOf(key: string, known: readonly string[]): number {
  if (FIRST.includes(key)) return FIRST.indexOf(key)
  return FIRST.length + (known.includes(key) ? known.indexOf(key) : known.length)
}

/** What a schema lists, its references followed; of variants, what the one that fits does, else all. */
function listed(
  schema: Schema | undefined,
  value: Entry = {},
): { properties?: Record<string, Schema>; items?: Schema } {
  if (!schema) return {}
  if (schema.$ref) return listed(schemaOf(schema.$ref) as Schema, value)
  if (!schema.anyOf) return schema
  const variants = schema.anyOf.map((variant) => listed(variant, value))
  const fitting = variants.find(
    ({ properties }) => properties && Object.keys(value).every((key) => Object.hasOwn(properties, key)),
  )
  if (fitting && Object.keys(value).length) return fitting
  const all = variants.flatMap(({ properties }) => Object.entries(properties ?? {}))
  const items = variants.find((variant) => variant.items)?.items
  return { ...(all.length ? { properties: Object.fromEntries(all) } : {}), ...(items ? { items } : {}) }
}

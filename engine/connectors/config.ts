/**
 * Checks and normalises a source's config: the same stored bytes for the same meaning, whatever
 * the order and defaults it was written with.
 */
import { check, schemaOf } from '../../schemas/index.ts'
import type { Label } from '../../schemas/types.ts'
import { fail } from '../errors.ts'
import { validateLabels } from '../ingest/label.ts'
import { connectorOf } from './index.ts'

interface ConfigSchema {
  properties: Record<string, { default?: unknown; 'x-secret'?: boolean }>
}

/** Names of the config fields that are never returned. */
export function secretFields(kind: string): string[] {
  const { properties } = schemaOf(connectorOf(kind).configSchema) as unknown as ConfigSchema
  return Object.keys(properties).filter((name) => properties[name]!['x-secret'])
}

/**
 * @returns the config in schema order, labels last, without empty values and defaults.
 * @throws SvcError invalid, naming the field and the rule.
 */
export function validateConfig(kind: string, config: Record<string, unknown>): Record<string, unknown> {
  const connector = connectorOf(kind)
  const given = Object.fromEntries(Object.entries(config).filter(([, value]) => !isEmpty(value)))
  const fault = check(connector.configSchema, given)
  if (fault) fail('invalid', fault, { field: 'config' })
  const faults = [...validateLabels((given.labels ?? []) as Label[]), ...(connector.validate?.(given) ?? [])]
  if (faults.length) fail('invalid', faults.slice(0, 5).join('; '), { field: 'config' })
  const { properties } = schemaOf(connector.configSchema) as unknown as ConfigSchema
  const names = Object.keys(properties).filter(
    (name) => name !== 'labels' && given[name] !== undefined && given[name] !== properties[name]!.default,
  )
  const normal = Object.fromEntries(names.map((name) => [name, given[name]]))
  return given.labels === undefined
    ? normal
    : { ...normal, labels: (given.labels as Label[]).map(normaliseLabel) }
}

function isEmpty(value: unknown): boolean {
  return value === '' || value === null || value === undefined || (Array.isArray(value) && value.length === 0)
}

const LABEL_ORDER = ['name', 'const', 'field', 'primary', 'type', 'pattern', 'replace', 'map']

function normaliseLabel(label: Label): Label {
  const all = label as unknown as Record<string, unknown>
  const kept = LABEL_ORDER.filter(
    (key) =>
      all[key] !== undefined &&
      !(key === 'primary' && all[key] === false) &&
      !(key === 'type' && all[key] === 'string'),
  )
  return Object.fromEntries(kept.map((key) => [key, all[key]])) as unknown as Label
}

/**
 * Every connector, and what GET /api/connectors says of them; a source's config is checked and normalised: the same
 * stored bytes for the same meaning, whatever the order and defaults it was written with.
 */
import { schemaOf } from '../../../schemas/all.ts'
import type { FieldsOf } from '../../../schemas/fields-of.ts'
import { check, type Fault, faults } from '../../../schemas/index.ts'
import { didYouMean } from '../../../schemas/near-names.ts'
import type { Connector, ConnectorField, Label } from '../../../schemas/types.ts'
import { fail } from '../../errors.ts'
import { validateLabels } from '../../log/ingest/label.ts'
import { addressSecrets } from '../../net/address-secrets.ts'
import { dockerLogs } from '../upstreams/docker-logs.ts'
import { github } from '../upstreams/github.ts'
import { postgres } from '../upstreams/postgres.ts'
import { prometheus } from '../upstreams/prometheus.ts'
import { alertmanager, prometheusAlerts } from '../upstreams/prometheus-alerts.ts'
import { claudeCode } from './claude-code.ts'
import type { ConnectorDefinition } from './connector.ts'
import { demo } from './demo.ts'
import { file } from './file.ts'
import { githubApp } from './github-app.ts'
import { httpPoll } from './http-poll.ts'
import { journald } from './journald.ts'
import { kubernetes } from './kubernetes.ts'
import { loki } from './loki.ts'
import { mcpResources } from './mcp-resources.ts'
import { otlp } from './otlp.ts'
import { syslog } from './syslog.ts'
import { vercel } from './vercel.ts'
import { webhook } from './webhook.ts'
import { catalog, finding, memory, reference } from './written.ts'

const connectors: readonly ConnectorDefinition[] = [
  webhook,
  httpPoll,
  memory,
  reference,
  prometheus,
  prometheusAlerts,
  alertmanager,
  dockerLogs,
  file,
  journald,
  kubernetes,
  loki,
  mcpResources,
  github,
  githubApp,
  postgres,
  otlp,
  syslog,
  vercel,
  claudeCode,
  finding,
  catalog,
  demo,
]
/** Those a person can add; the others are of the service itself. */
const offered = connectors.filter(({ internal, onRequest }) => !internal && !onRequest)
const byKind = new Map(connectors.map((connector) => [connector.kind, connector]))

/** @throws SvcError invalid, naming the connectors there are. */
export function connectorOf(kind: string): ConnectorDefinition {
  return (
    byKind.get(kind) ??
    fail(
      'invalid',
      `connector ${kind} is not known${didYouMean(kind, offeredConnectors())}; there are ${offeredConnectors().join(', ')}`,
      { field: 'connector' },
    )
  )
}

/** Whether there is such a connector. */
export function hasConnector(kind: string): boolean {
  return byKind.has(kind)
}

/** Names of the connectors a person can add. */
export const offeredConnectors = (): string[] => offered.map(({ kind }) => kind)

/** The connectors a person can add by name, as the API describes them. */
export function describeConnectors(): Record<string, Connector> {
  return Object.fromEntries(offered.map((connector) => [connector.kind, describe(connector)]))
}

interface Property {
  type?: string
  description?: string
  title?: string
  enum?: string[]
  default?: unknown
  additionalProperties?: unknown
  'x-secret'?: boolean
  'x-advanced'?: boolean
  'x-discover-input'?: boolean
  'x-credential'?: string
  'x-format'?: string
  'x-widget'?: string
}

function describe(connector: ConnectorDefinition): Connector {
  const { properties, required } = schemaOf(connector.configSchema)
  const schema = { properties, required } as {
    properties: Record<string, Property>
    required?: string[]
  }
  return {
    label: connector.label,
    mode: connector.mode,
    description: connector.description,
    source_type: connector.sourceType,
    discover: connector.discover !== undefined,
    test: true,
    internal: connector.internal ?? false,
    ...(connector.mode === 'poll' ? { poll: connector.suggestedPoll } : {}),
    fields: Object.entries(schema.properties).map(([name, property]) =>
      describeField(name, property, schema.required ?? []),
    ),
    provides: connector.provides,
    ...(connector.mode === 'push' && connector.labels ? { labels: connector.labels } : {}),
    config_schema: inlined(connector.configSchema),
  }
}

/**
 * The config schema with what it refers to inside, so that a form or an editor needs no other file;
 * the descriptions of a label are the only shared parts.
 */
function inlined(id: string): Record<string, unknown> {
  const resolve = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(resolve)
    if (value === null || typeof value !== 'object') return value
    const { $ref } = value as { $ref?: string }
    if ($ref !== undefined) return resolve(schemaOf($ref))
    return Object.fromEntries(
      Object.entries(value)
        .filter(([key]) => key !== '$id' && key !== '$schema')
        .map(([key, inner]) => [key, resolve(inner)]),
    )
  }
  return resolve(schemaOf(id)) as Record<string, unknown>
}

function describeField(name: string, property: Property, required: readonly string[]): ConnectorField {
  return {
    name,
    type: fieldType(property),
    required: required.includes(name),
    help: property.description ?? '',
    secret: property['x-secret'] ?? false,
    discover_input: property['x-discover-input'] ?? false,
    ...(property.title === undefined ? {} : { label: property.title }),
    ...(property['x-advanced'] ? { advanced: true } : {}),
    ...(property['x-credential'] ? { credential: property['x-credential'] } : {}),
    ...(property.enum === undefined ? {} : { choices: property.enum }),
    ...(property['x-format'] === undefined ? {} : { format: property['x-format'] }),
    ...(property.default === undefined ? {} : { default: property.default as ConnectorField['default'] }),
  }
}

function fieldType(property: Property): ConnectorField['type'] {
  if (property['x-widget'] === 'labels') return 'labels'
  switch (property.type) {
    case 'string':
      return 'string'
    case 'number':
    case 'integer':
      return 'number'
    case 'boolean':
      return 'bool'
    case 'array':
      return 'list'
    default:
      // Names of the sender's choice make a map; an object of any shape is JSON.
      return isObject(property.additionalProperties) ? 'map' : 'json'
  }
}

const isObject = (value: unknown): boolean => value !== null && typeof value === 'object'

/** The config schema of every connector a person can add. */
export function describeConnectorSchemas(): { kind: string; schema: object }[] {
  return offered.map(({ kind, configSchema }) => ({ kind, schema: schemaOf(configSchema) }))
}

const FAULTS_TOLD = 5
/** Shorter values of a parameter, such as code=7, are too common in text to be taken out of it. */
const PARAMETER_MIN = 4

type Properties = Record<
  string,
  { default?: unknown; 'x-secret'?: boolean; 'x-credential'?: string; 'x-format'?: string }
>

/** Names of the config fields that are never returned. @throws SvcError invalid: unknown connector */
export function secretFields(kind: string): string[] {
  const properties = propertiesOf(kind)
  return Object.keys(properties).filter((name) => properties[name]!['x-secret'])
}

/** Whether a config must have a field. @throws SvcError invalid: unknown connector */
export const isRequired = (kind: string, field: string): boolean =>
  ((schemaOf(connectorOf(kind).configSchema).required ?? []) as readonly string[]).includes(field)

/** Names of the config fields that hold an address, which may have a secret in it. @throws SvcError invalid */
export function addressFields(kind: string): string[] {
  const properties = propertiesOf(kind)
  return Object.keys(properties).filter((name) => properties[name]!['x-format'] === 'url')
}

/** The config field that names a stored credential; undefined: it takes none. @throws SvcError invalid */
export function credentialField(kind: string): string | undefined {
  const properties = propertiesOf(kind)
  return Object.keys(properties).find((name) => properties[name]!['x-credential'])
}

/** The secrets a config is used with, in the clear. @throws SvcError invalid: unknown connector */
export function secretsIn(kind: string, config: Readonly<Record<string, unknown>>): string[] {
  const secrets = secretFields(kind).flatMap((name) =>
    typeof config[name] === 'string' && config[name] !== '' ? [config[name]] : [],
  )
  const inAddresses = addressFields(kind).flatMap((name) => addressSecrets(config[name]))
  secrets.push(...inAddresses.filter(({ length }) => length >= PARAMETER_MIN))
  const { username, password } = config
  return password ? [...secrets, `${String(username ?? '')}:${String(password)}`] : secrets
}

/** Where a connector asks whose config names no address. */
const OWN_ADDRESS: Readonly<Record<string, string>> = { github: 'https://api.github.com' }

/**
 * The address that the secrets of a config are sent to; null: they are sent nowhere, or, such as a
 * connection URL, say themselves where. @throws SvcError invalid: unknown connector
 */
export function addressOf(kind: string, config: Readonly<Record<string, unknown>>): string | null {
  const [field] = addressFields(kind)
  if (field === undefined) return null
  const given = config[field]
  return typeof given === 'string' && given.trim() !== '' ? given : (OWN_ADDRESS[kind] ?? null)
}

/**
 * @param config as given; empty text, null and empty lists stand for absent fields.
 * @returns the config in schema order, labels last, without empty values and defaults.
 * @throws SvcError invalid, naming the field and the rule, never a value.
 */
export function validateConfig(kind: string, config: Record<string, unknown>): Record<string, unknown> {
  const connector = connectorOf(kind)
  const properties = propertiesOf(kind)
  const given = givenIn(properties, config)
  const fault = check(connector.configSchema, given)
  if (fault) fail('invalid', fault, { field: 'config' })
  const labels = (given.labels ?? []) as Label[]
  const faults = [...validateLabels(labels), ...(connector.validate?.(given) ?? [])]
  if (faults.length) fail('invalid', faults.slice(0, FAULTS_TOLD).join('; '), { field: 'config' })
  const names = Object.keys(properties).filter(
    (name) => name !== 'labels' && given[name] !== undefined && given[name] !== properties[name]!.default,
  )
  const normal = Object.fromEntries(names.map((name) => [name, given[name]]))
  return labels.length === 0 ? normal : { ...normal, labels: labels.map(normaliseLabel) }
}

/** What of a config breaks its connector's schema, each fault with its place. @throws SvcError invalid: unknown connector */
export const configFaults = (kind: string, config: Record<string, unknown>): Fault[] =>
  faults(connectorOf(kind).configSchema, givenIn(propertiesOf(kind), config))

/** A config without what stands for absent fields. */
const givenIn = (properties: Properties, config: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(config)
      .filter(([name, value]) => !isEmpty(value) || !Object.hasOwn(properties, name))
      .map(([name, value]) => [name, name === 'labels' ? withoutEmpty(value) : value]),
  )

function propertiesOf(kind: string): Properties {
  return schemaOf(connectorOf(kind).configSchema).properties as Properties
}

const isMap = (value: unknown): value is Record<string, string> => value !== null && typeof value === 'object'

const isEmptyMap = (value: unknown): boolean => isMap(value) && Object.keys(value).length === 0

function isEmpty(value: unknown): boolean {
  return value === '' || value === null || value === undefined || (Array.isArray(value) && value.length === 0)
}

/** A form sends every field of a label, the unused ones empty. */
function withoutEmpty(labels: unknown): unknown {
  if (!Array.isArray(labels)) return labels
  return labels.map((label: unknown) =>
    label !== null && typeof label === 'object' && !Array.isArray(label)
      ? Object.fromEntries(Object.entries(label).filter(([, value]) => !isEmpty(value) && !isEmptyMap(value)))
      : label,
  )
}

const LABEL_ORDER = ['name', 'const', 'field', 'primary', 'type', 'pattern', 'replace', 'map']

function normaliseLabel(label: Label): Label {
  const all: Record<string, unknown> = { ...label }
  const kept = LABEL_ORDER.filter((key) => all[key] !== undefined && all[key] !== DEFAULTS[key])
  return Object.fromEntries(kept.map((key) => [key, sorted(all[key])])) as FieldsOf<Label>
}

const DEFAULTS: Record<string, unknown> = { primary: false, type: 'string' }

/** The order of a map's entries means nothing. */
function sorted(value: unknown): unknown {
  return isMap(value) ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))) : value
}

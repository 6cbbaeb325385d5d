/** Every connector, and what GET /api/connectors says of them. */
import { schemaOf } from '../../../schemas/all.ts'
import { didYouMean } from '../../../schemas/near-names.ts'
import type { Connector, ConnectorField } from '../../../schemas/types.ts'
import { fail } from '../../errors.ts'
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

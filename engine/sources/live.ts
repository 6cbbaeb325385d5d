/**
 * Sources as ingest uses them: compiled once, found by ingest key. Rebuilt from the rows at start
 * and after each change is committed, never before.
 */
import type { WebhookConfig } from '../../schemas/types.ts'
import type { ConnectorDefinition } from '../connectors/connector.ts'
import { connectorOf } from '../connectors/index.ts'
import type { IngestRoute } from '../engine.ts'
import { compileSource, type Prepare } from '../ingest/prepare.ts'
import type { SignatureScheme } from '../ingest/signature.ts'
import type { SourceRow } from './queries.ts'

export interface LiveSource {
  id: number
  name: string
  connector: ConnectorDefinition
  /** Validated, secrets opened. */
  config: Record<string, unknown>
  ingestKey: string
  paused: boolean
  signature: { scheme: SignatureScheme; secrets: string[]; header?: string } | null
  /** Null for a source nothing is pushed to. */
  prepare: Prepare | null
  /** Since the process started. */
  counters: { events: number; rejected: number }
}

/** @param openConfig opens the secrets of a row's config. @param before the same source until now. */
export function compileLive(
  row: SourceRow,
  openConfig: (row: SourceRow) => Record<string, unknown>,
  before: LiveSource | undefined,
): LiveSource {
  const connector = connectorOf(row.connector)
  const config = openConfig(row)
  return {
    id: row.id,
    name: row.name,
    connector,
    config,
    ingestKey: row.ingest_key ?? '',
    paused: row.state === 'paused',
    signature: signatureOf(config as WebhookConfig),
    prepare: connector.mode === 'push' ? compileSource(connector, config) : null,
    counters: before?.counters ?? { events: 0, rejected: 0 },
  }
}

function signatureOf(config: WebhookConfig): LiveSource['signature'] {
  if (config.signature_scheme === undefined) return null
  const secrets = [config.signature_secret, config.signature_secret_previous].filter(
    (secret) => secret !== undefined,
  )
  return { scheme: config.signature_scheme, secrets, header: config.signature_header }
}

/** What a door must know of a source before it reads a body. */
export function routeOf(source: LiveSource): IngestRoute {
  return {
    ingestKey: source.ingestKey,
    sourceId: source.id,
    source: source.name,
    signed: source.signature !== null,
    // Delivery ids and event names come in headers; only webhooks look at them.
    wantsHeaders: source.connector.kind === 'webhook',
    paused: source.paused,
  }
}

/** A source as ingest uses it: its config open, its mapping and labels compiled once. */
import type { WebhookConfig } from '../../schemas/types.ts'
import type { IngestRoute } from '../calls.ts'
import type { SourceCounters } from '../log/figures.ts'
import { compileSource, type Prepare } from '../log/ingest/prepare.ts'
import type { SignatureScheme } from '../log/ingest/signature.ts'
import { type OpenConfig, type Resolved, resolveReferences } from './config-secrets.ts'
import type { ConnectorDefinition, PushConnector } from './connectors/connector.ts'
import { connectorOf } from './connectors/index.ts'
import type { SourceRow } from './queries.ts'

export interface LiveSource extends OpenConfig {
  /** Secret fields that refer to what is not there, with why. */
  unresolved: Resolved['unresolved']
  id: number
  name: string
  connector: ConnectorDefinition
  ingestKey: string
  paused: boolean
  /** The config as its row has it. */
  stored: string
  signature: { scheme: SignatureScheme; secrets: string[]; header?: string } | null
  /** Changes when what `prepare` does may have changed. */
  revision: number
  /** Null for a source that has documents, not events. */
  prepare: Prepare | null
  counters: SourceCounters
}

/** The same source with another state, where its row has the config it was compiled from; else null. */
export function liveAgain(row: SourceRow, before: LiveSource | undefined): LiveSource | null {
  const isSame =
    before !== undefined && before.connector.kind === row.connector && before.stored === row.config
  // Its name is the entity of events that have no other.
  if (!isSame || before.name !== row.name) return null
  return { ...before, ...faceOf(row) }
}

/**
 * @param env what `${NAME}` in a secret field refers to.
 * @param revision of its config or name, which is new.
 */
export function compileLive(
  row: SourceRow,
  open: OpenConfig,
  {
    env,
    counters,
    revision,
  }: Pick<LiveSource, 'counters' | 'revision'> & {
    env: Readonly<Record<string, string | undefined>>
  },
): LiveSource {
  const connector = connectorOf(row.connector)
  const { config, unresolved } = resolveReferences(row.connector, open.config, env)
  return {
    id: row.id,
    ...faceOf(row),
    connector,
    ...open,
    unresolved,
    signature:
      connector.mode === 'push'
        ? signatureOf(connector, config, [...open.unreadable, ...unresolved.map(({ field }) => field)])
        : null,
    stored: row.config,
    revision,
    prepare: connector.mode === 'reference' ? null : compileSource(connector, config, row.name),
    counters,
  }
}

const faceOf = (row: SourceRow) => ({
  name: row.name,
  ingestKey: row.ingest_key ?? '',
  paused: row.state === 'paused',
})

/**
 * The previous secret only helps the current one: without that a source refuses everything.
 * @param missing secret fields that are set and cannot be read: a signature is asked for all the same.
 */
function signatureOf(
  { signatureScheme, signatureOf: ofSender }: PushConnector,
  config: WebhookConfig,
  missing: readonly string[],
): LiveSource['signature'] {
  const { signature_secret: secret, signature_secret_previous: previous } = config
  const sender = ofSender?.({ ...config })
  const isSet = secret !== undefined || missing.includes('signature_secret')
  const scheme = config.signature_scheme ?? (isSet ? (sender?.scheme ?? signatureScheme) : undefined)
  if (scheme === undefined) return null
  const secrets = secret === undefined ? [] : previous === undefined ? [secret] : [secret, previous]
  const header = config.signature_header ?? (scheme === sender?.scheme ? sender.header : undefined)
  return { scheme, secrets, ...(header === undefined ? {} : { header }) }
}

/** What a door must know of a source before it reads a body. */
export function routeOf(source: LiveSource): IngestRoute {
  const { connector } = source
  const { verify_code: verifyCode } = source.config
  const handshake = connector.mode === 'push' ? connector.handshake?.(source.config) : undefined
  return {
    ingestKey: source.ingestKey,
    sourceId: source.id,
    source: source.name,
    signed: source.signature !== null,
    ...(source.signature?.scheme === 'slack' || handshake === 'slack' ? { isChallenged: true } : {}),
    ...(source.signature?.scheme === 'sns' || handshake === 'sns' ? { isSns: true } : {}),
    ...(handshake === 'ok' ? { wantsOk: true } : {}),
    connector: connector.kind,
    wantsHeaders: source.signature !== null || (connector.mode === 'push' && connector.wantsHeaders === true),
    paused: source.paused,
    ...(typeof verifyCode === 'string' ? { verifyCode } : {}),
  }
}

/** What preparing bodies needs of a source. */
export interface SourceSpec {
  id: number
  revision: number
  name: string
  connector: string
  /** Validated, secrets opened. */
  config: Record<string, unknown>
}

/** @returns null for a source nothing is pushed to. */
export function specOf(source: LiveSource | undefined): SourceSpec | null {
  if (!source?.prepare || source.connector.mode !== 'push') return null
  const { id, revision, name, connector, config } = source
  return { id, revision, name, connector: connector.kind, config }
}

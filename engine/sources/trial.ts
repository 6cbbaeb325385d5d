/**
 * What can be tried or looked at without changing a source: test, preview, fields. Where that asks an
 * upstream, what to ask it with is prepared here, and asked elsewhere.
 */
import type {
  DiscoverRequest,
  FieldsResult,
  Label,
  LabelsPreview,
  LabelsPreviewResult,
  SourceTestResult,
  SourceWrite,
} from '../../schemas/types.ts'
import { connectorOf, hasConnector } from '../connectors/index.ts'
import { fail } from '../errors.ts'
import { validateLabels } from '../ingest/label.ts'
import { parseItem } from '../ingest/split.ts'
import { addressFaults } from '../secret-variables.ts'
import { checkNew, checkWrite } from './check-write.ts'
import { addressesIn, refuseMask, resolveReferences } from './config-secrets.ts'
import { withCredential } from './credential.ts'
import type { SourceStore } from './parts.ts'
import { coverFields } from './sample/fields.ts'
import { previewLabel } from './sample/label-preview.ts'
import { contextReader } from './sample/payload-context.ts'

const SAMPLE_MAX = 2_000
const TEXTS_MAX = 3
/** Payloads given without a source are read as the connector for any JSON would. */
const SAMPLE_CONNECTOR = 'webhook'

/** What to ask an upstream with: secrets are in the clear, so it is not for doors. */
export interface ToAsk {
  connector: string
  config: Record<string, unknown>
  /** Of a source that is stored: what is answered with its config is masked. */
  isStored?: boolean
}

export class SourceTrials {
  constructor(private readonly parts: SourceStore) {}

  /**
   * Tries a config before it is saved; of a source that exists, omitted secrets are its own.
   * @throws SvcError invalid for a fault in the config
   */
  test(body: SourceWrite): { result: SourceTestResult } | { ask: ToAsk } {
    const row = this.parts.queries.byName(body.name)
    const existing = row?.connector === body.connector ? row : undefined
    const config = existing
      ? checkWrite({ ...body, config: this.parts.configs.keep(existing, body.config ?? {}) })
      : checkNew(body)
    const connector = connectorOf(body.connector)
    if (connector.mode === 'push') {
      const path = existing?.ingest_key ? `/ingest/${existing.ingest_key}` : 'its ingest URL'
      return { result: { ok: true, events: 0, note: connector.note(path) } }
    }
    if (connector.mode === 'poll') {
      const resolved = this.resolve(body.connector, config)
      return typeof resolved === 'string' ? { result: { ok: false, error: resolved } } : { ask: resolved }
    }
    const documents = connector.documents(config)
    const sample = documents.slice(0, TEXTS_MAX).map((document) => document.text)
    return { result: { ok: true, events: documents.length, sample } }
  }

  /**
   * What to ask an upstream for a config with; of the source that is named, omitted secrets are its own.
   * @throws SvcError not_found for an unknown connector or source; invalid for one that does not discover
   */
  discover(body: DiscoverRequest): ToAsk {
    if (!hasConnector(body.connector))
      fail('not_found', `connector ${body.connector} is not known`, { field: 'connector' })
    const connector = connectorOf(body.connector)
    if (!connector.discover)
      fail('invalid', `the ${body.connector} connector does not support discovery`, { field: 'connector' })
    const resolved = this.resolve(body.connector, this.given(body))
    if (typeof resolved === 'string') return fail('invalid', resolved, { field: 'config' })
    return { ...resolved, ...(body.name === undefined ? {} : { isStored: true }) }
  }

  /** The config that was given, with the secrets of the source it is for. Empty values stand for absent ones. */
  private given({ connector, config = {}, name }: DiscoverRequest): Record<string, unknown> {
    const row = name === undefined ? undefined : this.parts.queries.byName(name)
    if (name !== undefined && !row) fail('not_found', `no source is named ${name}`, { field: 'name' })
    if (row && row.connector !== connector)
      fail('invalid', `name: ${name} is a ${row.connector} source`, { field: 'name' })
    if (!row) refuseMask(connector, config)
    const merged = row ? this.parts.configs.keep(row, config) : config
    return Object.fromEntries(Object.entries(merged).filter(([, value]) => value !== '' && value !== null))
  }

  /** @returns what to ask with, or a sentence that says what `${NAME}` or credential is not there. */
  private resolve(connector: string, config: Record<string, unknown>): ToAsk | string {
    const [wrong] = addressFaults(addressesIn(config))
    if (wrong) return `config.${wrong.field}: ${wrong.fault}`
    const { config: open, unresolved } = resolveReferences(connector, config, this.parts.env)
    if (unresolved[0]) return `${unresolved[0].field} refers to what is not there: ${unresolved[0].reason}`
    const used = withCredential(connector, open, this.parts.credentials)
    return typeof used === 'string' ? used : { connector, config: used }
  }

  /**
   * What a label would make of a sample, or of the newest payloads of a source.
   * @throws SvcError invalid for a fault in the label; not_found
   */
  previewLabel({ label: given, source, sample }: LabelsPreview): LabelsPreviewResult {
    const label = given as Label
    const faults = validateLabels([label])
    if (faults.length) fail('invalid', faults.join('; '), { field: 'label' })
    if (source === undefined) {
      const payloads = sample ?? fail('invalid', 'give source or sample', { field: 'source' })
      return previewLabel(label, payloads, contextReader(connectorOf(SAMPLE_CONNECTOR), {}))
    }
    const { id, connector, config } = this.parts.live.requireByName(source)
    const payloads = sample ?? this.parts.recent(id, SAMPLE_MAX).map((event) => parseItem(event.raw))
    return previewLabel(label, payloads, contextReader(connector, config))
  }

  /** @param limit events to look at, 1 to 2,000; clamped. @throws SvcError not_found */
  fields(name: string, limit: number): FieldsResult {
    const { id, connector, config } = this.parts.live.requireByName(name)
    const sample = Math.min(SAMPLE_MAX, Math.max(1, Math.trunc(limit)))
    return coverFields(connector, config, this.parts.recent(id, sample))
  }
}

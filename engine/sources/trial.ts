/** What can be tried or looked at without changing a source: test, discover, preview, fields. */
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
import { checkNew, checkWrite } from './check-write.ts'
import type { SourceStore } from './parts.ts'
import { coverFields } from './sample/fields.ts'
import { previewLabel } from './sample/label-preview.ts'
import { contextReader } from './sample/payload-context.ts'

const SAMPLE_MAX = 2_000
const TEXTS_MAX = 3
const DISCOVER_MS = 30_000
/** Payloads given without a source are read as the connector for any JSON would. */
const SAMPLE_CONNECTOR = 'webhook'

export class SourceTrials {
  constructor(private readonly parts: SourceStore) {}

  /**
   * Tries a config before it is saved; of a source that exists, omitted secrets are its own.
   * @throws SvcError invalid for a fault in the config
   */
  test(body: SourceWrite): SourceTestResult {
    const row = this.parts.queries.byName(body.name)
    const existing = row?.connector === body.connector ? row : undefined
    const config = existing
      ? checkWrite({ ...body, config: this.parts.configs.keep(existing, body.config ?? {}) })
      : checkNew(body)
    const connector = connectorOf(body.connector)
    if (connector.mode === 'push') {
      const path = existing?.ingest_key ? `/ingest/${existing.ingest_key}` : 'its ingest URL'
      return { ok: true, events: 0, note: connector.note(path) }
    }
    if (connector.mode === 'poll')
      return fail('invalid', `${connector.kind} sources cannot be tested`, { field: 'connector' })
    const documents = connector.documents(config)
    return {
      ok: true,
      events: documents.length,
      sample: documents.slice(0, TEXTS_MAX).map((document) => document.text),
    }
  }

  /**
   * Asks the upstream for a config. @returns what the connector proposes.
   * @throws SvcError not_found for an unknown connector; invalid for one that does not discover
   */
  async discover(body: DiscoverRequest): Promise<Record<string, unknown>> {
    if (!hasConnector(body.connector))
      fail('not_found', `connector ${body.connector} is not known`, { field: 'connector' })
    const connector = connectorOf(body.connector)
    if (!connector.discover)
      fail('invalid', `the ${body.connector} connector does not support discovery`, { field: 'connector' })
    const signal = AbortSignal.timeout(DISCOVER_MS)
    return connector.discover(body.config ?? {}, { fetch, clock: this.parts.clock, signal })
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

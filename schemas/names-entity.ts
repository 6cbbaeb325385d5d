/** Whether events of a source are about something, of its settings alone: before the first has come. */
import type { Label, SourceSpec } from './types.ts'

/** Connectors that leave it to the config of a source what its events are about. */
const BY_CONFIG: ReadonlySet<unknown> = new Set([
  'webhook',
  'http_poll',
  'postgres',
  'prometheus',
  'prometheus_alerts',
])

/** Whether events of a source will have an entity, by what it declares alone. */
export function namesEntity({ connector, config = {} }: Partial<SourceSpec>): boolean {
  const {
    labels = [],
    preset,
    signature_scheme: scheme,
    default_key: standard,
    queries = [],
  } = config as {
    labels?: Label[]
    preset?: string
    signature_scheme?: string
    default_key?: string
    queries?: { key_label?: string }[]
  }
  // Presets have labels of their own, and so have deliveries of GitHub; queries of Prometheus name theirs.
  return (
    !BY_CONFIG.has(connector) ||
    Boolean(preset || standard) ||
    scheme === 'github' ||
    labels.some((one) => one.primary) ||
    queries.some((one) => one.key_label)
  )
}

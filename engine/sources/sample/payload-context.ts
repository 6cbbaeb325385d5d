/** What labels can read of a stored payload: the same context its connector gave them at ingest. */
import type { ConnectorDefinition } from '../../connectors/connector.ts'

export type ContextOf = (payload: unknown) => Record<string, unknown>

/**
 * Headers are not stored, so fields read from them are absent here.
 * @param config of the source, for what a connector reads depends on it.
 * @returns a function from a parsed payload to what label fields are looked up in.
 */
export function contextReader(connector: ConnectorDefinition, config: Record<string, unknown>): ContextOf {
  if (connector.mode === 'reference') return (payload) => (isObject(payload) ? payload : { value: payload })
  const map = connector.compile(config)
  const noBytes = new Uint8Array()
  return (payload) =>
    map({ raw: noBytes, value: payload, whole: () => payload }, undefined, 0)[0]?.context ?? {}
}

/** Whether it has named fields: a list has none. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return value !== null && typeof value === 'object' && !Array.isArray(value)
}

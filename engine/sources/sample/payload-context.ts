/** What labels can read of a stored payload: the same context its connector gave them at ingest. */
import type { ConnectorDefinition } from '../../connectors/connector.ts'

export type ContextOf = (payload: unknown) => Record<string, unknown>

/**
 * Headers are not stored, so fields read from them are absent here.
 * @returns a function from a parsed payload to what label fields are looked up in.
 */
export function contextReader(connector: ConnectorDefinition): ContextOf {
  if (connector.mode !== 'push') return (payload) => (isObject(payload) ? payload : { value: payload })
  const map = connector.compile({})
  const noBytes = new Uint8Array()
  return (payload) =>
    map({ raw: noBytes, value: payload, whole: () => payload }, undefined, 0)[0]?.context ?? {}
}

/** Whether it has named fields: a list has none. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return value !== null && typeof value === 'object' && !Array.isArray(value)
}

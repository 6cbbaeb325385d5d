/**
 * What sends logs to Datadog: its paths behind an ingest URL, and what it says beside a body.
 * https://docs.datadoghq.com/api/latest/logs/#send-logs
 */

/** Header, or part of the query, by which its clients give their key. */
export const DATADOG_KEY = 'dd-api-key'

/** Of version 1 the path may end with the key. */
const INTAKE = /^(\/ingest\/[^/?]+)\/+(?:api\/v2\/logs|v1\/input(?:\/([^/?]+))?)\/?(?:\?(.*))?$/
/** What clients of version 1 take for success is 200. */
export const TO_DATADOG_V1 = /^\/ingest\/[^/?]+\/+v1\/input(?=[/?]|$)/

/** The address without such a path, whose key goes into the query. */
export function withoutIntake(url: string): string {
  const [, before, key, query] = INTAKE.exec(url) ?? []
  if (before === undefined) return url
  const said = [key === undefined ? '' : `${DATADOG_KEY}=${key}`, query ?? ''].filter((part) => part !== '')
  return said.length === 0 ? before : `${before}?${said.join('&')}`
}

/** What the query says of all that is in a body, under headers that the preset reads. */
const SAID = [
  ['service', 'dd-service'],
  ['hostname', 'dd-hostname'],
  ['ddsource', 'dd-source'],
  ['ddtags', 'dd-tags'],
] as const

/** @param url as it came. @returns undefined where it is no address of the intake */
export function saidInQuery(url: string): Record<string, string> | undefined {
  const [, , , query] = INTAKE.exec(url) ?? []
  if (query === undefined) return undefined
  const fields = new URLSearchParams(query)
  return Object.fromEntries(
    SAID.flatMap(([field, header]) => (fields.get(field) ? [[header, fields.get(field)!]] : [])),
  )
}

/** What the environment says of tracing, and the forms that both it and the console take. */

export interface TracingEnvironment {
  /** SVC_TRACING_ENABLED */
  enabled: boolean | null
  /** SVC_TRACING_PROVIDER */
  provider: string | null
  /** SVC_TRACING_ENDPOINT */
  endpoint: string | null
  /** SVC_TRACING_API_KEY */
  apiKey: string | null
  /** SVC_TRACING_HEADERS, as it is written. */
  headers: string | null
  /** SVC_TRACING_CONTENT */
  content: boolean | null
  /** Names this instance in traces: SVC_INSTANCE_NAME, else the host's name. */
  instance: string
  version: string
}

export const emptyTracingEnvironment: TracingEnvironment = Object.freeze({
  enabled: null,
  provider: null,
  endpoint: null,
  apiKey: null,
  headers: null,
  content: null,
  instance: 'svc',
  version: '0',
})

export interface TracingPreset {
  id: string
  label: string
  /** Where traces go when no endpoint is set; null: one must be set. */
  endpoint: string | null
}

/** The first is taken where none is chosen. */
export const TRACING_PRESETS: readonly TracingPreset[] = [
  { id: 'otlp', label: 'Any OTLP/HTTP endpoint', endpoint: null },
  { id: 'collector', label: 'A collector on this host', endpoint: 'http://127.0.0.1:4318' },
]

const HEADERS_MAX = 20
const NAME = /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$/
const VALUE = /^[\x21-\x7e](?:[\x20-\x7e]{0,4094}[\x21-\x7e])?$/
/** Those of the connection and of the format. */
const OURS =
  /^(?:host|content-.*|transfer-encoding|connection|keep-alive|upgrade|te|trailer|expect|proxy-.*)$/

/**
 * Reads `name=value,name2=value2`; in a value %2C is a comma (W3C Baggage, as OTLP variables have it).
 * @returns headers by name in lower case, or a sentence without any value that says what is wrong
 */
export function parseTraceHeaders(text: string): Record<string, string> | string {
  const headers: Record<string, string> = {}
  for (const pair of text.split(',')) {
    if (pair.trim() === '') continue
    const at = pair.indexOf('=')
    const name = pair.slice(0, Math.max(0, at)).trim().toLowerCase()
    if (!NAME.test(name)) return 'must be name=value pairs separated by commas'
    if (OURS.test(name)) return `must not set ${name}: that is ours`
    if (headers[name] !== undefined) return `must not set ${name} twice`
    const value = decoded(pair.slice(at + 1).trim())
    if (!VALUE.test(value)) return `must give ${name} a value of visible ASCII characters`
    headers[name] = value
  }
  const count = Object.keys(headers).length
  if (count === 0) return 'must be name=value pairs separated by commas'
  return count > HEADERS_MAX ? `must be at most ${HEADERS_MAX} headers` : headers
}

/** A value that is not percent-encoded is taken as it is. */
function decoded(value: string): string {
  try {
    return decodeURIComponent(value)
  } catch {
    return value
  }
}

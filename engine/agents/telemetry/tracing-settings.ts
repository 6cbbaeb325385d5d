/**
 * Whether runs are traced, and to where: what the console stores over what the environment says, field
 * by field. Secrets go in and never out.
 */
import type { TracingSettings, TracingTested, TracingWrite } from '../../../schemas/types.ts'
import type { Access } from '../../calls.ts'
import type { Clock } from '../../clock.ts'
import { fail } from '../../errors.ts'
import {
  firstOf,
  isOfOrigin,
  layered,
  openSettings,
  openStored,
  type Settings,
  sealedAfter,
} from '../../log/settings.ts'
import type { StoreHandle } from '../../log/store/handle.ts'
import { addressFault, type Secrets } from '../../net/secrets.ts'

/** What traces are sent with, credentials opened: for the process itself, never for an answer. */
export interface TracingConfig {
  enabled: boolean
  /** Null: no endpoint is set. */
  target: TracingTarget | null
  content: boolean
  instance: string
  version: string
}

export interface TracingTarget {
  /** Of the traces themselves. */
  url: string
  headers: Record<string, string>
}

/** What is stored of it, without how exports went. */
export type StoredTracing = Omit<TracingSettings, 'exported' | 'dropped' | 'last_export'>

interface TracingSettingsStore {
  config(): TracingConfig
  list(): StoredTracing
  /** @throws SvcError invalid */
  save(body: TracingWrite): StoredTracing
}

/** As stored: secrets sealed. */
interface Stored {
  enabled?: boolean
  provider?: string
  endpoint?: string
  content?: boolean
  api_key?: string
  headers?: string
}

type Secret = 'api_key' | 'headers'

const KEY = 'tracing'
const TRACES = '/v1/traces'
const placeOf = (field: Secret) => `settings/tracing/${field}`

/** On the writing connection. @param env none when absent */
export function openStoredTracing(
  store: StoreHandle,
  secrets: Secrets,
  clock: Clock,
  env: TracingEnvironment = emptyTracingEnvironment,
): TracingSettingsStore {
  return createTracingSettings({ settings: openSettings(store, clock), secrets, env })
}

function createTracingSettings(parts: {
  settings: Settings
  secrets: Secrets
  env: TracingEnvironment
}): TracingSettingsStore {
  const { settings, secrets, env } = parts
  const stored = (): Stored => settings.get<Stored>(KEY) ?? {}

  function now(own: Stored) {
    const provider = layered(own.provider, env.provider, TRACING_PRESETS[0]!.id)
    const endpoint = layered(own.endpoint, env.endpoint, presetAddress(provider.value))
    // The environment's credentials are for the environment's address; another would be told them.
    const ofEnvironment = env.endpoint ?? presetAddress(env.provider ?? '')
    const fits = ofEnvironment !== '' && isOfOrigin(ofEnvironment, endpoint.value)
    const secret = (field: Secret, given: string | null) =>
      firstOf<string, 'console' | 'env'>([
        ['console', openStored(secrets, own[field], placeOf(field))],
        ['env', fits ? given : null],
      ]) ?? ({ value: '', source: '' } as const)
    return {
      enabled: layered(own.enabled, env.enabled, false),
      provider,
      endpoint,
      content: layered(own.content, env.content, true),
      apiKey: secret('api_key', env.apiKey),
      headers: secret('headers', env.headers),
      isWithheld: !fits && (env.apiKey !== null || env.headers !== null),
    }
  }

  function list(): StoredTracing {
    const { enabled, provider, endpoint, content, apiKey, headers, isWithheld } = now(stored())
    const note = noteOf(enabled.value, endpoint.value, isWithheld && !apiKey.value && !headers.value)
    return {
      state: !enabled.value ? 'off' : endpoint.value === '' ? 'incomplete' : 'on',
      enabled: enabled.value,
      enabled_source: enabled.source,
      provider: provider.value,
      provider_source: provider.source,
      providers: TRACING_PRESETS.map(({ id, label, endpoint: address }) => ({
        id,
        label,
        endpoint: address ?? '',
      })),
      endpoint: endpoint.value,
      endpoint_source: endpoint.value === '' ? '' : endpoint.source,
      host: endpoint.value === '' ? null : new URL(endpoint.value).host,
      content: content.value,
      content_source: content.source,
      api_key_configured: apiKey.value !== '',
      api_key_source: apiKey.source,
      headers: Object.keys(headersOf(headers.value)),
      headers_source: headers.source,
      instance: env.instance,
      ...(note === null ? {} : { note }),
    }
  }

  return {
    list,
    config() {
      const { enabled, endpoint, content, apiKey, headers } = now(stored())
      const { instance, version } = env
      const target =
        endpoint.value === ''
          ? null
          : { url: tracesAt(endpoint.value), headers: sentHeaders(apiKey.value, headersOf(headers.value)) }
      return { enabled: enabled.value, target, content: content.value, instance, version }
    },
    save(body) {
      const was = stored()
      const next: Stored = {}
      const plain = <K extends 'enabled' | 'content' | 'provider'>(field: K) => {
        const value = body[field] === undefined ? was[field] : body[field]
        if (value !== '' && value !== undefined) next[field] = value as NonNullable<Stored[K]>
      }
      plain('enabled')
      plain('content')
      plain('provider')
      if (next.provider !== undefined && !TRACING_PRESETS.some(({ id }) => id === next.provider))
        fail('invalid', `provider must be one of ${TRACING_PRESETS.map(({ id }) => id).join(', ')}`, {
          field: 'provider',
        })
      const endpoint = body.endpoint === undefined ? was.endpoint : addressOf(body.endpoint)
      if (endpoint) next.endpoint = endpoint
      if (body.headers) {
        const headers = parseTraceHeaders(body.headers)
        if (typeof headers === 'string') fail('invalid', `headers ${headers}`, { field: 'headers' })
      }
      const addresses = [now(was).endpoint.value, now(next).endpoint.value] as const
      for (const field of ['api_key', 'headers'] as const) {
        const given = body[field] === '' ? null : body[field]
        const place = placeOf(field)
        const secret = sealedAfter(secrets, { field, place, given, was: was[field], addresses })
        if (secret !== null) next[field] = secret
      }
      settings.put(KEY, Object.keys(next).length ? next : undefined)
      return list()
    },
  }
}

const presetAddress = (id: string): string =>
  TRACING_PRESETS.find((preset) => preset.id === id)?.endpoint ?? ''

const tracesAt = (endpoint: string): string => (endpoint.endsWith(TRACES) ? endpoint : endpoint + TRACES)

/** They were read before they were stored. */
function headersOf(text: string): Record<string, string> {
  const headers = text === '' ? {} : parseTraceHeaders(text)
  return typeof headers === 'string' ? {} : headers
}

/** The key is a bearer token, unless a header says how to authorize. */
function sentHeaders(apiKey: string, headers: Record<string, string>): Record<string, string> {
  return apiKey && headers.authorization === undefined
    ? { ...headers, authorization: `Bearer ${apiKey}` }
    : headers
}

function noteOf(isEnabled: boolean, endpoint: string, isWithheld: boolean): string | null {
  if (isEnabled && endpoint === '') return 'no traces are sent: set an endpoint'
  if (isWithheld && endpoint !== '')
    return 'the credential of the environment is sent to the address of the environment alone; enter one for this address'
  return null
}

/** An endpoint without a trailing slash; null for none. @throws SvcError invalid */
export function addressOf(text: string): string | null {
  if (text.trim() === '') return null
  const url = URL.canParse(text.trim()) ? new URL(text.trim()) : null
  if (!url || !/^https?:$/.test(url.protocol))
    fail('invalid', 'endpoint must be an absolute http or https address', { field: 'endpoint' })
  if (url.username || url.password || url.search || text.includes('#'))
    fail('invalid', 'endpoint must have no user, query or fragment', { field: 'endpoint' })
  const fault = addressFault(text)
  if (fault !== null) fail('invalid', `endpoint: ${fault}`, { field: 'endpoint' })
  return url.href.replace(/\/+$/, '')
}

/* What the environment says of tracing, and the forms that both it and the console take. */

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

interface TracingPreset {
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

/* Tracing as callers see it, and what it needs of the store. */

export interface TracingCalls {
  getTracing(): Promise<TracingSettings>
  /** @throws SvcError invalid */
  saveTracing(body: TracingWrite): Promise<TracingSettings>
  /** Sends one span to where traces go, switched on or not. */
  testTracing(): Promise<TracingTested>
  /** Spans since the process started. */
  tracingCounts(): Promise<{ exported: number; dropped: number }>
}

/** What exports need of the store; not for doors: credentials are in it. */
export interface TracingPort {
  tracingConfig(): Promise<TracingConfig>
  storedTracing(): Promise<StoredTracing>
  /** @throws SvcError invalid */
  storeTracing(body: TracingWrite): Promise<StoredTracing>
}

export function tracingPort(settings: TracingSettingsStore): TracingPort {
  return {
    tracingConfig: async () => settings.config(),
    storedTracing: async () => settings.list(),
    storeTracing: async (body) => settings.save(body),
  }
}

/** For what passes them on to the thread that answers. */
export const tracingPortAccess: Record<keyof TracingPort, Access> = {
  tracingConfig: 'reads',
  storedTracing: 'reads',
  storeTracing: 'writes',
}

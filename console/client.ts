/**
 * The console's only way to the daemon: typed calls on its own origin, errors as sentences. A 401
 * raises an event that shows the login page, whichever call met it.
 */
import type {
  Event as ApiEvent,
  Capabilities,
  CatalogProblem,
  Connector,
  DependentsResult,
  DiscoverRequest,
  EntitiesResult,
  EnvironmentScan,
  FieldsResult,
  Health,
  HistogramRequest,
  HistogramResult,
  Identity,
  KeyCreate,
  KeyCreated,
  KeysResult,
  LabelFacet,
  LabelsPreview,
  LabelsPreviewResult,
  MergeConflict,
  Problem,
  ReadRequest,
  ReadResult,
  Source,
  SourceCreated,
  SourceTestResult,
  SourceWrite,
} from '../schemas/types.ts'

export type { ApiEvent }

/** A refusal of the daemon: its sentence and status. */
export class ApiError extends Error {
  constructor(
    message: string,
    readonly status: number,
    /** Fields two writers changed. */
    readonly conflicts: readonly MergeConflict[] = [],
    /** Problems of a catalog file. */
    readonly problems: readonly CatalogProblem[] = [],
  ) {
    super(message)
  }
}

/** Changes made here are told apart in the history. */
const ORIGIN = { 'x-svc-origin': 'console' }

export const LOGIN_NEEDED = 'svc:login-needed'

/** @param headers such as If-Match. @throws ApiError */
export async function call(
  method: string,
  path: string,
  body?: unknown,
  signal?: AbortSignal,
  headers: Record<string, string> = {},
): Promise<Response> {
  let answer: Response
  try {
    answer = await fetch(path, {
      method,
      credentials: 'same-origin',
      signal: signal ?? null,
      ...(body === undefined
        ? { headers: { ...ORIGIN, ...headers } }
        : typeof body === 'string'
          ? { body, headers: { ...ORIGIN, ...headers } }
          : {
              body: JSON.stringify(body),
              headers: { 'content-type': 'application/json', ...ORIGIN, ...headers },
            }),
    })
  } catch (error) {
    if ((error as Error).name === 'AbortError') throw error
    throw new ApiError('Can’t reach svc. Is the daemon running?', 0)
  }
  if (answer.ok) return answer
  if (answer.status === 401 && path !== '/api/session') window.dispatchEvent(new CustomEvent(LOGIN_NEEDED))
  const problem = await answer.json().then(
    (told: Partial<Problem>) => told,
    (): Partial<Problem> => ({}),
  )
  throw new ApiError(
    problem.detail ?? `The daemon answered ${answer.status}.`,
    answer.status,
    problem.conflicts,
    problem.problems,
  )
}

const get = async <T>(path: string, signal?: AbortSignal): Promise<T> =>
  (await call('GET', path, undefined, signal)).json() as Promise<T>
const send = async <T>(method: string, path: string, body?: unknown): Promise<T> =>
  (await call(method, path, body)).json() as Promise<T>
const name = encodeURIComponent

export const api = {
  health: (signal?: AbortSignal) => get<Health>('/health', signal),
  whoami: () => get<Identity>('/api/whoami'),
  login: (token: string) => send<{ ok: boolean }>('POST', '/api/session', { token }),
  logout: () => send<{ ok: boolean }>('DELETE', '/api/session'),
  capabilities: () => get<Capabilities>('/api/capabilities'),
  scanContainers: () => get<EnvironmentScan>('/api/discover/environment?provider=docker'),
  connectors: () => get<Record<string, Connector>>('/api/connectors'),
  sources: () => get<Source[]>('/api/sources'),
  source: (source: string) => get<Source>(`/api/sources/${name(source)}`),
  createSource: (body: SourceWrite) => send<SourceCreated>('POST', '/api/sources', body),
  updateSource: (source: string, body: SourceWrite) =>
    send<{ ok: true }>('PUT', `/api/sources/${name(source)}`, body),
  deleteSource: (source: string, purge: boolean) =>
    send<{ ok: true; purged_events: number }>(
      'DELETE',
      `/api/sources/${name(source)}?cascade=true&purge_events=${purge}`,
    ),
  moveSource: (source: string, event: 'pause' | 'resume') =>
    send<{ ok: true; state: string }>('POST', `/api/sources/${name(source)}/${event}`),
  testSource: (body: SourceWrite) => send<SourceTestResult>('POST', '/api/sources/test', body),
  discoverSource: (body: DiscoverRequest, signal?: AbortSignal) =>
    call('POST', '/api/sources/discover', body, signal).then(
      (answer) => answer.json() as Promise<Record<string, unknown>>,
    ),
  sourceEvents: (source: string, limit = 50) =>
    get<ApiEvent[]>(`/api/sources/${name(source)}/events?limit=${limit}`),
  sourceFields: (source: string) => get<FieldsResult>(`/api/sources/${name(source)}/fields`),
  dependents: (source: string) =>
    get<DependentsResult>(`/api/catalog/dependents?kind=source&name=${name(source)}`),
  previewLabel: (body: LabelsPreview) => send<LabelsPreviewResult>('POST', '/api/labels/preview', body),
  read: (body: ReadRequest, signal?: AbortSignal) =>
    call('POST', '/read', { client: 'ui', ...body }, signal).then(
      (answer) => answer.json() as Promise<ReadResult>,
    ),
  histogram: (body: HistogramRequest, signal?: AbortSignal) =>
    call('POST', '/api/histogram', body, signal).then((answer) => answer.json() as Promise<HistogramResult>),
  entities: (limit = 12) => get<EntitiesResult>(`/api/entities?limit=${limit}`),
  entityValues: (label: string, prefix = '', limit = 50) =>
    get<LabelFacet>(
      `/api/entities?label=${name(label)}&limit=${limit}${prefix ? `&prefix=${name(prefix)}` : ''}`,
    ),
  /** The stored item as text, digit for digit: parsing would change large numbers. */
  rawEvent: async (id: string) => rawOf(await (await call('GET', `/api/events/${name(id)}`)).text()),
  keys: () => get<KeysResult>('/api/keys'),
  createKey: (body: KeyCreate) => send<KeyCreated>('POST', '/api/keys', body),
  revokeKey: (id: string) => send<{ ok: true; note: string }>('DELETE', `/api/keys/${name(id)}`),
}

/** The daemon writes the payload last: {"event":{…,"raw":<payload>}}. */
function rawOf(text: string): string {
  const { raw, ...rest } = (JSON.parse(text) as { event: ApiEvent }).event
  const head = `{"event":${JSON.stringify(rest).slice(0, -1)},"raw":`
  return text.startsWith(head) ? text.slice(head.length, -2) : JSON.stringify(raw)
}

/** Address of a live tail. */
export function tailUrl(selector: Record<string, string>, sources: readonly string[]): string {
  const query = new URLSearchParams()
  for (const [label, value] of Object.entries(selector)) query.append('label', `${label}=${value}`)
  for (const source of sources) query.append('source', source)
  return `/api/tail?${query}`
}

/** Query keys, in one place. */
export const keys = {
  health: ['health'],
  capabilities: ['capabilities'],
  containerScan: ['container-scan'],
  connectors: ['connectors'],
  sources: ['sources'],
  source: (source: string) => ['sources', source],
  sourceEvents: (source: string) => ['sources', source, 'events'],
  sourceFields: (source: string) => ['sources', source, 'fields'],
  entities: ['entities'],
  entityValues: (label: string, prefix: string) => ['entities', label, prefix],
  apiKeys: ['api-keys'],
} as const

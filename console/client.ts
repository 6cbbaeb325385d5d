/**
 * The console's only way to the daemon: typed calls on its own origin, errors as sentences. A 401
 * raises an event that shows the login page, whichever call met it.
 */
import { type Call, type Given, requestOf } from '../api/client/call.ts'
import * as calls from '../api/client/calls.ts'
import { IN_LINES, type Progress, readLines } from '../api/client/lines.ts'
import type {
  Event as ApiEvent,
  CatalogProblem,
  DiscoverRequest,
  EntitiesResult,
  HistogramRequest,
  Incident,
  KeyCreate,
  LabelFacet,
  LabelsPreview,
  MergeConflict,
  Problem,
  ReadRequest,
  SourceWrite,
} from '../schemas/types.ts'
import { byName } from './lib/by-name.ts'
import { Creates } from './lib/creates.ts'
import { firstRead, readsAhead } from './lib/first-reads.ts'

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
    /** Of an act on an incident that somebody changed first: as it is now. */
    readonly incident: Incident | null = null,
  ) {
    super(message)
  }
}

/** Of a read, which is tried again by itself. */
export const UNREACHED = 'Can’t reach svc. Retrying every 5 s'

/** Changes made here are told apart in the history. */
const ORIGIN = { 'x-svc-origin': 'console' }

/** As the daemon says it to whoever has no console to log out of. */
const LACKS = /^this credential lacks the '(\w+)' scope$/

const creates = new Creates()

export const LOGIN_NEEDED = 'svc:login-needed'

/** A login that is refused is told where it was tried. */
const SESSION: readonly string[] = [calls.openSession, calls.closeSession]

/** What goes along with the input of a call. */
export interface More {
  signal?: AbortSignal | undefined
  /** That was shown: what others changed since is merged, or told as conflicts. */
  version?: number | undefined
  headers?: Record<string, string>
}

/** One call, its answer as it came: for texts, files and streams. @throws ApiError */
export async function send<T, Input>(
  call: Call<T, Input>,
  ...[input, { signal, version, headers } = {}]: Given<NoInfer<Input>, More>
): Promise<Response> {
  const { method, path, body, type } = requestOf(call as Call<T, object>, input as object)
  const isRead = method === 'GET'
  if (!isRead) readsAhead.drop()
  let answer: Response
  try {
    answer = await (firstRead(method, path) ??
      fetch(path, {
        method,
        credentials: 'same-origin',
        signal: signal ?? null,
        body: body as string | undefined,
        headers: {
          ...(type === undefined ? {} : { 'content-type': type }),
          ...(version === undefined ? {} : { 'if-match': `"${version}"` }),
          ...creates.headerOf(method, path, body),
          ...ORIGIN,
          ...headers,
        },
      }))
  } catch (error) {
    if ((error as Error).name === 'AbortError') throw error
    throw new ApiError(
      isRead ? UNREACHED : 'Can’t reach svc. Try again once it is back; what was sent may have arrived',
      0,
    )
  } finally {
    if (!isRead) readsAhead.drop()
  }
  creates.answered(method, path, body, answer.status)
  if (answer.ok) return answer
  if (answer.status === 401 && !SESSION.includes(call)) window.dispatchEvent(new CustomEvent(LOGIN_NEEDED))
  const problem = await answer.json().then(
    (told: Partial<Problem>) => told,
    (): Partial<Problem> => ({}),
  )
  throw new ApiError(
    problem.detail?.replace(LACKS, 'Your key lacks the scope $1: log out, and log in with one that has it') ??
      `The daemon answered ${answer.status}.`,
    answer.status,
    problem.conflicts,
    problem.problems,
    problem.incident,
  )
}

/** What a call answers, hearing how far it is while it is worked out. @throws ApiError */
export async function askTold<T, Input>(
  call: Call<T, Input>,
  input: NoInfer<Input>,
  signal: AbortSignal,
  told: (progress: Progress) => void,
): Promise<T> {
  const answer = await (send as (call: Call<T, Input>, input: Input, more: More) => Promise<Response>)(
    call,
    input,
    { signal, headers: IN_LINES },
  )
  const { status, text } = await readLines(answer, told)
  const said = JSON.parse(text) as T & Partial<Problem>
  if (status < 300) return said
  throw new ApiError(said.detail ?? `The daemon answered ${status}.`, status, [], said.problems)
}

/** What a call answers. @throws ApiError */
export async function ask<T, Input>(call: Call<T, Input>, ...given: Given<NoInfer<Input>, More>): Promise<T> {
  return (await send(call, ...given)).json() as Promise<T>
}

export const api = {
  health: (signal?: AbortSignal) => ask(calls.getHealth, {}, { signal }),
  whoami: () => ask(calls.whoAmI),
  login: (token: string) => ask(calls.openSession, { body: { token } }),
  logout: () => ask(calls.closeSession),
  workspaces: () => ask(calls.listWorkspaces),
  capabilities: () => ask(calls.getCapabilities),
  scanContainers: () => ask(calls.discoverEnvironment, { provider: 'docker' }),
  connectors: () => ask(calls.listConnectors),
  presets: () => ask(calls.listPresets),
  sources: async () => byName(await ask(calls.listSources)),
  source: (name: string) => ask(calls.getSource, { name }),
  createSource: (body: SourceWrite) => ask(calls.createSource, { body }),
  updateSource: (name: string, body: SourceWrite, version?: number) =>
    ask(calls.updateSource, { name, body }, { version }),
  deleteSource: (name: string, purge: boolean) =>
    ask(calls.deleteSource, { name, cascade: true, purge_events: purge }),
  moveSource: (name: string, event: 'pause' | 'resume') =>
    ask(event === 'pause' ? calls.pauseSource : calls.resumeSource, { name }),
  testSource: (body: SourceWrite) => ask(calls.testSource, { body }),
  discoverSource: (body: DiscoverRequest, signal?: AbortSignal) =>
    ask(calls.discoverSource, { body }, { signal }),
  sourceEvents: (name: string, limit = 50) => ask(calls.listSourceEvents, { name, limit }),
  sourceFields: (name: string) => ask(calls.listSourceFields, { name }),
  dependents: (name: string) => ask(calls.listDependents, { kind: 'source', name }),
  previewLabel: (body: LabelsPreview) => ask(calls.previewLabel, { body }),
  read: (body: ReadRequest, signal?: AbortSignal) =>
    ask(calls.read, { body: { client: 'ui', ...body } }, { signal }),
  histogram: (body: HistogramRequest, signal?: AbortSignal) => ask(calls.histogram, { body }, { signal }),
  /** Without a label there are all of them. */
  entities: (limit = 12) => ask(calls.listEntities, { limit }) as Promise<EntitiesResult>,
  entityValues: (label: string, prefix = '', limit = 50) =>
    ask(calls.listEntities, { label, limit, prefix: prefix || undefined }) as Promise<LabelFacet>,
  /** The stored item as text, digit for digit: parsing would change large numbers. */
  rawEvent: async (id: string) => rawOf(await (await send(calls.getEvent, { id })).text()),
  keys: () => ask(calls.listKeys),
  createKey: (body: KeyCreate) => ask(calls.createKey, { body }),
  revokeKey: (id: string) => ask(calls.revokeKey, { id }),
}

/** The daemon writes the payload last: {"event":{…,"raw":<payload>}}. */
function rawOf(text: string): string {
  const { raw, ...rest } = (JSON.parse(text) as { event: ApiEvent }).event
  const head = `{"event":${JSON.stringify(rest).slice(0, -1)},"raw":`
  return text.startsWith(head) ? text.slice(head.length, -2) : JSON.stringify(raw)
}

/** A file of the build itself, such as the docs. @throws ApiError */
export async function fileOfBuild<T>(path: string): Promise<T> {
  const answer = await fetch(path).catch(() => null)
  if (!answer) throw new ApiError(UNREACHED, 0)
  if (!answer.ok) throw new ApiError('svc was updated. Reload the page', answer.status)
  return answer.json() as Promise<T>
}

/** Address of a live tail. */
export function tailUrl(selector: Record<string, string>, sources: readonly string[]): string {
  const label = Object.entries(selector).map(([name, value]) => `${name}=${value}`)
  return requestOf(calls.tail, { label, source: sources }).path
}

/** Query keys, in one place. */
export const keys = {
  health: ['health'],
  workspaces: ['workspaces'],
  capabilities: ['capabilities'],
  containerScan: ['container-scan'],
  connectors: ['connectors'],
  presets: ['presets'],
  sources: ['sources'],
  source: (source: string) => ['sources', source],
  sourceEvents: (source: string) => ['sources', source, 'events'],
  sourceFields: (source: string) => ['sources', source, 'fields'],
  entities: ['entities'],
  entityValues: (label: string, prefix: string) => ['entities', label, prefix],
  apiKeys: ['api-keys'],
} as const

/**
 * The engine's core as its callers see it: ingest, reads, keys and the instance. What is declared
 * (parts, projects, the catalog) is in declared/calls.ts; `EngineCalls` of roles/calls.ts has both. Every
 * method may throw SvcError (see errors.ts).
 */
import type {
  AgentActivityResult,
  Connector,
  DiscoverRequest,
  EntitiesResult,
  EntityCoverage,
  EntityCoverageRequest,
  EntityNeighbours,
  Event,
  FieldsResult,
  Health,
  HistogramRequest,
  HistogramResult,
  Incident,
  IngestResult,
  InspectRequest,
  InspectResult,
  Key,
  KeyCreate,
  KeyCreated,
  LabelFacet,
  LabelsPreview,
  LabelsPreviewResult,
  MetricSeriesResult,
  ReadRequest,
  ReadResult,
  RememberRequest,
  RememberResult,
  SenderPreset,
  SourceTestResult,
  SourceWrite,
  StatsRequest,
  StatsResult,
  TelemetrySpansResult,
  Trace,
  TracesResult,
  Usage,
} from '../schemas/types.ts'
import type { Tally } from './log/figures.ts'
import type { OtlpForm } from './log/ingest/otlp-protobuf.ts'

/** Who makes a call; `id` is open, env:auth or key:<id>. */
export interface Caller {
  id: string
  name: string
  /** Nobody has to sign in here: the name says nothing of who it is. */
  isAnybody?: true
}

/**
 * Whether a call reads or writes, said of each where its names are: what only reads is answered beside the
 * writer, so that no list, check or plan holds up events.
 */
export type Access = 'reads' | 'writes'

/** Who waits for a wide read. */
export interface Asked {
  /** Caller id: each has a share. */
  by: string
  /** Aborted once nobody waits any more. */
  gone?: AbortSignal
  /** Hears how far a read is that says so. */
  told?: Tell
}

/** How far something is that takes long. */
export interface Progress {
  done: number
  of: number
}
export type Tell = (progress: Progress) => void

/** One POST to an ingest URL, its body already inflated. */
export interface IngestCall {
  ingestKey: string
  /** The items as received: JSON value, JSON array or NDJSON. Ownership passes to the engine. */
  body: Uint8Array
  /** The bytes on the wire, where they differ from `body` (gzip): a signature covers these. */
  wireBody?: Uint8Array
  /** Why the bytes on the wire could not be unpacked: they are refused with it, and that is told on their source. */
  unreadable?: { code: 'unsupported_media' | 'invalid' | 'too_large'; detail: string }
  /** Lower-case headers; only needed when the route `wantsHeaders`. */
  headers?: Record<string, string>
  /** X-SVC-Bypass-Cooldown, honoured: wakes triggers even inside cooldown. */
  bypassCooldown: boolean
  idempotencyKey?: string
  /** Caller id: idempotency keys of two credentials never meet. */
  caller: string
  /** How many items of the same request came before, in pieces of it stored already. */
  itemsBefore?: number
  /** Certificate that the body names as that of its signature, PEM: Amazon SNS. */
  certificate?: string | null
  /** Each item that is refused is listed, and not the first of them alone: its sender is answered item by item. */
  listsAll?: boolean
  /** The body is an export of OpenTelemetry, and no list of items. */
  otlp?: OtlpForm
  /** The body is a push of Loki in protobuf, packed by snappy. */
  isLokiPush?: boolean
}

/** The same as it came over the wire. */
export interface IngestPost extends Omit<IngestCall, 'body'> {
  /** The items, whole or in parts as they arrived. Ownership passes to the engine. */
  body: Uint8Array | readonly Uint8Array[]
}

/** What a door must know before it reads a body: which URLs exist and which check signatures. */
export interface IngestRoute {
  ingestKey: string
  sourceId: number
  source: string
  connector: string
  signed: boolean
  /** Its sender asks for a value to be shown again before it sends: Slack. */
  isChallenged?: true
  /** Its sender signs with a certificate, and has a subscription confirmed: Amazon SNS. */
  isSns?: true
  /** Its sender takes no status for an answer but 200: winston. */
  wantsOk?: true
  wantsHeaders: boolean
  paused: boolean
  /** What the answer's x-vercel-verify holds: it proves to Vercel whose URL this is. */
  verifyCode?: string
}

/** A stored key as the authenticator needs it. `hash` is lower-case hex SHA-256 of the secret. */
export interface KeyRecord {
  id: string
  name: string
  hash: string
  scopes: string[]
  sourceId: number | null
  /** Id and name of the project a project key reads. */
  project: string | null
  projectName: string | null
  /** A person let a machine have it. */
  isLogin: boolean
}

/** An access token that holds, for the authenticator; times in epoch ms. */
export interface OauthTokenRecord {
  hash: string
  grant: string
  clientId: string
  clientName: string
  approverHash: string
  resource: string
  scopes: string[]
  expiresAt: number
}

/** A session of the console, by hashes alone. */
export interface SessionRecord {
  /** Lower-case hex SHA-256 of the cookie's value. */
  idHash: string
  /** Lower-case hex SHA-256 of the token it was opened with. */
  tokenHash: string
  /** Epoch ms. */
  usedAt: number
}

/** A key that is no longer taken. */
export interface RevokedKey {
  name: string
  /** ISO 8601. */
  revokedAt: string
}

export interface Directory {
  routes: IngestRoute[]
  keys: KeyRecord[]
  /** Access tokens of clients that people signed in. */
  tokens: OauthTokenRecord[]
}

/** A row of a read. `raw` is JSON text as stored: doors splice it in, never re-serialise it. */
export type Row = Omit<Event, 'raw'> & { raw?: string }
export type ReadAnswer = Omit<ReadResult, 'rows'> & { rows: Row[] }

/** What a live tail wants: strict AND of labels, narrowed to sources; both may be empty. */
export interface TailFilter {
  selector: Record<string, string>
  sources: string[]
  /** Resume after this event id (Last-Event-ID); rows stored since are sent first. */
  afterId?: string
}
export type TailMessage =
  | { rows: Row[] }
  | { missed: number; afterId: string }
  | { notice: string }
  | { incident: Incident }

/** Counters for /metrics and /health; counts only. */
export interface EngineStatus {
  ingestPaused: boolean
  pctUsed: number
  /** Why it is not well, if so. */
  detail: string | null
  /** Runs that wait because a model is unavailable; null: none does. Epoch ms. */
  parked: {
    runs: number
    since: number
    until: number
    reason: string
    byAgent: Record<string, number>
  } | null
  /** Questions to Ask that wait for the same; null: none does. Epoch ms. */
  parkedTurns: { turns: number; since: number; until: number; reason: string } | null
  /** Stored secrets that the key file cannot open, in words. */
  unreadableSecrets: string[]
  /** The sync of the catalog with its repository; null: none is followed. */
  catalogSync: NonNullable<Health['catalog_sync']> | null
  eventsStored: number
  /** Those that are not handled. */
  incidents: { state: string; severity: string; n: number }[]
  /** `id` stays where a source is renamed, and is not given again. */
  bySource: { id: number; source: string; ingested: number; rejected: number; state: string }[]
  /** What was done since the process started. */
  tallies: Tally[]
  counters: Record<'commits' | 'fsync_batches' | 'events' | 'duplicates' | 'rejected' | 'reads', number>
  dbBytes: number
  walBytes: number
  maxBytes: number
}

export interface TraceAsked {
  id: string
  /** Id or name; absent: everything. */
  project?: string | undefined
}

/** What one span of a trace has to be: all of it together. */
export interface TracesAsked {
  service?: string | undefined
  /** Part of the span's name, whatever its case. */
  name?: string | undefined
  /** error: the span failed; ok: no span of the trace failed. */
  status?: string | undefined
  /** The span took at least so long, such as 250ms or 1.5s. */
  min_duration?: string | undefined
  /** name=value of an attribute of the span or its resource. */
  attribute?: string | undefined
  window?: string | undefined
  to?: string | undefined
  limit?: number | undefined
  project?: string | undefined
}

/** Whose neighbours, and in which window. */
export interface NeighboursAsked {
  label: string
  value: string
  window?: string | undefined
  to?: string | undefined
}

/** Spans as they have to be, all of it together; `to` and `window` are of spans without a trace. */
export interface SpansAsked extends TracesAsked {
  /** Only spans of this trace, its id or the first eight characters. */
  trace_id?: string | undefined
}

export interface MetricsAsked {
  /** Part of the metric's name, whatever its case. */
  name?: string | undefined
  service?: string | undefined
  window?: string | undefined
  limit?: number | undefined
  project?: string | undefined
}

export interface ActivityAsked {
  window?: string | undefined
  project?: string | undefined
}

export interface EngineCore {
  // ingest
  ingest(call: IngestPost): Promise<IngestResult>
  /**
   * Makes a source of a connector that makes itself, unless there is one, where the body holds an event.
   * @returns whether there is one now.
   */
  makeFirstSource(
    kind: string,
    post: Pick<IngestCall, 'body' | 'headers' | 'otlp'>,
    caller: Caller,
  ): Promise<boolean>
  remember(request: RememberRequest, caller: Caller, idempotencyKey?: string): Promise<RememberResult>
  // reads
  // `asked` is looked at where reads have threads. @throws SvcError too_slow, too_many
  read(request: ReadRequest, asked?: Asked): Promise<ReadAnswer>
  stats(request: StatsRequest, asked?: Asked): Promise<StatsResult>
  histogram(request: HistogramRequest, asked?: Asked): Promise<HistogramResult>
  /** All spans and events of one trace id. @throws SvcError invalid, not_found */
  trace(asked: TraceAsked): Promise<Trace>
  /** Traces of a window that have a span as it is asked for, newest first. @throws SvcError invalid, not_found */
  traces(asked: TracesAsked): Promise<TracesResult>
  /** Spans by themselves, of a window or of one trace. @throws SvcError invalid, not_found */
  telemetrySpans(asked: SpansAsked): Promise<TelemetrySpansResult>
  /** Numbers of a metric over a window. @throws SvcError invalid, not_found */
  metricSeries(asked: MetricsAsked): Promise<MetricSeriesResult>
  /** Agents, svc's own and others', and what they did. @throws SvcError invalid, not_found */
  agentActivity(asked: ActivityAsked): Promise<AgentActivityResult>
  /** One of the tools that look, for models. @throws SvcError invalid, not_found */
  inspect(request: InspectRequest, asked?: Asked): Promise<InspectResult>
  entities(limit: number): Promise<EntitiesResult>
  entityValues(label: string, limit: number, prefix?: string): Promise<LabelFacet>
  /** How many of the newest events joined entities cover, and what a draft adds. @throws SvcError invalid */
  entityCoverage(body: EntityCoverageRequest, asked?: Asked): Promise<EntityCoverage>
  /** What an entity calls, runs on and is owned by. @throws SvcError invalid */
  entityNeighbours(asked: NeighboursAsked): Promise<EntityNeighbours>
  /** One event with its payload; 404 when unknown or purged. */
  event(id: string): Promise<Row>
  /**
   * Calls `listener` for every commit with matching rows until `stop` is called; first with a notice, where a
   * label of the filter is on no event. @throws SvcError not_found for a source that is not there
   */
  tail(filter: TailFilter, listener: (message: TailMessage) => void): Promise<{ stop: () => void }>
  // sources
  listConnectors(): Promise<Record<string, Connector>>
  /** How known senders of webhooks are read, by the order of their names. */
  listPresets(): Promise<SenderPreset[]>
  testSource(body: SourceWrite): Promise<SourceTestResult>
  discoverSource(body: DiscoverRequest): Promise<Record<string, unknown>>
  previewLabel(body: LabelsPreview): Promise<LabelsPreviewResult>
  sourceEvents(name: string, limit: number): Promise<Row[]>
  sourceFields(name: string, limit: number): Promise<FieldsResult>
  // keys
  listKeys(): Promise<Key[]>
  /** @param isLogin a person approved it for a machine, by svc login. */
  createKey(body: KeyCreate, caller: Caller, isLogin?: boolean): Promise<KeyCreated>
  revokeKey(id: string, caller: Caller): Promise<{ ok: true; note: string }>
  /** Records that keys were used; at most one write per key and minute. */
  touchKeys(ids: string[]): Promise<void>
  directory(): Promise<Directory>
  /** The key with this hash of its secret, where it was revoked: whoever logs in with it is told so. */
  revokedKey(hash: string): Promise<RevokedKey | null>
  /** For how long the writer has been at work without getting anything written, ms; 0: it is not at work. */
  writerSilence(): number
  // the console's sessions
  /** Sessions used since `after`, epoch ms; older ones are forgotten. */
  loadSessions(after: number): Promise<SessionRecord[]>
  saveSessions(sessions: SessionRecord[]): Promise<void>
  dropSession(idHash: string): Promise<void>
  // the instance
  usage(): Promise<Usage>
  status(): Promise<EngineStatus>
  /** Flushes, checkpoints and closes; the data file is complete afterwards. */
  close(): Promise<void>
}

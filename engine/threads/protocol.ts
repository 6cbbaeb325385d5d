/** Messages between the daemon's main thread and the engine's threads. */
import type { MessagePort } from 'node:worker_threads'
import type { IngestCall, TailFilter, TailMessage } from '../calls.ts'
import type { BootCatalog } from '../catalog/boot.ts'
import type { ErrorCode, ErrorExtra } from '../errors.ts'
import type { PreparedBody } from '../ingest/prepare-body.ts'
import type { ModelEnvironment } from '../models/environment.ts'
import type { SlackEnvironment } from '../slack/environment.ts'
import type { SourceSpec } from '../sources/live.ts'
import type { Retention } from '../store/maintenance.ts'
import type { Tally } from '../tallies.ts'
import type { TracingEnvironment } from '../tracing/environment.ts'

/** What the writer and readers of an instance share. */
export interface SharedOptions {
  dataFile: string
  maxDbSize: number | null
  /** Memory of what is counted (figures.ts). */
  figures: SharedArrayBuffer
  env?: Record<string, string | undefined>
  models?: ModelEnvironment
  tracing?: TracingEnvironment
  slack?: SlackEnvironment
  boot?: BootCatalog
  /** Memory of a clock that is set by hand; absent: the wall clock. */
  clock?: SharedArrayBuffer
}

export interface StoreOptions extends SharedOptions {
  /** Memory of how writing goes (store/writer-state.ts). */
  state: SharedArrayBuffer
  retention: Retention
  webhookAllowPrivate?: boolean
  acceptLoss?: boolean
}

/** `port` joins the preparer and the writer, `log` the checkpointer and the writer. */
export type ThreadOptions =
  | ({ role: 'writer'; port: MessagePort; log: MessagePort } & StoreOptions)
  | ({ role: 'reader' } & SharedOptions)
  | { role: 'checkpointer'; dataFile: string; log: MessagePort }
  | { role: 'preparer'; port: MessagePort; clock?: SharedArrayBuffer }

export interface WireError {
  code: ErrorCode
  message: string
  extra: ErrorExtra
}

/** Where bytes lie: in which of the transferred buffers, from where to where. */
export interface Place {
  buffer: number
  start: number
  end: number
}

/** An ingest call without its bytes. */
export interface CallMeta extends Omit<IngestCall, 'body' | 'wireBody'> {
  id: number
  body: Place
  wire?: Place
}

/** Tells the reader and the checkpointer that the file can be opened. */
export type ToReader = { t: 'open' }

export type ToThread =
  | { t: 'ingest'; calls: CallMeta[]; buffers: ArrayBuffer[] }
  | { t: 'call'; id: number; method: string; args: unknown[] }
  | { t: 'listen'; id: number; filter: TailFilter }
  | { t: 'unlisten'; id: number }

export type Settled = { id: number; value: unknown } | { id: number; error: WireError }

export type FromThread =
  | { t: 'ready' }
  | { t: 'not_started'; message: string; exitCode: number }
  /** `buffers` are those of bodies, to be used again. */
  | { t: 'settled'; results: Settled[]; buffers?: ArrayBuffer[] }
  | { t: 'tail'; id: number; message: TailMessage }
  /** What was counted since the last of these, before the answer that tells of it. */
  | { t: 'tallies'; tallies: Tally[] }
  /** A commit left deliveries to be sent. */
  | { t: 'pending' }
  /** A commit made, changed or deleted sources. */
  | { t: 'sources' }
  | { t: 'fatal'; message: string }
  | { t: 'fault'; id: string; stack: string }

/** A call on its way from the preparer to the writer. */
export interface PreparedMessage {
  id: number
  call: IngestCall
  /** Null where the preparer did not know the source. */
  prepared: { revision: number; body: PreparedBody } | { revision: number; error: WireError } | null
}

/**
 * What the writer tells the preparer: a source as it is now; and of every call that it is done with,
 * the ids of its new labels (0: not stored) and the buffer of its columns, where they are of use.
 */
export type ToPreparer =
  | { t: 'source'; ingestKey: string; source: SourceSpec }
  | { t: 'done'; id: number; labelIds: Uint32Array | null; buffer: ArrayBuffer | null }

/** Messages between the daemon's main thread and the engine's threads. */

import { randomBytes } from 'node:crypto'
import { MessageChannel, type MessagePort } from 'node:worker_threads'
import type { ModelEnvironment } from '../agents/models/providers.ts'
import type { TracingEnvironment } from '../agents/tracing-settings.ts'
import type { IngestCall, IngestPost, Progress, TailFilter, TailMessage } from '../calls.ts'
import type { BootCatalog } from '../declared/catalog/catalog.ts'
import { type ErrorCode, type ErrorExtra, SvcError } from '../errors.ts'
import { joined, sizeOf } from '../log/ingest/otlp-form.ts'
import type { PreparedBody } from '../log/ingest/prepare.ts'
import { survivableDiskFault } from '../log/store/handle.ts'
import type { Retention } from '../log/store/maintenance.ts'
import type { Tally } from '../log/tallies.ts'
import type { SlackEnvironment } from '../outbox/slack-api.ts'
import type { SourceSpec } from '../sources/live.ts'

/** What the writer and readers of an instance share. */
export interface SharedOptions {
  dataFile: string
  maxDbSize: number | null
  /** Memory of what is counted (log/figures.ts). */
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
  /** `niceness`: how far it gives way to the other threads. */
  | ({ role: 'reader'; niceness: number } & SharedOptions)
  | { role: 'checkpointer'; dataFile: string; log: MessagePort }
  | { role: 'preparer'; port: MessagePort; clock?: SharedArrayBuffer }

interface WireError {
  code: ErrorCode
  message: string
  extra: ErrorExtra
}

/** Where bytes lie: in which of the transferred buffers, from where to where. */
interface Place {
  buffer: number
  start: number
  end: number
}

/** An ingest call without its bytes. */
interface CallMeta extends Omit<IngestCall, 'body' | 'wireBody'> {
  id: number
  body: Place
  wire?: Place
}

/** Tells the reader and the checkpointer that the file can be opened. */
export type ToReader = { t: 'open' }

export type ToThread =
  | { t: 'ingest'; calls: CallMeta[]; buffers: ArrayBuffer[] }
  /** `tells`: how far it is, as messages. */
  | { t: 'call'; id: number; method: string; args: unknown[]; tells?: true }
  | { t: 'listen'; id: number; filter: TailFilter }
  | { t: 'unlisten'; id: number }

export type Settled = { id: number; value: unknown } | { id: number; error: WireError }

export type FromThread =
  | { t: 'ready' }
  | { t: 'not_started'; message: string; exitCode: number }
  /** `buffers` are those of bodies, to be used again. */
  | { t: 'settled'; results: Settled[]; buffers?: ArrayBuffer[] }
  | { t: 'progress'; id: number; progress: Progress }
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

/* Bytes of ingest calls on their way between threads: handed over where they are large, else copied. */

/** Small bodies are copied into one buffer; from this size their own is handed over instead. */
export const OWN_BUFFER_BYTES = 64 * 1024

/** The message for some calls, and the buffers to transfer with it. @param take where parts are joined. */
export function packCalls(
  group: readonly { id: number; call: IngestPost }[],
  take: (size: number) => Buffer,
): { calls: CallMeta[]; buffers: ArrayBuffer[] } {
  const pack = new BufferPack(
    group.reduce(
      (sum, { call }) => sum + smallSize(call.body) + (call.wireBody ? smallSize(call.wireBody) : 0),
      0,
    ),
    take,
  )
  const calls = group.map(({ call, id }): CallMeta => {
    const { body, wireBody, ...rest } = call
    return { ...rest, id, body: pack.put(body), ...(wireBody ? { wire: pack.put(wireBody) } : {}) }
  })
  return { calls, buffers: pack.buffers }
}

/** The calls of a message. */
export function callsOf(
  calls: readonly CallMeta[],
  buffers: readonly ArrayBuffer[],
): { id: number; call: IngestCall }[] {
  return calls.map((meta) => {
    const { id, body, wire, ...rest } = meta
    const call: IngestCall = { ...rest, body: bytesAt(buffers, body) }
    if (wire) call.wireBody = bytesAt(buffers, wire)
    return { id, call }
  })
}

const bytesAt = (buffers: readonly ArrayBuffer[], { buffer, start, end }: Place): Buffer =>
  Buffer.from(buffers[buffer]!, start, end - start)

type Bytes = IngestPost['body']

const smallSize = (bytes: Bytes): number => {
  const size = sizeOf(bytes)
  return size >= OWN_BUFFER_BYTES ? 0 : size
}

class BufferPack {
  readonly buffers: ArrayBuffer[]
  private readonly shared: Uint8Array
  private at = 0

  constructor(
    sharedBytes: number,
    private readonly take: (size: number) => Buffer,
  ) {
    const buffer = new ArrayBuffer(sharedBytes)
    this.shared = new Uint8Array(buffer)
    this.buffers = [buffer]
  }

  put(bytes: Bytes): Place {
    const size = sizeOf(bytes)
    if (size >= OWN_BUFFER_BYTES) {
      this.buffers.push(bytes instanceof Uint8Array ? ownBuffer(bytes) : this.join(bytes))
      return { buffer: this.buffers.length - 1, start: 0, end: size }
    }
    const start = this.at
    for (const part of bytes instanceof Uint8Array ? [bytes] : bytes) {
      this.shared.set(part, this.at)
      this.at += part.length
    }
    return { buffer: 0, start, end: this.at }
  }

  private join(parts: readonly Uint8Array[]): ArrayBuffer {
    const whole = joined(parts, this.take)
    free(parts.filter(isWhole).map((part) => part.buffer as ArrayBuffer))
    return whole.buffer as ArrayBuffer
  }
}

/** A port that leads nowhere. */
const nowhere = (() => {
  const { port1, port2 } = new MessageChannel()
  port1.close()
  port2.close()
  return port1
})()

/**
 * Frees buffers at once. Left to the collector, those of a hundred megabytes a second make it mark the
 * whole heap ten times a second; handing them over takes them off its books.
 */
function free(buffers: readonly ArrayBuffer[]): void {
  nowhere.postMessage(null, buffers)
}

const isWhole = (bytes: Uint8Array): boolean =>
  bytes.byteOffset === 0 && bytes.byteLength === bytes.buffer.byteLength

/** A view of a larger buffer cannot be transferred alone. */
function ownBuffer(bytes: Uint8Array): ArrayBuffer {
  return (isWhole(bytes) ? bytes : new Uint8Array(bytes)).buffer as ArrayBuffer
}

/* Faults in a thread: the main thread logs those of ours under the id that the caller is told. */

/** @returns the error to answer with. A volume that is full is no fault of ours: 507, and nothing is logged. */
export function faultOf(error: Error, send: (message: FromThread) => void): SvcError {
  const survivable = survivableDiskFault(error)
  if (survivable) return survivable
  const id = randomBytes(6).toString('hex')
  send({ t: 'fault', id, stack: error.stack ?? error.message })
  return new SvcError('internal', `a fault of ours; the log has it under ${id}`)
}

/*
 * Buffers for bodies, used again once the writer has stored what was in them: memory that is fresh
 * for every body must be cleared by the kernel and collected by V8, a tenth of what preparing costs.
 */

const KEPT_MAX = 8
/** Larger bodies are rare, and their memory is worth more than their time. */
const KEPT_BYTES_MAX = 2 * 1024 * 1024
/** Sizes are rounded up to this, so that bodies of about one size share buffers. */
const STEP_BYTES = 256 * 1024

export class BufferPool {
  private readonly kept: ArrayBuffer[] = []

  /** Bytes without a defined content; may be a part of a larger buffer, from its start on. */
  take(size: number): Buffer {
    const at = this.kept.findIndex((buffer) => buffer.byteLength >= size)
    if (at >= 0) return Buffer.from(this.kept.splice(at, 1)[0]!, 0, size)
    if (size > KEPT_BYTES_MAX) return Buffer.allocUnsafeSlow(size)
    return Buffer.allocUnsafeSlow(Math.ceil(size / STEP_BYTES) * STEP_BYTES).subarray(0, size)
  }

  /** Takes back what nobody looks at any more. */
  give(buffer: ArrayBuffer): void {
    // The oldest goes, so that a size that is no longer asked for does not stay.
    if (this.kept.length === KEPT_MAX) this.kept.shift()
    this.kept.push(buffer)
  }

  /** Whether a buffer is worth giving back. */
  static isKept(buffer: ArrayBufferLike): buffer is ArrayBuffer {
    return buffer.byteLength >= STEP_BYTES && buffer.byteLength <= KEPT_BYTES_MAX
  }
}

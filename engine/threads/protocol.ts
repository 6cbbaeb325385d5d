/**
 * Messages between the daemon's main thread and the engine's threads; and one of these threads as the main thread sees
 * it: calls by id, answers by promise.
 */
import { randomBytes } from 'node:crypto'
import { getCompileCacheDir } from 'node:module'
import { dirname } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { MessageChannel, type MessagePort, type ResourceLimits, Worker } from 'node:worker_threads'
import type { ModelEnvironment } from '../agents/models/providers.ts'
import type { TracingEnvironment } from '../agents/telemetry/tracing-settings.ts'
import type { IngestCall, IngestPost, Progress, TailFilter, TailMessage, Tell } from '../calls.ts'
import type { BootCatalog } from '../declared/catalog/catalog.ts'
import { type ErrorCode, type ErrorExtra, StartError, SvcError } from '../errors.ts'
import type { Tally } from '../log/figures.ts'
import { joined, sizeOf } from '../log/ingest/otlp-protobuf.ts'
import type { PreparedBody } from '../log/ingest/prepare.ts'
import { survivableDiskFault } from '../log/store/handle.ts'
import type { Retention, StorageTurn } from '../log/store/maintenance.ts'
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

/** Tells the reader that the file can be opened. */
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
  /** Ingest begins to be refused for want of storage, or is taken again. */
  | { t: 'storage'; turn: StorageTurn }
  /** The log is long enough to be copied beside the writer. */
  | { t: 'log' }
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

export interface ThreadEvents {
  onFatal(error: Error): void
  onFault(id: string, stack: string): void
  onPending(): void
  onSourcesChanged(): void
  /** The writer asks for the checkpointer. */
  onLogLong(): void
  /** Ingest begins to be refused for want of storage, or is taken again. */
  onStorage(turn: StorageTurn): void
  /** What the writer counted. */
  onTallies(tallies: readonly Tally[]): void
}

/** The environment of this process; what V8 compiles is kept by a thread where it is by the process. */
function threadEnv(): NodeJS.ProcessEnv {
  const folder = getCompileCacheDir()
  // The folder of this Node is inside the one that is named.
  return folder ? { ...process.env, NODE_COMPILE_CACHE: dirname(folder) } : process.env
}

/** Whoever waits for an answer. */
interface Asker {
  resolve: (value: never) => void
  reject: (error: Error) => void
  told?: Tell | undefined
}

/** How many may wait at once: an id is a place and, above it, how often places were given. */
const PLACES = 2 ** 20
/** After so many it begins again: within 53 bits, and nobody waits for that long. */
const GIVEN_MAX = 2 ** 32

/**
 * Those that wait for answers, by ids of which no two are alike for days. Not a Map: with each post an entry comes and goes, and
 * the old tables of such a Map keep what was in them (api/http/body-budget.ts).
 */
class Askers {
  private readonly places: ({ id: number; asker: Asker } | null)[] = []
  private readonly free: number[] = []
  private given = 0

  /** @returns its id */
  add(asker: Asker): number {
    const place = this.free.pop() ?? this.places.length
    this.given = (this.given + 1) % GIVEN_MAX
    const id = this.given * PLACES + place
    this.places[place] = { id, asker }
    return id
  }

  get(id: number): Asker | undefined {
    const held = this.places[id % PLACES]
    return held?.id === id ? held.asker : undefined
  }

  take(id: number): Asker | undefined {
    const asker = this.get(id)
    if (!asker) return undefined
    this.places[id % PLACES] = null
    this.free.push(id % PLACES)
    return asker
  }

  /** Takes all that wait. */
  takeAll(): Asker[] {
    const all = this.places.splice(0).flatMap((held) => held?.asker ?? [])
    this.free.length = 0
    return all
  }
}

export class EngineThread {
  private readonly waiting = new Askers()
  private nextTail = 1
  private readonly tails = new Map<number, (message: TailMessage) => void>()
  private stopping = false
  /** Takes back the buffer of a body that is stored. */
  onBuffer: (buffer: ArrayBuffer) => void = () => {}

  /** Settles when the thread has started. @throws StartError when its store cannot be opened. */
  readonly ready: Promise<void>
  private readonly worker: Worker

  /** Starts a thread. @param transfer what of the options is handed over. @param heap its bounds, in MB. */
  constructor(
    entry: URL,
    private readonly options: ThreadOptions,
    private readonly events: ThreadEvents,
    transfer: MessagePort[] = [],
    heap: ResourceLimits = THREAD_HEAP,
  ) {
    this.worker = new Worker(entry, {
      workerData: options,
      transferList: transfer,
      name: `svc-${options.role}`,
      resourceLimits: heap,
      env: threadEnv(),
    })
    this.ready = new Promise((resolve, reject) => this.listenToWorker(resolve, reject))
    // Several start at once: the first failure is told, the others need nobody to wait for them.
    this.ready.catch(() => undefined)
    holdGrowthFor(this.ready)
  }

  private listenToWorker(resolve: () => void, reject: (error: Error) => void): void {
    this.worker.on('message', (message: FromThread) => {
      if (message.t === 'ready') resolve()
      else if (message.t === 'not_started') {
        // The thread ends by itself now; that is not a second failure.
        this.stopping = true
        reject(new StartError(message.message, message.exitCode))
      } else this.receive(message)
    })
    this.worker.on('error', (error) => {
      reject(error)
      this.fail(error)
    })
    this.worker.on('exit', (code) => {
      const error = new Error(`the ${this.options.role} thread ended with code ${code}`)
      reject(error)
      this.fail(error)
    })
  }

  /** Processor time that it has had, in milliseconds; null: not known, as before Node 22.19. */
  async worked(): Promise<number | null> {
    if (typeof this.worker.cpuUsage !== 'function') return null
    try {
      const { user, system } = await this.worker.cpuUsage()
      return (user + system) / 1_000
    } catch {
      // The thread has ended, and with it what it was asked for; nobody waits for the answer.
      return null
    }
  }

  /** @param told hears how far it is, after the other arguments */
  call<T>(method: string, args: unknown[], told?: Tell): Promise<T> {
    const { id, promise } = this.expect<T>(told)
    this.send({ t: 'call', id, method, args, ...(told ? { tells: true } : {}) })
    return promise
  }

  /** Registers an answer to come. */
  expect<T>(told?: Tell): { id: number; promise: Promise<T> } {
    let id = 0
    const promise = new Promise<T>((resolve, reject) => {
      id = this.waiting.add({ resolve, reject, told })
    })
    return { id, promise }
  }

  send(message: ToThread | ToReader, transfer: ArrayBuffer[] = []): void {
    this.worker.postMessage(message, transfer)
  }

  listen(
    filter: Extract<ToThread, { t: 'listen' }>['filter'],
    listener: (message: TailMessage) => void,
  ): () => void {
    const id = this.nextTail++
    this.tails.set(id, listener)
    this.send({ t: 'listen', id, filter })
    return () => {
      this.tails.delete(id)
      this.send({ t: 'unlisten', id })
    }
  }

  /** Ends the thread once it has closed its store. */
  async stop(): Promise<void> {
    this.stopping = true
    await this.call('close', [])
    await this.end()
  }

  /** Ends a thread that has nothing to close. */
  async end(): Promise<void> {
    this.stopping = true
    await this.worker.terminate()
  }

  private receive(message: FromThread): void {
    if (message.t === 'settled') {
      for (const buffer of message.buffers ?? []) this.onBuffer(buffer)
      for (const result of message.results) {
        const waiting = this.waiting.take(result.id)
        if ('error' in result) waiting?.reject(SvcError.from(result.error))
        else waiting?.resolve(result.value as never)
      }
    } else if (message.t === 'progress') this.waiting.get(message.id)?.told?.(message.progress)
    else if (message.t === 'tail') this.tails.get(message.id)?.(message.message)
    else if (message.t === 'pending') this.events.onPending()
    else if (message.t === 'sources') this.events.onSourcesChanged()
    else if (message.t === 'log') this.events.onLogLong()
    else if (message.t === 'storage') this.events.onStorage(message.turn)
    else if (message.t === 'tallies') this.events.onTallies(message.tallies)
    else if (message.t === 'fatal') this.events.onFatal(new Error(message.message))
    else if (message.t === 'fault') this.events.onFault(message.id, message.stack)
  }

  private fail(error: Error): void {
    if (this.stopping) return
    this.stopping = true
    for (const { reject } of this.waiting.takeAll())
      reject(new SvcError('unavailable', 'the engine has stopped'))
    this.events.onFatal(error)
  }
}

/*
 * How far V8 lets the heaps of the process grow. Left alone it favours speed: a heap may reach four times what
 * lives in it before it is collected, and since Node 22 a young one takes up to 96 MB.
 */

/** In MB. The young one is three semi-spaces, each of four. */
export const THREAD_HEAP = { maxYoungGenerationSizeMb: 12, maxOldGenerationSizeMb: 1_024 }

/**
 * Of the thread of wide reads: a catalog file that is parsed lives for as long as the plan made of it, and a small
 * young heap would copy most of it into the old one. It is larger only while such work is done.
 */
export const WIDE_HEAP = { ...THREAD_HEAP, maxYoungGenerationSizeMb: 48 }

/**
 * Of the writer: what a batch brings lives until its transaction is written, and is copied once less where the young
 * heap holds two batches. A larger one falls out of the processor's cache.
 */
export const WRITER_HEAP = { ...THREAD_HEAP, maxYoungGenerationSizeMb: 24 }

/** Of the thread that copies pages and makes next to nothing. */
export const SMALL_HEAP = { maxYoungGenerationSizeMb: 3, maxOldGenerationSizeMb: 256 }

/** How V8 lets heaps grow. */
export interface HeapGrowth {
  /** By how much of what lived at the last collection. */
  percent: number
  /** Whether memory is worth more than time: the least step of growth is 2 MB then and not 8, for each of six heaps. */
  isTight: boolean
}

/**
 * A heap is collected when it has grown by two fifths of what lived at the last collection. With one fifth single posts
 * of 64 connections, whose requests live long enough to grow old, took some 8 % more processor time; with three, no less,
 * and the process is larger.
 */
const ROOMY: HeapGrowth = { percent: 40, isTight: false }
/** While the process is large: a minute of mixed load keeps 50 to 70 MB less, and stores a fifth less in that time. */
const TIGHT: HeapGrowth = { percent: 30, isTight: true }
/** Bytes of resident memory from which it is large, and below which it is so no longer. */
const LARGE_BYTES = 355e6
const NO_LONGER_LARGE_BYTES = 335e6
const LOOK_MS = 500

/**
 * What a wide read may have on top before heaps are tight: its asker waits for it, and a change of fifty triggers over a
 * million events is told in four fifths of the time (2026-11-30).
 */
const WIDE_READ_BYTES = 150e6

/** @param residentBytes memory of the process. @param now the growth that holds. @returns that which shall hold */
export function growthFor(residentBytes: number, now: HeapGrowth = ROOMY, isReadingWide = false): HeapGrowth {
  const bytes = residentBytes - (isReadingWide ? WIDE_READ_BYTES : 0)
  if (bytes > LARGE_BYTES) return TIGHT
  return bytes < NO_LONGER_LARGE_BYTES ? ROOMY : now
}

/** How the heaps of this process shall grow; null: as V8 has it. */
let heldTo: HeapGrowth | null = null
/** Threads that load what they run. */
let starting = 0
/** Wide reads at work. */
let readingWide = 0

/** Gives heaps the room of a wide read until it has ended. */
export function keepRoomFor(read: Promise<unknown>): void {
  readingWide++
  const end = (): void => void readingWide--
  read.then(end, end)
}

/**
 * Tells V8 how heaps grow, but while a thread starts: what V8 has compiled, of Node's own modules too, holds for the flags it
 * was compiled under, and a thread that starts under others compiles all it loads. Five threads that did were a sixth
 * of the processor time of a start (2026-11-26).
 */
function setGrowth(): void {
  const growth = starting ? null : heldTo
  setFlagsFromString(`--heap_growing_percent=${growth?.percent ?? 0}`)
  setFlagsFromString(`--${growth?.isTight ? '' : 'no-'}optimize-for-size`)
}

/** Waits with the growth of heaps until a thread has started, or failed to. */
function holdGrowthFor(ready: Promise<void>): void {
  starting++
  if (heldTo) setGrowth()
  const end = (): void => {
    starting--
    if (heldTo) setGrowth()
  }
  ready.then(end, end)
}

/**
 * Bounds the heaps of this process from when its threads have started. V8 reads these flags at each collection, so
 * that it needs no command line and can follow the memory that the process has; the young heap of the main thread
 * does, which bin/runtime.mjs gives it.
 * @param resident bytes of memory that the process has
 * @returns ends that
 */
export function limitHeaps(resident: () => number = process.memoryUsage.rss): () => void {
  heldTo = growthFor(0)
  setGrowth()
  const looks = setInterval(() => {
    const next = growthFor(resident(), heldTo ?? undefined, readingWide > 0)
    if (next === heldTo) return
    heldTo = next
    setGrowth()
  }, LOOK_MS).unref()
  return () => {
    clearInterval(looks)
    heldTo = null
    setGrowth()
  }
}

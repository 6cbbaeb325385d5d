/** One engine thread as the main thread sees it: calls by id, answers by promise. */
import { getCompileCacheDir } from 'node:module'
import { dirname } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { type MessagePort, type ResourceLimits, Worker } from 'node:worker_threads'
import type { TailMessage, Tell } from '../calls.ts'
import { StartError, SvcError } from '../errors.ts'
import type { Tally } from '../log/tallies.ts'
import type { FromThread, ThreadOptions, ToReader, ToThread } from './protocol.ts'

export interface ThreadEvents {
  onFatal(error: Error): void
  onFault(id: string, stack: string): void
  onPending(): void
  onSourcesChanged(): void
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

/** @param residentBytes memory of the process. @param now the growth that holds. @returns that which shall hold */
export function growthFor(residentBytes: number, now: HeapGrowth = ROOMY): HeapGrowth {
  if (residentBytes > LARGE_BYTES) return TIGHT
  return residentBytes < NO_LONGER_LARGE_BYTES ? ROOMY : now
}

/** How the heaps of this process shall grow; null: as V8 has it. */
let heldTo: HeapGrowth | null = null
/** Threads that load what they run. */
let starting = 0

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
 * @returns ends that
 */
export function limitHeaps(): () => void {
  heldTo = growthFor(0)
  setGrowth()
  const looks = setInterval(() => {
    const next = growthFor(process.memoryUsage.rss(), heldTo ?? undefined)
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

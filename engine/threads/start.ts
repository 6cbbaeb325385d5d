/**
 * The roles of the store in threads of their own: the doors stay responsive while the writer waits for its fsync, and
 * a wide read holds up neither.
 */
import { MessageChannel } from 'node:worker_threads'
import type { IngestResult } from '../../schemas/types.ts'
import type { ModelEnvironment } from '../agents/models/providers.ts'
import type { TracingEnvironment } from '../agents/telemetry/tracing-settings.ts'
import type { IngestPost } from '../calls.ts'
import { clockIn, systemClock, systemTimers } from '../clock.ts'
import type { BootCatalog, BootReport } from '../declared/catalog/catalog.ts'
import { createEngine, type Signals, type StoreRoles } from '../engine.ts'
import { StartError } from '../errors.ts'
import { figuresMemory, Tallies } from '../log/figures.ts'
import { sizeOf } from '../log/ingest/otlp-protobuf.ts'
import { holdLog } from '../log/store/checkpoints.ts'
import type { Retention, StorageTurn } from '../log/store/maintenance.ts'
import { WriterState } from '../log/store/writer-state.ts'
import type { ServedEngine } from '../operations/operation.ts'
import type { SlackEnvironment } from '../outbox/slack-api.ts'
import type { Repository, RepositoryHome } from '../reconcile/git.ts'
import {
  BufferPool,
  EngineThread,
  limitHeaps,
  packCalls,
  SMALL_HEAP,
  type ThreadEvents,
  WRITER_HEAP,
} from './protocol.ts'
import { startReading } from './wide-reads.ts'

export interface StartOptions {
  /** Path of the data file. */
  dataFile: string
  /** Storage limit in bytes; null: the volume's size. */
  maxDbSize: number | null
  retention: Retention
  /** Read for `${NAME}` references and templates. */
  env: Readonly<Record<string, string | undefined>>
  /** Model providers of the environment. */
  models: ModelEnvironment
  /** Tracing as the environment says it. */
  tracing: TracingEnvironment
  /** Slack as the environment says it. */
  slack: SlackEnvironment
  /** The catalog file and the project to begin with. */
  boot: BootCatalog
  /** The repository that the catalog is synced with; null: none. */
  repository: Repository | null
  /** What a stored one is followed with; null: none may be. */
  repositoryHome: RepositoryHome | null
  /** Told what the boot did with the catalog. */
  onBooted(report: BootReport): void
  /** Addresses subscribed by a key without scope admin may be private too. */
  webhookAllowPrivate: boolean
  /** Open a data file although commits that were acknowledged are missing. */
  acceptLoss: boolean
  /** The disk failed or a thread died: the process must stop and start again. */
  onFatal(error: Error): void
  /** A fault of ours, with the id its caller was told. */
  onFault(id: string, stack: string): void
  /** Ingest begins to be refused for want of storage, or is taken again: once each. */
  onStorage(turn: StorageTurn): void
}

/** Of the threads, as tests have them. */
export interface ThreadsOf {
  /** Their code; what is built, or written, beside this file. */
  entry: URL
  /** Memory of a clock that is set by hand (clock.ts); undefined: the wall clock. */
  time: SharedArrayBuffer | undefined
}

const OF_DAEMON: ThreadsOf = {
  entry: new URL(import.meta.url.endsWith('.ts') ? './worker.ts' : './engine-worker.mjs', import.meta.url),
  time: undefined,
}

/** The daemon's engine: a thread for each role of the store, and all of it at work. @throws StartError */
export async function startEngine(options: StartOptions): Promise<ServedEngine> {
  limitHeaps()
  return createEngine({
    roles: await rolesInThreads(options),
    works: true,
    clock: systemClock,
    webhookAllowPrivate: options.webhookAllowPrivate,
    env: options.env,
    publicUrl: options.slack.publicUrl,
    repository: options.repository,
    repositoryHome: options.repositoryHome,
    onFault: (role, error) => options.onFault(role, error.stack ?? error.message),
  })
}

/** What is told of threads, from the first commit on. */
function eventsOf({ onFatal, onFault, onStorage }: Pick<StartOptions, 'onFatal' | 'onFault' | 'onStorage'>) {
  const tallies = new Tallies()
  let signals: Signals | null = null
  let startCheckpointer = (): void => {}
  const events: ThreadEvents = {
    ...{ onFatal, onFault, onStorage },
    onLogLong: () => startCheckpointer(),
    onPending: () => signals?.pending(),
    onSourcesChanged: () => signals?.sourcesChanged(),
    onTallies: (changed) => tallies.put(changed),
  }
  return {
    events,
    tallies: () => tallies.list(),
    signal: (to: Signals) => {
      signals = to
    },
    whenLogIsLong: (start: () => void) => {
      startCheckpointer = start
    },
  }
}

/**
 * Starts the writer and the reader, at once: most of a start is loading code. The reader opens the file once the writer
 * has, for the writer takes the lock and migrates. The preparer and the checkpointer are started when they are first
 * needed: each is a tenth of the processor time of a start, and an instance may never have a large body, nor a long log.
 * @throws StartError
 */
export async function rolesInThreads(
  options: Omit<StartOptions, 'repository' | 'repositoryHome'>,
  how = OF_DAEMON,
): Promise<StoreRoles> {
  const { entry } = how
  const { events, tallies, signal, whenLogIsLong } = eventsOf(options)
  const { state, shared, writer, preparer, checkpointer } = startStore(options, how, events)
  whenLogIsLong(checkpointer.start)
  const reading = startReading({ entry, options: shared, events, timers: systemTimers })
  const reader = reading.thread
  // Of the start: the writer has it at hand, and a reader would load what is declared for it.
  let directory: unknown
  let letGoOfLog = (): void => {}
  try {
    await writer.ready
    // Here, as threads are ended before the thread that started them.
    letGoOfLog = holdLog(options.dataFile)
    reader.send({ t: 'open' })
    options.onBooted(await writer.call<BootReport>('bootReport', []))
    directory = await writer.call('directory', [])
    await reader.ready
  } catch (error) {
    whenLogIsLong(() => {})
    letGoOfLog()
    const begun = [writer, reader, checkpointer.started()]
    await Promise.all(begun.map((thread) => thread?.end()))
    throw error
  }
  const ingest = new IngestBatcher(writer, preparer.start)
  return {
    ...{ tallies, signal, wide: reading.wide },
    writer: (method, args) => writer.call(method, args),
    short: async (method, args) => {
      if (method !== 'directory' || directory === undefined) return reading.short(method, args)
      const first = directory
      directory = undefined
      return first
    },
    ingest: (post) => ingest.add(post),
    listen: async (filter, send) => {
      const stop = writer.listen(filter, send)
      // A call after `listen` on the same port: once it answers, listening has begun.
      await writer.call('nextDelivery', [])
      return stop
    },
    // Waited for only while a transaction is under way whose events are of before.
    closeInstant: async (instant) => {
      if (!state.close(instant)) await writer.call('closeInstant', [instant])
    },
    writerSilence: () => state.silence(clockIn(how.time).now()),
    close: async () => {
      whenLogIsLong(() => {})
      await reading.stop()
      // All it was given is with the writer once it answers.
      await preparer.started()?.call('handOver', [])
      await checkpointer.started()?.stop()
      // Copying the log may take seconds. It is held meanwhile: a process that exits before the copying ends keeps its log.
      await writer.call('foldLog', [])
      letGoOfLog()
      // The last to hold the file open, the writer removes the log.
      await writer.stop()
      await preparer.started()?.end()
    },
  }
}

/** A thread that is started when it is first needed. */
interface LateThread {
  /** Starts it, but the first time only: what it is sent waits until it runs. */
  start(): EngineThread
  /** Null: it was never needed. */
  started(): EngineThread | null
}

function lateThread(make: () => EngineThread, { onFatal }: ThreadEvents): LateThread {
  let thread: EngineThread | null = null
  return {
    start: () => {
      if (!thread) {
        thread = make()
        // All else that ends a thread tells so itself.
        thread.ready.catch((error) => {
          if (error instanceof StartError) onFatal(error)
        })
      }
      return thread
    },
    started: () => thread,
  }
}

/** Starts the writer. @returns it, how to start the late threads, and the options of the threads that read the file */
function startStore(
  options: Omit<StartOptions, 'repository' | 'repositoryHome'>,
  { entry, time: clock }: ThreadsOf,
  events: ThreadEvents,
) {
  const { dataFile, maxDbSize, models, tracing, slack, boot } = options
  const shared = {
    ...{ dataFile, maxDbSize, models, tracing, slack, boot, clock },
    figures: figuresMemory(),
    env: { ...options.env },
  }
  const state = new WriterState()
  const { port1, port2 } = new MessageChannel()
  const log = new MessageChannel()
  const { retention, webhookAllowPrivate, acceptLoss } = options
  const writer = new EngineThread(
    entry,
    {
      ...{ role: 'writer', port: port1, log: log.port1, ...shared, state: state.memory },
      ...{ retention, webhookAllowPrivate, acceptLoss },
    },
    events,
    [port1, log.port1],
    WRITER_HEAP,
  )
  const preparer = lateThread(
    () => new EngineThread(entry, { role: 'preparer', port: port2, clock }, events, [port2]),
    events,
  )
  const checkpointer = lateThread(() => {
    const own = { role: 'checkpointer', dataFile, log: log.port2 } as const
    return new EngineThread(entry, own, events, [log.port2], SMALL_HEAP)
  }, events)
  return { state, shared, writer, preparer, checkpointer }
}

/** Bodies from this size on are prepared beside the writer; smaller ones are not worth the way. */
const PREPARE_BYTES = 16 * 1024

/**
 * Hands the calls of one turn of the event loop on in one message: large bodies to the preparer, the
 * others to the writer. While a source has a body with the preparer, all of its bodies go there, so
 * that they stay in order.
 */
class IngestBatcher {
  private waiting: { call: IngestPost; id: number }[] = []
  /** Bodies not yet answered that went by the preparer, by ingest key. */
  private readonly preparing = new Map<string, number>()
  private readonly pool = new BufferPool()

  constructor(
    private readonly writer: EngineThread,
    private readonly preparer: () => EngineThread,
  ) {
    writer.onBuffer = (buffer) => this.pool.give(buffer)
  }

  add(call: IngestPost): Promise<IngestResult> {
    const { id, promise } = this.writer.expect<IngestResult>()
    this.waiting.push({ call, id })
    if (this.waiting.length === 1) setImmediate(() => this.flush())
    const { ingestKey } = call
    if (sizeOf(call.body) < PREPARE_BYTES && !this.preparing.has(ingestKey)) return promise
    this.preparing.set(ingestKey, (this.preparing.get(ingestKey) ?? 0) + 1)
    return promise.finally(() => {
      const left = this.preparing.get(ingestKey)! - 1
      if (left === 0) this.preparing.delete(ingestKey)
      else this.preparing.set(ingestKey, left)
    })
  }

  private flush(): void {
    const group = this.waiting
    this.waiting = []
    const straight = group.filter(({ call }) => !this.preparing.has(call.ingestKey))
    const large = group.filter(({ call }) => this.preparing.has(call.ingestKey))
    if (straight.length) this.sendTo(this.writer, straight)
    if (large.length) this.sendTo(this.preparer(), large)
  }

  private sendTo(thread: EngineThread, group: readonly { call: IngestPost; id: number }[]): void {
    const { calls, buffers } = packCalls(group, (size) => this.pool.take(size))
    thread.send({ t: 'ingest', calls, buffers }, buffers)
  }
}

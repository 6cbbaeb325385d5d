/**
 * The engine in threads behind the Engine interface: the doors stay responsive while the writer
 * waits for its fsync, and a wide read holds up neither.
 */
import { MessageChannel } from 'node:worker_threads'
import type { IngestResult } from '../../schemas/types.ts'
import { createAsk } from '../ask/ask.ts'
import type { AskPort } from '../ask/types.ts'
import type { BootCatalog, BootReport } from '../catalog/boot.ts'
import { systemClock, systemTimers } from '../clock.ts'
import { askingGithub, type CredentialPort } from '../credentials/calls.ts'
import { type DeliveryPort, type Dispatcher, startDispatcher } from '../deliveries/dispatcher.ts'
import { fetchFiringBy } from '../deliveries/fetching.ts'
import { createWaiting } from '../deliveries/waiting.ts'
import { environmentCalls } from '../docker/environment.ts'
import { createEgress } from '../egress/index.ts'
import type { Directory, IngestPost } from '../engine.ts'
import { fail } from '../errors.ts'
import { figuresMemory } from '../figures.ts'
import { sizeOf } from '../join.ts'
import { follow } from '../live.ts'
import { mcpToolTests } from '../mcp-tools/tests.ts'
import type { ModelPort } from '../models/calls.ts'
import type { ModelEnvironment } from '../models/environment.ts'
import { openModels } from '../models/open.ts'
import type { NetworkCalls, ServedEngine } from '../operations/network.ts'
import type { Poller } from '../polling/poller.ts'
import type { TrialPort } from '../polling/trials.ts'
import type { PollPort } from '../polling/types.ts'
import type { Planner } from '../setup/planning/planner.ts'
import type { PlanningPort } from '../setup/planning/port.ts'
import type { Retention } from '../store/maintenance.ts'
import { WriterState } from '../store/writer-state.ts'
import { Tallies } from '../tallies.ts'
import type { TracingPort } from '../tracing/calls.ts'
import type { TracingEnvironment } from '../tracing/environment.ts'
import { createTracing } from '../tracing/tracing.ts'
import { type AgentsAtWork, startAgents } from './agents.ts'
import { BufferPool } from './buffer-pool.ts'
import { packCalls } from './call-bytes.ts'
import { limitHeaps, SMALL_HEAP } from './heaps.ts'
import { performOver } from './performing.ts'
import { startPlanning } from './planning.ts'
import { startPolling } from './polling.ts'
import { startReading } from './reading.ts'
import { type SlackEnvironment, type SlackPostPort, startSlack } from './slack.ts'
import { EngineThread, type ThreadEvents } from './thread.ts'
import { callsOver, type PassedOn } from './who-answers.ts'

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
}

type Ports = ModelPort &
  CredentialPort &
  AskPort &
  TracingPort &
  PlanningPort &
  PollPort &
  TrialPort &
  SlackPostPort &
  Parameters<typeof startSlack>[0]['port']

/** What the log needs is not urgent: until then a start has the processors to itself. */
const CHECKPOINTER_AFTER_MS = 1_000

/**
 * Starts the threads, all at once: most of a start is loading code. The reader opens the file once the
 * writer has, for the writer takes the lock and migrates. @throws StartError
 */
export async function startEngine(options: StartOptions): Promise<ServedEngine> {
  limitHeaps()
  const entry = new URL(
    import.meta.url.endsWith('.ts') ? './worker.ts' : './engine-worker.mjs',
    import.meta.url,
  )
  let dispatcher: Dispatcher | null = null
  let agents: AgentsAtWork | null = null
  let poller: Poller | null = null
  let planner: Planner | null = null
  const tallies = new Tallies()
  const waiting = createWaiting(systemTimers, (error) =>
    options.onFault('deliveries', error.stack ?? error.message),
  )
  const events: ThreadEvents = {
    onFatal: options.onFatal,
    onFault: options.onFault,
    onPending: () => {
      dispatcher?.nudge()
      agents?.nudge()
      planner?.nudge()
      waiting.nudge()
    },
    onSourcesChanged: () => poller?.nudge(),
    onTallies: (changed) => tallies.put(changed),
  }
  const shared = {
    dataFile: options.dataFile,
    maxDbSize: options.maxDbSize,
    figures: figuresMemory(),
    env: { ...options.env },
    models: options.models,
    tracing: options.tracing,
    slack: options.slack,
    boot: options.boot,
  }
  const state = new WriterState()
  const { port1, port2 } = new MessageChannel()
  const log = new MessageChannel()
  const writer = new EngineThread(
    entry,
    {
      role: 'writer',
      port: port1,
      log: log.port1,
      ...shared,
      state: state.memory,
      retention: options.retention,
      webhookAllowPrivate: options.webhookAllowPrivate,
      acceptLoss: options.acceptLoss,
    },
    events,
    [port1, log.port1],
  )
  const reading = startReading({ entry, options: shared, events, timers: systemTimers })
  const reader = reading.thread
  const preparer = new EngineThread(entry, { role: 'preparer', port: port2 }, events, [port2])
  let checkpointer: EngineThread | null = null
  // Of the start: the writer has it at hand, and a reader would load what is declared for it.
  let directory: Directory | null = null
  try {
    await writer.ready
    reader.send({ t: 'open' })
    options.onBooted(await writer.call<BootReport>('bootReport', []))
    directory = await writer.call<Directory>('directory', [])
    await Promise.all([reader.ready, preparer.ready])
  } catch (error) {
    await Promise.all([writer, reader, preparer].map((thread) => thread.end()))
    throw error
  }
  const notCheckpointing = systemTimers.after(CHECKPOINTER_AFTER_MS, () => {
    const thread = new EngineThread(
      entry,
      { role: 'checkpointer', dataFile: options.dataFile, log: log.port2 },
      events,
      [log.port2],
      SMALL_HEAP,
    )
    thread.ready.catch(options.onFatal)
    thread.send({ t: 'open' })
    checkpointer = thread
  })
  const ingest = new IngestBatcher(writer, preparer)
  const answering = { ...reading, writer: (method: string, args: unknown[]) => writer.call(method, args) }
  const answered = callsOver(answering)
  const calls = answered.calls as unknown as Pick<NetworkCalls, PassedOn>
  // Credentials pass between the threads, and are no calls of the engine.
  const ports = answered.ports as unknown as Ports
  const network = openModels({ ...calls, ...ports }, systemClock)
  const closed = async (asOf: string | undefined): Promise<void> => {
    if (asOf === undefined) return
    const instant = Date.parse(asOf)
    if (instant > systemClock.now()) fail('invalid', 'as_of must not be in the future', { field: 'as_of' })
    // Waited for only while a transaction is under way whose events are of before.
    if (!state.close(instant)) await writer.call('closeInstant', [instant])
  }
  const engine: ServedEngine = {
    ...calls,
    ...network.calls,
    perform: performOver(answering, () => engine),
    status: async () => ({ ...(await calls.status()), tallies: tallies.list() }),
    read: async (request, asked) => {
      if (request.cursor === undefined) await closed(request.as_of)
      return reading.read(request, asked)
    },
    inspect: async (request, asked) => {
      await closed(request.as_of)
      return calls.inspect(request, asked)
    },
    directory: async () => {
      const first = directory
      directory = null
      return first ?? calls.directory()
    },
    writerSilence: () => state.silence(systemClock.now()),
    cancelRun: async (run, by) => {
      const ended = await calls.cancelRun(run, by)
      agents?.cut(run)
      return ended
    },
    ingest: (call) => ingest.add(call),
    tail: (filter, listener) =>
      follow(
        async (send) => {
          const stop = writer.listen(filter, send)
          // A call after `listen` on the same port: once it answers, listening has begun.
          await writer.call('nextDelivery', [])
          return stop
        },
        () => reader.call('backlog', [filter]),
        filter.afterId,
        listener,
      ),
    close: async () => {
      waiting.stop()
      await Promise.all([dispatcher?.stop(), agents?.stop(), poller?.stop(), planner?.stop(), ask.stop()])
      // Runs and turns that have just ended are read for it yet.
      await tracing.stop()
      egress.close()
      network.close()
      await reading.stop()
      // All it was given is with the writer once it answers.
      await preparer.call('handOver', [])
      // The last to hold the file open, the writer empties the log.
      notCheckpointing()
      await checkpointer?.stop()
      await writer.stop()
      await preparer.end()
    },
  } as ServedEngine
  const egress = createEgress({ allowPrivate: options.webhookAllowPrivate, timers: systemTimers })
  const time = { clock: systemClock, timers: systemTimers }
  Object.assign(engine, mcpToolTests({ calls: engine, egress, ...time }))
  Object.assign(engine, environmentCalls({ env: options.env, sources: () => engine.listSources(), ...time }))
  Object.assign(engine, { fetchFiring: fetchFiringBy(engine, waiting) })
  const slack = startSlack({
    port: ports,
    egress,
    ...time,
    publicUrl: options.slack.publicUrl,
    onError: (error) => options.onFault('slack', error.stack ?? error.message),
  })
  dispatcher = startDispatcher({
    slack: slack.delivery,
    port: deliveryPort(engine),
    egress,
    ...time,
    random: Math.random,
    onError: (error) => options.onFault('deliveries', error.stack ?? error.message),
  })
  const tracing = createTracing({
    port: { ...engine, ...ports },
    egress,
    ...time,
    onError: (error) => options.onFault('tracing', error.stack ?? error.message),
  })
  Object.assign(engine, tracing.calls)
  agents = startAgents({
    slack: { port: ports, api: slack.api },
    engine,
    models: network.models,
    egress,
    ...time,
    onError: (error) => options.onFault('agents', error.stack ?? error.message),
    finished: tracing.finished,
  })
  const ask = createAsk({
    port: ports,
    reads: engine,
    models: network.models,
    ...time,
    onError: (error) => options.onFault('ask', error.stack ?? error.message),
    finished: tracing.asked,
  })
  Object.assign(engine, ask.calls)
  Object.assign(engine, slack.calls(ask.calls))
  const polling = startPolling({
    port: ports,
    egress,
    env: options.env,
    ...time,
    onError: (error) => options.onFault('polls', error.stack ?? error.message),
  })
  poller = polling.poller
  Object.assign(engine, polling.calls)
  Object.assign(engine, askingGithub({ port: ports, egress, ...time }))
  planner = startPlanning({
    engine,
    port: ports,
    models: network.models,
    ...time,
    onError: (error) => options.onFault('setup', error.stack ?? error.message),
  })
  dispatcher.nudge()
  agents.nudge()
  poller.nudge()
  planner.nudge()
  return engine
}

/** What the dispatcher needs of the engine. */
function deliveryPort(engine: NetworkCalls): DeliveryPort {
  return {
    claim: (limit, busy) => engine.claimDeliveries(limit, busy),
    message: async (id) => JSON.stringify(await engine.deliveryMessage(id)),
    settle: (id, result) => engine.settleDelivery(id, result),
    nextDue: () => engine.nextDelivery(),
  }
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
    private readonly preparer: EngineThread,
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
    if (large.length) this.sendTo(this.preparer, large)
  }

  private sendTo(thread: EngineThread, group: readonly { call: IngestPost; id: number }[]): void {
    const { calls, buffers } = packCalls(group, (size) => this.pool.take(size))
    thread.send({ t: 'ingest', calls, buffers }, buffers)
  }
}

/**
 * The writer's thread: it holds the one writing connection. One turn: take every message that arrived
 * while the last commit ran (group commit needs no timer that way), commit the ingest calls in
 * groups, answer, then one step of maintenance, and again while either has work.
 */
import { type MessagePort, parentPort, receiveMessageOnPort } from 'node:worker_threads'
import { type Clock, clockIn, systemTimers } from '../clock.ts'
import { SvcError } from '../errors.ts'
import type { PackedEvents } from '../log/ingest/packed.ts'
import type { PreparedCall } from '../log/pipeline.ts'
import { isSqliteError, survivableDiskFault } from '../log/store/handle.ts'
import { WriterState } from '../log/store/writer-state.ts'
import { type EngineOptions, JOINED, type JoinedCall, type Writer as WriterRole } from '../roles/calls.ts'
import { openWriter } from '../roles/writer.ts'
import {
  BufferPool,
  callsOf,
  type FromThread,
  faultOf,
  type PreparedMessage,
  type Settled,
  type StoreOptions,
  type ToPreparer,
  type ToThread,
} from './protocol.ts'
import { answer } from './reader.ts'

/** Bytes committed together at most: about 8,000 events, 40 ms. */
const GROUP_BYTES = 4 * 1024 * 1024
/** How often retention and expiry look for work when nothing else happens. */
const MAINTAIN_EVERY_MS = 1_000

/** The wall clock is looked at at least this often: it may have been set. */
const ALARM_MAX_MS = 30_000
/** After a fault, such as a disk that is full. */
const ALARM_AGAIN_MS = 5_000

type CallMessage = Extract<ToThread, { t: 'call' }>

const isJoined = (method: string): boolean => (JOINED as readonly string[]).includes(method)

interface Entry {
  id: number
  call: PreparedCall
  viaPreparer: boolean
}

export class Writer {
  private readonly main = parentPort!
  private readonly engine: WriterRole
  /** Its functions as messages name them. */
  private readonly named: Record<string, unknown>
  private readonly clock: Clock
  private readonly state: WriterState
  private readonly tails = new Map<number, () => void>()
  /** What new labels of stored events became, for the preparer to learn. */
  private readonly labelIds = new WeakMap<PackedEvents, Uint32Array>()
  private maintaining = false
  /** After a fault, maintenance rests until then; epoch ms. */
  private maintainFrom = 0
  private closed = false
  private readonly timer: NodeJS.Timeout
  /** Calls off the timer of what triggers have due by the clock. */
  private alarm: (() => void) | null = null
  private alarmAt = Number.POSITIVE_INFINITY

  /** @param preparer the port to the preparer. @param log that to the checkpointer. @throws StartError */
  constructor(
    options: StoreOptions,
    private readonly preparer: MessagePort,
    log: MessagePort,
  ) {
    this.state = new WriterState(options.state)
    this.clock = clockIn(options.clock)
    this.engine = openWriter(this.optionsOf(options, log), noScenarios)
    this.named = { ...this.engine }
    this.timer = setInterval(() => this.maintain(), MAINTAIN_EVERY_MS)
    this.timer.unref()
  }

  private optionsOf(options: StoreOptions, log: MessagePort): EngineOptions {
    return {
      ...options,
      clock: this.clock,
      state: this.state,
      checkpointer: {
        ask: () => {
          log.postMessage(null)
          this.send({ t: 'log' })
        },
        onDone: (listener) =>
          log.on('message', () => {
            if (!this.closed) listener()
          }),
      },
      onFatal: (error) => this.send({ t: 'fatal', message: error.message }),
      onFault: (error, id) => this.send({ t: 'fault', id, stack: error.stack ?? error.message }),
      onStorage: (turn) => this.send({ t: 'storage', turn }),
      onPending: () => this.send({ t: 'pending' }),
      onSourcesChanged: () => this.send({ t: 'sources' }),
      onStored: (batches) => {
        for (const { events, newLabelIds } of batches)
          if (newLabelIds.length > 0) this.labelIds.set(events, newLabelIds)
      },
    }
  }

  /** Takes messages until the thread is ended. */
  run(): void {
    this.main.on('message', (message: ToThread) => this.turn([message], []))
    this.preparer.on('message', (message: PreparedMessage) => this.turn([], [message]))
    this.setAlarm()
  }

  private turn(direct: ToThread[], prepared: PreparedMessage[]): void {
    this.state.begin(this.clock.now())
    this.take(direct, prepared)
    this.state.end()
    this.tell()
    this.maintain()
    this.setAlarm()
  }

  private take(direct: ToThread[], prepared: PreparedMessage[]): void {
    // The preparer's port first: of one source, what came straight was sent before what was prepared.
    prepared.push(...waitingOn<PreparedMessage>(this.preparer))
    direct.push(...waitingOn<ToThread>(this.main))
    const entries: Entry[] = []
    const joined: CallMessage[] = []
    for (const message of direct) {
      if (message.t === 'ingest')
        for (const entry of callsOf(message.calls, message.buffers))
          entries.push({ ...entry, viaPreparer: false })
      else if (message.t === 'call' && isJoined(message.method)) joined.push(message)
      else if (message.t === 'call') {
        // A call keeps its place: what was sent before it is committed before it runs.
        if (message.method === 'close') entries.push(...prepared.splice(0).map((one) => this.entryOf(one)))
        this.commitAll(entries.splice(0), joined.splice(0))
        this.call(message)
      } else this.follow(message)
    }
    entries.push(...prepared.map((one) => this.entryOf(one)))
    this.commitAll(entries, joined)
  }

  /** What a call counted is told before its answer, which is given once this turn is over. */
  private tell(): void {
    const tallies = this.engine.newTallies()
    if (tallies.length > 0) this.send({ t: 'tallies', tallies })
  }

  /** Keeps one timer for what is due next; what is due already is done once the messages are. */
  private setAlarm(): void {
    const due = this.closed ? null : this.engine.nextDue()
    if (due !== null && due >= this.alarmAt) return
    this.alarm?.()
    this.alarm = null
    this.alarmAt = Number.POSITIVE_INFINITY
    if (due === null) return
    this.alarmAt = due
    const wait = Math.min(ALARM_MAX_MS, Math.max(0, due - this.clock.now()))
    this.alarm = systemTimers.after(wait, () => this.ring())
  }

  private ring(): void {
    this.alarm = null
    this.alarmAt = Number.POSITIVE_INFINITY
    if (this.closed) return
    this.state.begin(this.clock.now())
    try {
      this.engine.tick()
      this.tell()
    } catch (error) {
      faultOf(error as Error, (message) => this.send(message))
      this.alarm = systemTimers.after(ALARM_AGAIN_MS, () => this.ring())
      return
    } finally {
      this.state.end()
    }
    this.setAlarm()
  }

  private call(message: CallMessage): void {
    if (message.method === 'close') {
      this.closed = true
      clearInterval(this.timer)
      this.alarm?.()
    }
    void answer(this.named, message, this.main).then(() => {
      // What waited within, such as for the address of a recipient, was committed after the turn.
      this.tell()
      this.setAlarm()
    })
  }

  private follow(message: Extract<ToThread, { t: 'listen' | 'unlisten' }>): void {
    const { id } = message
    if (message.t === 'listen')
      this.tails.set(
        id,
        this.engine.listen(message.filter, (row) => this.send({ t: 'tail', id, message: row })),
      )
    else {
      this.tails.get(id)?.()
      this.tails.delete(id)
    }
  }

  private entryOf({ id, call, prepared }: PreparedMessage): Entry {
    if (!prepared) return { id, call, viaPreparer: true }
    const { revision } = prepared
    if ('error' in prepared)
      return {
        id,
        call: { ...call, prepared: { revision, result: SvcError.from(prepared.error) } },
        viaPreparer: true,
      }
    return { id, call: { ...call, prepared: { revision, result: prepared.body } }, viaPreparer: true }
  }

  /** @param joined with the first group. */
  private commitAll(entries: readonly Entry[], joined: readonly CallMessage[]): void {
    let group: Entry[] = []
    let bytes = 0
    let waiting = joined
    for (const entry of entries) {
      group.push(entry)
      bytes += entry.call.body.length
      if (bytes < GROUP_BYTES) continue
      this.commit(group, waiting)
      group = []
      bytes = 0
      waiting = []
    }
    if (group.length || waiting.length) this.commit(group, waiting)
  }

  private commit(group: readonly Entry[], joined: readonly CallMessage[]): void {
    const steps: Settled[] = []
    const answers = this.engine.ingestMany(
      group.map((entry) => entry.call),
      joined.map(({ id, method, args }) => ({
        ...{ method: method as JoinedCall['method'], args },
        settle: (outcome) => steps.push(this.settledOf(id, outcome)),
      })),
    )
    const results = group.map(({ id }, i): Settled => {
      const result = answers[i]!
      return result instanceof SvcError ? { id, error: result.toWire() } : { id, value: result }
    })
    // Bodies that came straight may share a buffer, with calls that are yet to be stored.
    const prepared = group.filter((entry) => entry.viaPreparer)
    for (const entry of prepared) this.doneWith(entry)
    const buffers = prepared.map(({ call }) => call.body.buffer).filter(BufferPool.isKept)
    this.tell()
    results.push(...steps)
    this.main.postMessage({ t: 'settled', results, buffers } satisfies FromThread, buffers)
  }

  private settledOf(id: number, outcome: Parameters<JoinedCall['settle']>[0]): Settled {
    if ('value' in outcome) return { id, value: outcome.value }
    const { error } = outcome
    const told = error instanceof SvcError ? error : faultOf(error, (message) => this.send(message))
    return { id, error: told.toWire() }
  }

  private doneWith({ id, call }: Entry): void {
    this.teachSource(call)
    const result = call.prepared?.result
    const events = result && 'events' in result ? result.events : null
    const labelIds = (events && this.labelIds.get(events)) ?? null
    const columns = events && BufferPool.isKept(events.ts.buffer) ? events.ts.buffer : null
    this.teach({ t: 'done', id, labelIds, buffer: columns }, columns ? [columns] : [])
  }

  /** Tells the preparer of a source that it does not know as it is now. */
  private teachSource({ ingestKey, prepared }: PreparedCall): void {
    const source = this.engine.sourceSpec(ingestKey)
    if (source && source.revision !== prepared?.revision) this.teach({ t: 'source', ingestKey, source })
  }

  private teach(message: ToPreparer, transfer: ArrayBuffer[] = []): void {
    this.preparer.postMessage(message, transfer)
  }

  private send(message: FromThread): void {
    this.main.postMessage(message)
  }

  private maintain(): void {
    if (this.maintaining) return
    this.maintaining = true
    setImmediate(() => {
      this.maintaining = false
      if (this.closed || this.clock.now() < this.maintainFrom) return
      this.state.begin(this.clock.now())
      try {
        if (this.engine.maintain()) this.maintain()
      } catch (error) {
        this.maintenanceFailed(error as Error)
      } finally {
        this.state.end()
      }
    })
  }

  /** Ingest goes on without maintenance, which is tried again; only a disk that fails ends the process. */
  private maintenanceFailed(error: Error): void {
    this.maintainFrom = this.clock.now() + ALARM_AGAIN_MS
    if (isSqliteError(error) && !survivableDiskFault(error)) this.send({ t: 'fatal', message: error.message })
    else faultOf(error, (message) => this.send(message))
  }
}

/** They are made of runs by a reader, which checks them. */
const noScenarios = async (): Promise<never> => {
  throw new Error('a scenario was asked of the writer')
}

function* waitingOn<T>(port: MessagePort): Iterable<T> {
  for (let next = receiveMessageOnPort(port); next; next = receiveMessageOnPort(port)) yield next.message as T
}

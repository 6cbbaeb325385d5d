/**
 * Reads that may look at very many events, on a thread of their own beside the reader's, so that a short read
 * never waits for one. Each credential has a share of it, each read a time; one that takes longer, or is still at
 * work a moment after its asker has gone, is ended with the thread, which is begun anew for the others: nothing else
 * stops what is in the middle of a scan.
 */
import type { Asked } from '../calls.ts'
import type { Timers } from '../clock.ts'
import { SvcError } from '../errors.ts'
import type { Answering } from '../roles/who-answers.ts'
import {
  EngineThread,
  keepRoomFor,
  type SharedOptions,
  THREAD_HEAP,
  type ThreadEvents,
  WIDE_HEAP,
} from './protocol.ts'

/** How long a wide read may take from when its thread begins it, where the thread has a processor for most of it. */
export const WIDE_MS = 15_000
/**
 * How long it may take where others have the processors: its thread gives way to them, and of two that four busy programs
 * share it has a twentieth (2026-11-26: a search of 100,000 events was refused).
 */
export const BUSY_MS = 60_000
/** A read whose thread was at work for less of its time than this was kept from it by others. */
const MOST = 0.8
/** A thread that does not say within this time how much it has worked is in the middle of something long. */
const SAYING_MS = 1_000
/**
 * How long a read waits for its thread to start: a second, and on a machine whose processors others have, many. That is
 * no part of the time of a read, which would otherwise be refused before it was begun (2026-11-26: an empty Explore).
 */
export const START_MS = 60_000
/** How often a read has its whole time again, having lost its thread to one beside it. */
const ANEW_MAX = 2
/** The same of what looks at all that is declared: some seconds with 2,000 objects on a busy machine. */
const DECLARED_MS = 60_000
/**
 * How long a read may still take once its asker has gone. A console that asks anew with each key leaves many behind, and
 * most end sooner than a thread begins, which takes a second and the others with it.
 */
export const LEFT_MS = 500
/** At work at once; those that can give way take turns. */
const RUNNING_MAX = 4
/** Of these, of one credential. */
const SHARE = 2
/** Waiting, of one credential and of all. */
const WAITING_OF_ONE = 32
const WAITING_MAX = 256
/** Who asks where nobody is named: what the daemon itself reads. */
const OWN = 'svc'

/** How a read of events is made smaller. */
const NARROW = 'narrow its window, its sources or what it looks for'

interface Job {
  method: string
  args: unknown[]
  by: string
  /** How it is made smaller. */
  advice: string
  told: Asked['told']
  resolve(value: never): void
  reject(error: Error): void
  /** Whether its thread has it; until then nothing has to be stopped for it. */
  begun: boolean
  /** How often its time began. */
  times: number
  /** Calls off the end of its time; while it runs. */
  inTime: (() => void) | null
  /** Stops looking whether its asker is there. */
  settle(): void
}

/** In milliseconds. What is made smaller otherwise than a read of events is of what is declared. */
const timeOf = ({ advice }: Job): number => (advice === NARROW ? WIDE_MS : DECLARED_MS)

interface Thread extends Pick<EngineThread, 'call' | 'end'> {
  /** Processor time that it has had, in milliseconds; absent, or null: not known. */
  worked?(): Promise<number | null>
  /** Settles when it has started; null: it has. */
  ready: Promise<void> | null
}

export class WideReads {
  private thread: Thread | null = null
  private readonly ending = new Set<Promise<void>>()
  private waiting: Job[] = []
  private readonly running = new Set<Job>()
  /** When a credential's turn was last, by count. */
  private readonly served = new Map<string, number>()
  private turns = 0
  private stopped = false

  /** @param open begins the thread; its calls are answered once it can. @param onRead told of each, with when it is over */
  constructor(
    private readonly open: () => Thread,
    private readonly timers: Timers,
    private readonly onRead: (read: Promise<unknown>) => void = () => {},
  ) {}

  /**
   * @param advice how one that takes too long is made smaller.
   * @throws SvcError too_many; too_slow; unavailable: its asker has gone, or the daemon stops
   */
  run<T>(method: string, args: unknown[], asked: Asked = { by: OWN }, advice = NARROW): Promise<T> {
    const { by, gone } = asked
    if (this.stopped || gone?.aborted) return Promise.reject(over())
    const own = this.waiting.filter((job) => job.by === by).length
    if (own >= WAITING_OF_ONE || this.waiting.length >= WAITING_MAX)
      return Promise.reject(
        new SvcError('too_many', 'too many wide reads wait already; ask again in a moment', {
          retryAfter: 2,
        }),
      )
    const read = new Promise<T>((resolve, reject) => {
      const leave = () => this.cancel(job)
      const job: Job = {
        ...{ method, args, by, advice, told: asked.told, resolve, reject },
        ...{ begun: false, times: 0, inTime: null },
        settle: () => gone?.removeEventListener('abort', leave),
      }
      gone?.addEventListener('abort', leave)
      this.waiting.push(job)
      this.next()
    })
    this.onRead(read)
    return read
  }

  /** Ends what is under way, without waiting for it. */
  async stop(): Promise<void> {
    this.stopped = true
    for (const job of [...this.waiting, ...this.running]) this.finish(job, () => job.reject(over()))
    this.restart()
    await Promise.all(this.ending)
  }

  /** The thread has failed: what it was at is not asked again, for it may be why. */
  lost(): void {
    this.thread = null
    for (const job of [...this.running])
      this.finish(job, () => job.reject(new SvcError('internal', 'the read failed; narrow it, or ask again')))
    this.next()
  }

  private next(): void {
    while (!this.stopped && this.running.size < RUNNING_MAX) {
      const job = this.choose()
      if (!job) return
      this.waiting = this.waiting.filter((one) => one !== job)
      this.served.set(job.by, ++this.turns)
      this.running.add(job)
      this.send(job)
    }
  }

  /** Of those with a share left: who has least at work, then whose turn is longest ago. */
  private choose(): Job | undefined {
    const atWork = (by: string) => [...this.running].filter((job) => job.by === by).length
    const turn = (by: string) => this.served.get(by) ?? 0
    return this.waiting
      .filter((job) => atWork(job.by) < SHARE)
      .sort((a, b) => atWork(a.by) - atWork(b.by) || turn(a.by) - turn(b.by))[0]
  }

  private send(job: Job): void {
    this.thread ??= this.open()
    const thread = this.thread
    job.begun = false
    if (!thread.ready) {
      this.begin(job, thread)
      return
    }
    this.limit(job, START_MS, 'no thread for the read has started within')
    thread.ready.then(
      () => {
        if (this.thread !== thread) return
        thread.ready = null
        if (this.running.has(job)) this.begin(job, thread)
      },
      (error: Error) => {
        if (this.thread !== thread) return
        // The next read begins another.
        this.thread = null
        this.finish(job, () => job.reject(error))
      },
    )
  }

  private begin(job: Job, thread: Thread): void {
    job.begun = true
    if (job.times <= ANEW_MAX) this.limitWork(job, thread)
    job.times += 1
    // What a thread that was ended says of a read is no answer to it: the read was sent again.
    const settle = (answer: () => void) => {
      if (this.thread === thread) this.finish(job, answer)
    }
    thread.call(job.method, job.args, job.told).then(
      (value) => settle(() => job.resolve(value as never)),
      (error: Error) => settle(() => job.reject(error)),
    )
  }

  private limit(job: Job, ms: number, what: string): void {
    job.inTime?.()
    job.inTime = this.timers.after(ms, () => {
      job.inTime = null
      this.refuse(job, what, ms)
    })
  }

  private refuse(job: Job, what: string, ms: number): void {
    this.abandon(job, new SvcError('too_slow', `${what} ${Math.round(ms / 1_000)} s; ${job.advice}`))
  }

  /** Refuses a read that has had its time at work, or taken very long in all. */
  private limitWork(job: Job, thread: Thread): void {
    const allowed = timeOf(job)
    const before = thread.worked?.()
    const wait = (ms: number, passed: number) => {
      job.inTime?.()
      job.inTime = this.timers.after(ms, () => look(passed + ms))
    }
    const look = (passed: number) => {
      const refuse = () => this.refuse(job, 'the read took more than', passed)
      job.inTime = null
      if (!before || passed >= BUSY_MS) return refuse()
      // Its answer may come while it is asked.
      let isOff = false
      job.inTime = () => {
        isOff = true
      }
      void this.workSince(thread, before).then((worked) => {
        if (isOff) return
        if (worked === null || worked >= MOST * allowed) refuse()
        else wait(Math.min(BUSY_MS - passed, Math.max(SAYING_MS, allowed - worked)), passed)
      })
    }
    wait(allowed, 0)
  }

  /** @returns milliseconds; null: it does not say */
  private async workSince(thread: Thread, before: Promise<number | null>): Promise<number | null> {
    let callOff = () => {}
    const late = new Promise<null>((resolve) => {
      callOff = this.timers.after(SAYING_MS, () => resolve(null))
    })
    const [was, is] = (await Promise.race([Promise.all([before, thread.worked?.()]), late])) ?? []
    callOff()
    return was == null || is == null ? null : is - was
  }

  private finish(job: Job, answer: () => void): void {
    const wasWaiting = this.waiting.includes(job)
    if (!this.running.delete(job) && !wasWaiting) return
    if (wasWaiting) this.waiting = this.waiting.filter((one) => one !== job)
    job.inTime?.()
    job.settle()
    if (![...this.waiting, ...this.running].some(({ by }) => by === job.by)) this.served.delete(job.by)
    answer()
    this.next()
  }

  private cancel(job: Job): void {
    // One that only waits for its thread leaves the thread to the others, and to whoever asks next.
    if (!job.begun) {
      this.finish(job, () => job.reject(over()))
      return
    }
    // It keeps its share until it has ended: who leaves reads behind gets no more of them at once.
    job.settle()
    job.reject(over())
    job.inTime?.()
    job.inTime = this.timers.after(LEFT_MS, () => {
      job.inTime = null
      this.abandon(job, over())
    })
  }

  /** Ends the thread for one that is at work; the others are begun again, within the time they had. */
  private abandon(job: Job, error: SvcError): void {
    this.restart()
    const others = [...this.running].filter((one) => one !== job)
    for (const other of others) this.send(other)
    this.finish(job, () => job.reject(error))
  }

  private restart(): void {
    const ended = this.thread?.end()
    this.thread = null
    if (!ended) return
    this.ending.add(ended)
    void ended.finally(() => this.ending.delete(ended))
  }
}

const over = () => new SvcError('unavailable', 'the read was ended before it was answered')

/* Reads on threads of their own: short ones on one, wide ones on another, so that neither holds up ingest. */

interface Reading extends Pick<Answering, 'short' | 'wide'> {
  /** Of short reads. */
  thread: EngineThread
  stop(): Promise<void>
}

/**
 * How far they give way to the threads of ingest, and wide reads to short ones: of a processor that both want, one that
 * is nicer by five gets a quarter. While there is an idle one none waits.
 */
const SHORT_NICENESS = 5
const WIDE_NICENESS = 10

/** Starts the thread of short reads; that of wide ones begins with the first of them. */
export function startReading(parts: {
  entry: URL
  options: SharedOptions
  events: ThreadEvents
  timers: Timers
}): Reading {
  const { entry, options, events, timers } = parts
  const open = (events: ThreadEvents, niceness: number, heap = THREAD_HEAP) =>
    new EngineThread(entry, { role: 'reader', niceness, ...options }, events, [], heap)
  const thread = open(events, SHORT_NICENESS)
  const wide: WideReads = new WideReads(
    () => {
      const onFatal = (error: Error) => {
        events.onFault('wide reads', error.stack ?? error.message)
        wide.lost()
      }
      const begun = open({ ...events, onFatal }, WIDE_NICENESS, WIDE_HEAP)
      begun.send({ t: 'open' })
      return {
        ready: begun.ready,
        call: (method, args, told) => begun.call(method, args, told),
        end: () => begun.end(),
        worked: () => begun.worked(),
      }
    },
    timers,
    keepRoomFor,
  )
  return {
    thread,
    short: (method, args) => thread.call(method, args),
    wide: (method, args, { asked, advice }) => wide.run(method, args, asked, advice),
    stop: async () => {
      await wide.stop()
      await thread.stop()
    },
  }
}

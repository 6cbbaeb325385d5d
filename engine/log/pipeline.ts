/**
 * The way in, top to bottom. `accept` takes the calls that arrived while the last commit ran and
 * stores them in one transaction: one fsync for all (group commit). What can be refused is refused
 * before the transaction; inside it only the disk can fail, and then it fails for the whole group
 * and nothing of it is stored. An answer is given after COMMIT, with synchronous=FULL.
 */
import type { IngestResult } from '../../schemas/types.ts'
import type { IngestCall } from '../calls.ts'
import type { Clock } from '../clock.ts'
import { fail, SvcError } from '../errors.ts'
import type { LiveSource, Sources } from '../sources/sources.ts'
import type { PipelineCounters, Told } from './figures.ts'
import { tooLongNotice } from './ingest/label.ts'
import { itemsOf } from './ingest/otlp.ts'
import type { KnownLabels } from './ingest/packed.ts'
import { type PreparedBody, practised, prepareBody } from './ingest/prepare.ts'
import { verifySignature } from './ingest/signature.ts'
import { untimedNotice } from './ingest/time.ts'
import { acceptedIn, Refusals } from './lifecycle.ts'
import {
  type AppendedBatch,
  type Appender,
  hash,
  type Idempotency,
  idempotencyKeyOf,
  sizeOfBatch,
} from './store/append.ts'
import { isSqliteError, survivableDiskFault } from './store/handle.ts'
import type { Capacity } from './store/maintenance.ts'
import type { OpenStore } from './store/open.ts'
import type { Stamp } from './store/writer-state.ts'

/** What is wrong with a body that its sender can mend. */
const UNREADABLE: ReadonlySet<string> = new Set(['invalid', 'unsupported_media', 'too_large'])
/** What is told of a source, too, since most senders look at no answer. */
const TOLD = ['skewed', 'untimed', 'tooLong', 'reader'] as const
/** Rejected items listed in an answer; the rest is only counted. */
const REJECTED_LISTED = 100
const listedOf = ({ listsAll }: Pick<IngestCall, 'listsAll'>): number =>
  listsAll ? Number.POSITIVE_INFINITY : REJECTED_LISTED

/** @throws SvcError wrong_state, about the source: runs that write to it are not ended by that */
function refusePaused(name: string): never {
  return fail('wrong_state', `source ${name} is paused; resume it to ingest`, {
    ...{ state: 'paused', accepts: acceptedIn('source', 'paused') },
    about: { kind: 'source', name },
  })
}

/** What the way in needs of triggers. */
interface TriggersAtWork {
  /** Judges stored events; inside the transaction that stores them. */
  judge(batch: AppendedBatch & { bypass: boolean }): void
  /** The last of a transaction that judged. */
  beforeCommit(): void
  /** The transaction was undone. */
  rollback(): void
}

interface PipelineParts {
  store: OpenStore
  clock: Clock
  stamp: Stamp
  sources: Pick<Sources, 'byIngestKey' | 'byId' | 'live'>
  appender: Appender
  idempotency: Idempotency
  capacity: Capacity
  /** Counts what is done. */
  counters: PipelineCounters
  labels: KnownLabels
  /** Judges what is stored, in the same transaction. */
  triggers: TriggersAtWork
  /** Called after COMMIT with what was stored, in order. */
  onCommitted(batches: AppendedBatch[]): void
  /** Called when the disk failed while writing: the process must stop and reopen. */
  onFatal(error: Error): void
  /** Logs a fault of ours and gives the error to answer with. */
  onFault(error: Error): SvcError
}

/** A call whose body another thread may have prepared. */
export interface PreparedCall extends IngestCall {
  prepared?: {
    /** Of the source as it was prepared for: what another one made is not used. */
    revision: number
    result: PreparedBody | SvcError
  }
}

/** A call of the service's own, which may write rows of its own with its event. */
export interface InnerCall extends PreparedCall {
  /** Events of practice: labelled as such, and no trigger judges them. No signature is asked for. */
  practice?: true
  /** Called in the same transaction, once, after the first event of the call is written. */
  alongside?(eventId: string): void
  /** Called in the same transaction before the first row, with rows of its own as one. @throws SvcError, which refuses the call */
  before?(): void
  /** What a poll brought: for this source, which has no ingest key. Even nothing is stored. */
  polled?: {
    source: LiveSource
    /** Called in the same transaction before the first row. @throws SvcError */
    begin(): void
    /** Called in the same transaction after the last row; what it throws undoes the transaction. */
    end(): void
  }
}

/** Rows of the service's own that are stored in the transaction of calls, so that they share its flush. */
export interface Beside {
  /** Called in it, before the first row of the calls; what it throws undoes the transaction. */
  write(): void
  /** The transaction was undone, and what was written with it. */
  undone(error: SvcError): void
}

/** A call that has passed every check that needs no disk. */
interface Ready extends PreparedBody {
  source: LiveSource
  call: InnerCall
  key: { storage: string; body: string } | null
}

export class Pipeline {
  private readonly counters: PipelineCounters
  private readonly refusals: Refusals

  constructor(private readonly parts: PipelineParts) {
    this.counters = parts.counters
    const { store, sources } = parts
    this.refusals = new Refusals(store, (id) => sources.byId(id)?.name, sources.live())
  }

  /**
   * Stores the calls in one transaction.
   * @param beside where none of the calls is stored, it is not asked. @returns an answer or an error for each, in order.
   */
  accept(calls: readonly InnerCall[], beside?: Beside): (IngestResult | SvcError)[] {
    // Before any of them is admitted: between that and the commit nothing is measured.
    const { capacity, clock } = this.parts
    const full = capacity.refusal(clock.now())
    const ready = calls.map((call) => this.attempt(() => this.prepare(call, full)))
    const due = ready.filter((r): r is Ready => !(r instanceof SvcError))
    const answers = due.length === 0 ? new Map<Ready, IngestResult>() : this.commit(due, beside)
    // Whoever was refused finds why in the next list of sources.
    this.noteRefusals(due.length < calls.length ? capacity.refusal(clock.now()) : full)
    return ready.map((r) => (r instanceof SvcError ? r : answers.get(r)!))
  }

  /**
   * Remembers which sources refuse everything from now on, and which take events again.
   * @param full why nothing is taken now; null: it is
   */
  noteRefusals(full: string | null): void {
    const { sources, clock, onFault } = this.parts
    try {
      this.refusals.write(clock.now(), ({ sourceId, why }) =>
        why === 'storage_full' ? full !== null : sources.byId(sourceId)?.signature?.secrets.length === 0,
      )
    } catch (error) {
      // A volume without any room takes not even this: it is written with the next that is refused.
      if (!survivableDiskFault(error)) onFault(error as Error)
    }
  }

  /** Everything that can be refused without the disk. @param full why nothing is taken now. @throws SvcError */
  private prepare(call: InnerCall, full: string | null): Ready {
    const now = this.parts.clock.now()
    const source =
      call.polled?.source ??
      this.parts.sources.byIngestKey(call.ingestKey) ??
      fail('not_found', 'unknown ingest key: no source has it')
    if (!call.practice) this.checkSignature(source, call, now)
    if (source.paused) {
      if (!call.polled) this.countRejected(source, 1)
      refusePaused(source.name)
    }
    // What the service concludes is small and asked for; producers wait.
    const refused = full ?? this.parts.capacity.refusalOf(call.body.length)
    if (refused && !source.connector.internal) {
      if (!call.polled) this.countRejected(source, 1)
      this.refusals.add({ sourceId: source.id, why: 'storage_full' })
      fail('storage_full', refused)
    }
    const { rejected: found, ...read } = this.readOf(call, source, now)
    const { events } = read
    const before = call.itemsBefore ?? 0
    const rejected = before ? found.map((one) => ({ ...one, index: before + one.index })) : found
    this.countRejected(source, rejected.length)
    if (events.n === 0 && rejected.length > 0 && !call.polled) {
      const reason = `no item could be stored; item ${rejected[0]!.index}: ${rejected[0]!.error}`
      source.counters.refused = addTo(source.counters.refused, { count: 1, sample: reason })
      fail('invalid', reason, { rejected: rejected.slice(0, listedOf(call)) })
    }
    // Its sender is told, and may pass it over: Firehose and OTLP take such an answer for all of it.
    if (rejected.length > 0 && !call.polled)
      source.counters.refused = addTo(source.counters.refused, {
        count: 1,
        sample: `item ${rejected[0]!.index}: ${rejected[0]!.error}`,
      })
    const key =
      call.idempotencyKey === undefined
        ? null
        : {
            storage: idempotencyKeyOf(call.caller, `ingest/${source.id}`, call.idempotencyKey),
            body: hash(call.body),
          }
    this.parts.capacity.admit(events.body.length)
    return { ...read, source, call, rejected, key }
  }

  /** A body that cannot be read is one that is rejected. @throws SvcError */
  private readOf(call: InnerCall, source: LiveSource, now: number): PreparedBody {
    try {
      return this.bodyOf(call, source, now)
    } catch (error) {
      if (error instanceof SvcError && UNREADABLE.has(error.code)) {
        this.countRejected(source, 1)
        source.counters.refused = addTo(source.counters.refused, { count: 1, sample: error.message })
      }
      throw error
    }
  }

  /** @throws SvcError */
  private bodyOf(call: InnerCall, source: LiveSource, now: number): PreparedBody {
    const { labels, onFault } = this.parts
    if (call.unreadable) fail(call.unreadable.code, call.unreadable.detail)
    const prepare = call.practice ? practised(source.prepare!) : source.prepare!
    if (call.prepared?.revision !== source.revision)
      return prepareBody({ id: source.id, prepare }, itemsOf(call), call, now, {
        known: labels,
        onFault,
      })
    if (call.prepared.result instanceof SvcError) throw call.prepared.result
    return call.prepared.result
  }

  /** The value, or the error to answer with: a fault in one call must not fail its neighbours. */
  private attempt<T>(run: () => T): T | SvcError {
    try {
      return run()
    } catch (error) {
      return error instanceof SvcError ? error : this.parts.onFault(error as Error)
    }
  }

  private checkSignature(source: LiveSource, call: IngestCall, now: number): void {
    if (!source.signature) return
    const { scheme, secrets, header } = source.signature
    const reason = verifySignature(
      scheme,
      { secrets, header },
      call.wireBody ?? call.body,
      call.headers ?? {},
      now,
      call.certificate,
    )
    if (reason === null) return
    this.countRejected(source, 1)
    if (secrets.length === 0) this.refusals.add({ sourceId: source.id, why: 'secret_missing' })
    fail('bad_signature', `signature check failed (${scheme}): ${reason}`)
  }

  private countRejected(source: LiveSource, n: number): void {
    source.counters.rejected += n
    this.counters.rejected += n
  }

  private commit(due: readonly Ready[], beside?: Beside): Map<Ready, IngestResult | SvcError> {
    const { store, appender, stamp, triggers } = this.parts
    const answers = new Map<Ready, IngestResult | SvcError>()
    try {
      store.tx(() => {
        beside?.write()
        const at = stamp.next()
        for (const ready of due)
          answers.set(
            ready,
            attemptRule(() => this.store(ready, at)),
          )
        triggers.beforeCommit()
        appender.beforeCommit()
      })
    } catch (error) {
      appender.rollback()
      triggers.rollback()
      const refused = this.diskError(error as Error)
      beside?.undone(refused)
      return new Map(due.map((ready) => [ready, refused]))
    }
    const committed = appender.commit()
    this.counters.commits++
    if (due.length > 1) this.counters.fsync_batches++
    const sources = new Map(due.map(({ source }) => [source.id, source]))
    for (const batch of committed) {
      const stored = sizeOfBatch(batch)
      this.counters.events += stored
      sources.get(batch.sourceId)!.counters.events += stored
    }
    this.parts.onCommitted(committed)
    return answers
  }

  /** Statements of one call. Throws SvcError only before its first row is written. */
  private store(ready: Ready, at: number): IngestResult {
    const { appender, idempotency, triggers } = this.parts
    const { source, key, rejected } = ready
    ready.call.polled?.begin()
    ready.call.before?.()
    const replayed = key && idempotency.replay<IngestResult>(key.storage, key.body)
    if (replayed) return replayed
    const batch = appender.append(source.id, ready.events, at, (item, id) =>
      idempotency.claimItem(source.id, item, id, at),
    )
    const ingested = sizeOfBatch(batch)
    if (ingested && !ready.call.practice) triggers.judge({ ...batch, bypass: ready.call.bypassCooldown })
    const duplicates = ready.events.n - ingested
    const listed = listedOf(ready.call)
    this.counters.duplicates += duplicates
    const result: IngestResult = {
      ingested,
      ...(duplicates ? { duplicates } : {}),
      ...(rejected.length ? { rejected: rejected.slice(0, listed) } : {}),
      ...(rejected.length > listed ? { rejected_in_all: rejected.length } : {}),
      ...(ready.skewed.count ? { skewed: ready.skewed.count } : {}),
      ...noticesOf(ready),
      ...(ingested ? { ids: [`evt_${batch.firstId}`, `evt_${batch.firstId + ingested - 1}`] } : {}),
    }
    for (const name of TOLD)
      if (ready[name].count) source.counters[name] = addTo(source.counters[name], ready[name])
    if (ingested) ready.call.alongside?.(`evt_${batch.firstId}`)
    if (key) idempotency.store(key.storage, key.body, result, at)
    ready.call.polled?.end()
    return result
  }

  /**
   * A full disk is survivable: nothing was stored and writing resumes when space is freed. After
   * any other I/O error the outcome is unknown, so the process stops and reopens the file.
   */
  private diskError(error: Error): SvcError {
    if (error instanceof SvcError) return error
    const survivable = survivableDiskFault(error)
    if (survivable) return survivable
    if (!isSqliteError(error)) return this.parts.onFault(error)
    this.parts.onFatal(error)
    return new SvcError(
      'unknown_outcome',
      'the disk failed while writing, so the outcome is unknown; retry with the same Idempotency-Key',
      { retryAfter: 5 },
    )
  }
}

/** What the sender is told of times that were not understood, and of labels left out; nothing where there are none. */
function noticesOf({ untimed, tooLong }: Ready): Pick<IngestResult, 'untimed' | 'notice'> {
  const notices = [
    ...(untimed.count ? [untimedNotice(untimed)] : []),
    ...(tooLong.count ? [tooLongNotice(tooLong)] : []),
  ]
  return {
    ...(untimed.count ? { untimed: untimed.count } : {}),
    ...(notices.length ? { notice: notices.join(' ') } : {}),
  }
}

/** The sum, with what was given last. */
const addTo = (before: Told | null, { count, sample }: Told): Told => ({
  count: (before?.count ?? 0) + count,
  sample,
})

/** The value, or the SvcError thrown; any other error fails the transaction. */
function attemptRule<T>(run: () => T): T | SvcError {
  try {
    return run()
  } catch (error) {
    if (error instanceof SvcError) return error
    throw error
  }
}

/* Single calls in process, gathered: those of one turn of the event loop are committed together. */

export class IngestQueue {
  private waiting: {
    call: IngestCall
    resolve: (result: IngestResult) => void
    reject: (error: Error) => void
  }[] = []

  constructor(private readonly accept: (calls: IngestCall[]) => (IngestResult | SvcError)[]) {}

  add(call: IngestCall): Promise<IngestResult> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ call, resolve, reject })
      if (this.waiting.length === 1) setImmediate(() => this.flush())
    })
  }

  flush(): void {
    const group = this.waiting
    this.waiting = []
    if (group.length === 0) return
    const answers = this.accept(group.map((entry) => entry.call))
    group.forEach((entry, i) => {
      const answer = answers[i]!
      if (answer instanceof SvcError) entry.reject(answer)
      else entry.resolve(answer)
    })
  }
}

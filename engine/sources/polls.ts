/**
 * Polls on the writing connection: which are due, and what came of them. Items, cursor and health are
 * one transaction, written only over what the poll began with, so that whatever else happened meanwhile
 * (an edit, a crash, a second poll) the cursor says exactly what is stored.
 */
import type { IngestResult } from '../../schemas/types.ts'
import type { Clock } from '../clock.ts'
import { fail, SvcError } from '../errors.ts'
import type { Tallies } from '../log/figures.ts'
import { oneLine } from '../log/ingest/label.ts'
import { type Prepare, type PreparedBody, type PrepareParts, prepareBody } from '../log/ingest/prepare.ts'
import { recordFault } from '../log/lifecycle.ts'
import { type Egress, fetchOver } from '../net/fetch.ts'
import { intervalOf, resolveReferences, withCredential } from './config-secrets.ts'
import { ANSWER_BYTES } from './connectors/connector.ts'
import { faultOfSecrets } from './health.ts'
import type { LiveSource } from './live.ts'
import type { Begun, DuePoll, PollMade, PollPort, PollsDue } from './poller.ts'
import type { PollBegun } from './queries.ts'
import type { SourceStore } from './source-kind.ts'

const SENTENCE_MAX = 500
/** Storage is full, so what is due waits. */
const LOOK_AGAIN_MS = 5_000

/** A run of items on its way in, with what is written in the same transaction. */
interface PolledCall {
  ingestKey: ''
  body: Uint8Array
  bypassCooldown: false
  caller: string
  prepared: { revision: number; result: ReturnType<typeof prepareItems>['result'] }
  polled: {
    source: LiveSource
    /** Before the first row. @throws SvcError conflict: it is no longer what was asked for */
    begin(): void
    /** After the last row. */
    end(): void
  }
}

interface PollsParts {
  sources: SourceStore
  clock: Clock
  tallies: Tallies
  /** The way in: one transaction. */
  accept(call: PolledCall): IngestResult | SvcError
  prepare: PrepareParts
  /** What sources of the demo are polled with beside their config. */
  demo(now: number): Record<string, unknown>
}

/** @returns the port the poller works through. */
export function openPolls(parts: PollsParts): PollPort {
  const polls = new Polls(parts)
  return {
    duePolls: async (limit, busy) => polls.due(limit, busy),
    settlePoll: async (made) => polls.settle(made),
  }
}

type Found = Extract<PollMade, { items: readonly string[] }>
type Failed = Extract<PollMade, { error: string }>

class Polls {
  constructor(private readonly parts: PollsParts) {}

  due(limit: number, busy: { sourceId: number; version: number }[]): PollsDue {
    const { sources, clock } = this.parts
    const { polls } = sources
    const stale = busy
      .filter(({ sourceId, version }) => polls.versionOf(sourceId) !== version)
      .map(({ sourceId }) => sourceId)
    const taken = busy.map(({ sourceId }) => sourceId)
    const now = clock.now()
    if (sources.storageReason() !== null) {
      const next = polls.next(taken)
      return { due: [], stale, next: next === null ? null : Math.max(next, now + LOOK_AGAIN_MS) }
    }
    const due: DuePoll[] = []
    for (const { source_id: sourceId, cursor, version } of polls.due(now, taken, limit)) {
      const claimed = this.open({ sourceId, cursor, version }, now)
      if (claimed) due.push(claimed)
    }
    return { due, stale, next: polls.next([...taken, ...due.map(({ sourceId }) => sourceId)]) }
  }

  /** @returns null for one that cannot be polled as it is; that is noted as a failed poll. */
  private open(begun: Begun, now: number): DuePoll | null {
    const { sources } = this.parts
    const source = sources.live.byId(begun.sourceId)
    // Its reload comes after the commit, in the same turn; until then it is not looked at.
    if (!source) return null
    const error = faultOfSecrets(source, sources.credentials)
    if (error !== null) {
      this.note({ ...begun, began: now, ended: now, error, retryAfterMs: 0, random: 0 })
      return null
    }
    const { kind } = source.connector
    const { config } = resolveReferences(kind, source.config, sources.env)
    const used = withCredential(kind, config, sources.credentials)
    // It was looked up a line above, in the same turn.
    if (typeof used === 'string') return null
    const live = kind === 'demo' ? { ...used, ...this.parts.demo(now) } : used
    return { ...begun, connector: kind, config: live }
  }

  settle(made: PollMade): void {
    if ('error' in made) this.note(made)
    else this.store(made)
  }

  private note(made: Failed): void {
    const { polls, store } = this.parts.sources
    const source = this.sourceOf(made)
    if (!source) return
    const { errors, intervalMs } = this.paceOf(source)
    const error = oneLine(made.error, SENTENCE_MAX)
    const nextAt = afterError(made.ended, intervalMs, errors + 1, made.retryAfterMs, made.random)
    const isNoted = store.tx(() => {
      const isFailed = polls.failed(begunOf(made), { nextAt, at: made.ended, error })
      // A single one that fails is made up for by the next.
      if (isFailed && errors > 0) recordFault(store.db, this.nameOf(source), 'polls_fail', true, made.ended)
      return isFailed
    })
    if (isNoted) this.count(source, 'error')
  }

  /** Several runs are several transactions, the cursor with the last: keys absorb what a crash repeats. */
  private store(made: Found): void {
    const { accept, clock, prepare } = this.parts
    const source = this.sourceOf(made)
    if (!source?.prepare) return
    const runs = runsOf(made.items)
    for (const [i, items] of runs.entries()) {
      const isLast = i === runs.length - 1
      const own = { id: source.id, prepare: source.prepare }
      const { body, result } = prepareItems(own, items, clock.now(), prepare)
      const answer = accept({
        ingestKey: '',
        body,
        bypassCooldown: false,
        caller: 'poll',
        prepared: { revision: source.revision, result },
        polled: {
          source,
          begin: () => this.requireAsBegun(made),
          end: () => {
            if (isLast) this.advance(made, source)
          },
        },
      })
      if (!(answer instanceof SvcError)) continue
      this.refused(answer, made)
      return
    }
    this.count(source, 'ok')
  }

  private count(source: LiveSource, outcome: 'ok' | 'error'): void {
    source.counters.polls++
    // By its id: what it counted stays with it under another name.
    this.parts.tallies.add('polls', { source_id: String(source.id), outcome })
  }

  private requireAsBegun(made: Begun): void {
    if (!this.parts.sources.polls.isAsBegun(begunOf(made)))
      fail('conflict', 'the source was changed while it was polled')
  }

  private advance(made: Found, source: LiveSource): void {
    const { intervalMs } = this.paceOf(source)
    const { newCursor, more, notice, began, ended } = made
    const isDone = this.parts.sources.polls.worked(begunOf(made), {
      newCursor,
      nextAt: more ? ended : afterPoll(began, ended, intervalMs),
      at: ended,
      notice: notice === null ? null : oneLine(notice, SENTENCE_MAX),
    })
    // No SvcError: rows are written already, and all of it must be undone.
    if (!isDone) throw new Error(`the cursor of source ${source.id} moved within a transaction`)
    const { store } = this.parts.sources
    recordFault(store.db, this.nameOf(source), 'polls_fail', false, ended)
  }

  private nameOf({ id }: LiveSource): string {
    return this.parts.sources.queries.byId(id)!.name
  }

  private refused(error: SvcError, made: Found): void {
    // Changed meanwhile, or full: nothing is noted, and the same is read again when it is its turn.
    if (error.code === 'conflict' || error.code === 'storage_full') return
    if (error.code === 'unavailable' || error.code === 'unknown_outcome') throw error
    this.note({ ...made, error: error.message, retryAfterMs: null, random: 0 })
  }

  /** The source, while it is what the poll was made for. */
  private sourceOf(made: Begun): LiveSource | undefined {
    const { polls, live } = this.parts.sources
    return polls.isAsBegun(begunOf(made)) ? live.byId(made.sourceId) : undefined
  }

  private paceOf(source: LiveSource): { errors: number; intervalMs: number } {
    const { polls, queries } = this.parts.sources
    return {
      errors: polls.find(source.id)?.consecutive_errors ?? 0,
      intervalMs: intervalOf(source.connector, queries.byId(source.id)!.poll),
    }
  }
}

const begunOf = ({ sourceId, version, cursor }: Begun): PollBegun => ({ id: sourceId, version, cursor })

/* What a poll brought as bodies that the way in takes. */

/** A transaction of this size holds the others up for some 40 ms. */
const BODY_BYTES = 4 * 1024 * 1024
const BODY_ITEMS = 5_000

/** Cuts items into runs that are stored together; at least one, which may be empty. */
function runsOf(items: readonly string[]): string[][] {
  const runs: string[][] = [[]]
  let bytes = 0
  for (const item of items) {
    const run = runs.at(-1)!
    // UTF-16 units are near enough: the bound is a matter of pace.
    if (run.length > 0 && (run.length >= BODY_ITEMS || bytes + item.length > BODY_BYTES)) {
      runs.push([item])
      bytes = item.length
    } else {
      run.push(item)
      bytes += item.length
    }
  }
  return runs
}

/**
 * Items mapped and labelled as pushed ones are. One that is no JSON costs itself alone.
 * @param nowMs epoch ms.
 */
function prepareItems(
  source: { id: number; prepare: Prepare },
  items: readonly string[],
  nowMs: number,
  parts: PrepareParts,
): { body: Uint8Array; result: PreparedBody } {
  const body = listOf(items)
  const prepare = (list: Uint8Array) => prepareBody(source, list, {}, nowMs, parts)
  const read = attempt(() => prepare(body))
  // A list with one broken item is one broken document: refused whole, or as one item that is too long.
  const isDoubtful = read instanceof SvcError || (read.events.n === 0 && read.rejected.length > 0)
  const whole = isDoubtful ? items.filter(isJson) : items
  if (whole.length === items.length) {
    if (read instanceof SvcError) throw read
    return { body, result: read }
  }
  const rest = listOf(whole)
  const result = prepare(rest)
  const broken = items.flatMap((item, index) => (isJson(item) ? [] : [{ index, error: 'is not valid JSON' }]))
  return { body: rest, result: { ...result, rejected: [...result.rejected, ...broken] } }
}

function attempt<T>(run: () => T): T | SvcError {
  try {
    return run()
  } catch (error) {
    if (error instanceof SvcError) return error
    throw error
  }
}

/** In JSON a line break is space, so it may be one; a list of one line is never taken for lines. */
const listOf = (items: readonly string[]): Buffer =>
  Buffer.from(`[${items.map((item) => (item.includes('\n') ? item.replaceAll('\n', ' ') : item)).join(',')}]`)

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/* When a source is polled next (SPEC.md, Limits: backoff up to one hour, honouring Retry-After). */

const LONGEST_BACKOFF_MS = 3_600_000

/**
 * After a poll that worked. Polls keep their pace from start to start; one that took long is followed by
 * a pause all the same. What was missed meanwhile is not made up for.
 * @param began epoch ms. @param ended epoch ms.
 */
export function afterPoll(began: number, ended: number, intervalMs: number): number {
  return Math.max(began + intervalMs, ended + intervalMs / 2)
}

/**
 * After one that failed: twice as long with each error in a row, up to an hour, spread so that sources
 * of one upstream do not return together; never sooner than the interval.
 * @param errors in a row, this one included. @param retryAfterMs what the upstream asked for; it wins.
 * @param random from 0 to below 1.
 */
export function afterError(
  ended: number,
  intervalMs: number,
  errors: number,
  retryAfterMs: number | null,
  random: number,
): number {
  if (retryAfterMs !== null) return ended + Math.max(intervalMs, Math.min(retryAfterMs, LONGEST_BACKOFF_MS))
  const wait = Math.min(intervalMs * 2 ** Math.min(errors, 30), LONGEST_BACKOFF_MS)
  return ended + Math.max(intervalMs, Math.round(wait / 2 + (wait / 2) * random))
}

/* The way out to upstreams, of polls, tests and discoveries. */

/** Longer than anything may take: a poll, a test and a discovery have their own ends. */
const REQUEST_MS = 60_000

/** An operator named the upstreams, so they may be inside the network. */
export const upstreamFetch = (egress: Egress): typeof fetch =>
  fetchOver(egress, { audience: 'operator', timeoutMs: REQUEST_MS, maxResponseBytes: ANSWER_BYTES })

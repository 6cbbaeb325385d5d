/**
 * Polls on the writing connection: which are due, and what came of them. Items, cursor and health are
 * one transaction, written only over what the poll began with, so that whatever else happened meanwhile
 * (an edit, a crash, a second poll) the cursor says exactly what is stored.
 */

import type { IngestResult } from '../../schemas/types.ts'
import type { Clock } from '../clock.ts'
import { fail, SvcError } from '../errors.ts'
import type { PrepareParts } from '../ingest/prepare-body.ts'
import { oneLine } from '../ingest/template.ts'
import { resolveReferences } from '../sources/config-secrets.ts'
import { withCredential } from '../sources/credential.ts'
import { faultOfSecrets } from '../sources/health.ts'
import type { LiveSource } from '../sources/live.ts'
import type { SourceStore } from '../sources/parts.ts'
import { intervalOf } from '../sources/poll-interval.ts'
import type { PollBegun } from '../sources/poll-queries.ts'
import type { Tallies } from '../tallies.ts'
import { prepareItems, runsOf } from './bodies.ts'
import type { Begun, DuePoll, PollMade, PollPort, PollsDue } from './types.ts'
import { afterError, afterPoll } from './wait.ts'

const SENTENCE_MAX = 500
/** Storage is full, so what is due waits. */
const LOOK_AGAIN_MS = 5_000

/** A run of items on its way in, with what is written in the same transaction. */
export interface PolledCall {
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

export interface PollsParts {
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
    const isNoted = store.tx(() => polls.failed(begunOf(made), { nextAt, at: made.ended, error }))
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
    this.parts.tallies.add('polls', { source: source.name, outcome })
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

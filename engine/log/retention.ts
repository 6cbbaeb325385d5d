/**
 * Retention of what is recorded about events: firings with their deliveries, why events fired nothing,
 * incidents that are handled, runs with their steps (but for those that are an agent's examples, and their firings), proposals that were
 * decided and conversations with Ask go when they are older than events are kept. What they cost stays: usage
 * and budgets are of a lifetime.
 */

import { randomBytes } from 'node:crypto'
import type { ReferenceDocument } from '../sources/connectors/connector.ts'
import type { Appender } from './store/append.ts'
import { keepHighId, type StoreHandle } from './store/handle.ts'
import type { OpenStore } from './store/open.ts'
import type { Stamp } from './store/writer-state.ts'

/** Rows of each kind per transaction: a run has some ten steps. */
const CHUNK = 200
/** How often it is looked whether anything is old. */
const LOOK_MS = 60_000

export class Records {
  private lookAt = 0
  private readonly firings
  private readonly handoffs
  private readonly statements

  constructor(
    private readonly store: StoreHandle,
    /** Milliseconds; null: everything is kept. */
    private readonly maxAgeMs: number | null,
    private readonly triggers: { lookBacks(now: number, age: number): Map<number, number> },
    private readonly runs: { longestHandoffMs(): number },
  ) {
    const { db } = store
    this.handoffs = db.prepare<{ cutoff: number; since: number }>(
      // What a cooldown goes by is not old; one in practice is in nobody's way, and is known by its run, which goes next.
      `DELETE FROM handoffs WHERE id IN (
         SELECT h.id FROM handoffs h WHERE h.at < @cutoff AND h.state <> 'started'
           AND (h.state <> 'done' OR h.at < @since OR EXISTS (SELECT 1 FROM runs r WHERE r.id = h.from_run AND r.practice = 1))
         LIMIT ${CHUNK})`,
    )
    this.firings = db.prepare<[number, string]>(
      // What a recipient still waits for, what lasts, or what a cooldown or a limit goes by, is not old. Examples are few:
      // CROSS JOIN begins with them, without it all runs are read for each chunk.
      `DELETE FROM firings WHERE id IN (
         SELECT f.id FROM firings f WHERE f.last_at < ? AND f.state IN ('fired', 'dropped')
           AND NOT EXISTS (SELECT 1 FROM deliveries d WHERE d.firing_id = f.id AND d.state IN ('pending', 'running'))
           AND NOT EXISTS (SELECT 1 FROM json_each(?) t WHERE t.key = f.trigger_id AND f.fired_at > t.value)
           AND NOT EXISTS (SELECT 1 FROM active_keys a WHERE a.trigger_id = f.trigger_id AND a.dispatch_id = f.dispatch_id)
           AND f.id NOT IN (SELECT r.firing_id FROM agent_examples e CROSS JOIN runs r ON r.id = e.run_id
                            WHERE r.firing_id IS NOT NULL)
         ORDER BY f.id LIMIT ${CHUNK})`,
    )
    this.statements = [
      `DELETE FROM incidents WHERE id IN (
         SELECT id FROM incidents WHERE state = 'handled' AND handled_at < ? ORDER BY handled_at LIMIT ${CHUNK})`,
      `DELETE FROM evaluations WHERE id IN (SELECT id FROM evaluations WHERE at < ? ORDER BY id LIMIT ${CHUNK})`,
      // With the deliveries of their findings.
      `DELETE FROM runs WHERE id IN (
         SELECT id FROM runs WHERE finished_at < ?
           AND NOT EXISTS (SELECT 1 FROM deliveries d WHERE d.finding_of = runs.id AND d.state IN ('pending', 'running'))
           AND id NOT IN (SELECT run_id FROM agent_examples) ORDER BY finished_at LIMIT ${CHUNK})`,
      // What waits for a person is not old.
      `DELETE FROM proposals WHERE id IN (SELECT id FROM proposals WHERE decided_at < ? LIMIT ${CHUNK})`,
      `DELETE FROM ask_turns WHERE id IN (SELECT id FROM ask_turns WHERE finished_at < ? LIMIT ${CHUNK})`,
      `DELETE FROM ask_sessions WHERE updated_at < ?`,
    ].map((sql) => db.prepare<[number]>(sql))
  }

  /** Does one step. @param now epoch ms. @returns true when there is more to do at once */
  step(now: number): boolean {
    if (this.maxAgeMs === null || now < this.lookAt) return false
    const age = this.maxAgeMs
    const cutoff = now - age
    const removed = this.store.tx(() => {
      const kept = JSON.stringify(Object.fromEntries(this.triggers.lookBacks(now, age)))
      const since = Math.min(cutoff, now - this.runs.longestHandoffMs())
      return this.statements.reduce(
        (sum, statement) => sum + statement.run(cutoff).changes,
        this.firings.run(cutoff, kept).changes + this.handoffs.run({ cutoff, since }).changes,
      )
    })
    if (removed > 0) return true
    this.lookAt = now + LOOK_MS
    return false
  }
}

/* Facts about the data file that the engine begins with, and what it leaves in it for later. */

/** What cursors of reads are signed with; made with the file. @param given in place of a random one, of a new file */
export function metaSecret(store: OpenStore, given?: string): string {
  store.db
    .prepare("INSERT OR IGNORE INTO meta VALUES ('cursor_secret', ?)")
    .run(given ?? randomBytes(32).toString('hex'))
  return store.db.prepare("SELECT value FROM meta WHERE key = 'cursor_secret'").pluck().get() as string
}

/** Time of ingest of the newest event, epoch ms; 0: there is none. */
export function lastIngest(store: OpenStore): number {
  return (
    (store.db.prepare('SELECT ingested_at FROM events ORDER BY id DESC LIMIT 1').pluck().get() as
      | number
      | undefined) ?? 0
  )
}

/** Marks a source for removal of its events. @returns how many there are. */
export function requestPurge(store: OpenStore, sourceId: number, now: number): number {
  store.db.prepare('INSERT OR IGNORE INTO purges (source_id, requested_at) VALUES (?, ?)').run(sourceId, now)
  const events = store.db.prepare('SELECT events FROM sources WHERE id = ?').pluck().get(sourceId) as
    | number
    | undefined
  const documents = store.db
    .prepare('SELECT count(*) FROM documents WHERE source_id = ?')
    .pluck()
    .get(sourceId) as number
  return (events ?? 0) + documents
}

/**
 * Ends the removal of a source's events: the source is there again. What is not removed yet stays, and what is sent from
 * now on is not taken for what was to go.
 */
export function endPurge(store: Pick<OpenStore, 'db'>, sourceId: number): void {
  store.db.prepare('DELETE FROM purges WHERE source_id = ?').run(sourceId)
}

/* Writes the documents of reference sources: each edit supersedes the versions before. */

export interface DocumentsWriter {
  /**
   * Makes these the current documents of a source; none removes them from reads. Documents that did
   * not change keep their row.
   * @param entity name of the label that is the entity key, or null.
   */
  replace(sourceId: number, documents: readonly ReferenceDocument[], entity: string | null): void
}

interface CurrentRow {
  id: number
  labels: string
  entity: string | null
  text: string
  raw: Uint8Array
}

export function createDocumentsWriter(store: StoreHandle, appender: Appender, stamp: Stamp): DocumentsWriter {
  const { db } = store
  const current = db.prepare<[number], CurrentRow>(
    'SELECT id, labels, entity, text, raw FROM documents WHERE source_id = ? AND superseded_at IS NULL',
  )
  const supersede = db.prepare('UPDATE documents SET superseded_at = ? WHERE id = ?')
  const insert = db.prepare(
    'INSERT INTO documents (id, source_id, ingested_at, labels, entity, text, raw) VALUES (?, ?, ?, ?, ?, ?, ?)',
  )
  return {
    replace: (sourceId, documents, entity) =>
      store.tx(() => {
        const at = stamp.next()
        const identity = (labels: string, ownEntity: string | null, text: string, raw: Uint8Array) =>
          `${labels}\0${ownEntity}\0${text}\0${Buffer.from(raw).toString('base64')}`
        const existing = new Map(
          current.all(sourceId).map((row) => [identity(row.labels, row.entity, row.text, row.raw), row.id]),
        )
        for (const document of documents) {
          const labels = JSON.stringify(document.labels)
          const key = identity(labels, entity, document.text, document.raw)
          if (existing.delete(key)) continue
          const id = appender.reserveId()
          insert.run(id, sourceId, at, labels, entity, document.text, document.raw)
          keepHighId(store, id)
        }
        for (const id of existing.values()) supersede.run(at, id)
      }),
  }
}

/**
 * Retries that are safe: the answer to an Idempotency-Key is stored in the transaction of what it
 * answers and replayed for 24 hours; item keys are refused a second time for 72 hours. Unique
 * indexes decide, so two racing sends store one event.
 */
import { createHash } from 'node:crypto'
import type { Statement } from 'better-sqlite3'
import { fail } from '../errors.ts'
import type { Database } from './handle.ts'

export class Idempotency {
  private readonly find: Statement<[string], { body_hash: string; answer: string }>
  private readonly save: Statement<[string, string, string, number]>
  private readonly claim: Statement<[number, string, number, number]>

  constructor(db: Database) {
    this.find = db.prepare('SELECT body_hash, answer FROM idempotency WHERE key = ?')
    this.save = db.prepare('INSERT INTO idempotency (key, body_hash, answer, created_at) VALUES (?, ?, ?, ?)')
    this.claim = db.prepare(
      'INSERT OR IGNORE INTO dedupe (source_id, key, event_id, created_at) VALUES (?, ?, ?, ?)',
    )
  }

  /**
   * The stored answer of a key, or null when it is new.
   * @throws SvcError key_reused when the key came with another body.
   */
  replay<T>(key: string, bodyHash: string): T | null {
    const row = this.find.get(key)
    if (!row) return null
    if (row.body_hash !== bodyHash)
      fail('key_reused', 'this Idempotency-Key was used with another body; use a new key for a new body', {
        field: 'Idempotency-Key',
      })
    return JSON.parse(row.answer) as T
  }

  /** Stores the answer; call inside the transaction. @param at epoch ms. */
  store(key: string, bodyHash: string, answer: unknown, at: number): void {
    this.save.run(key, bodyHash, JSON.stringify(answer), at)
  }

  /** Claims an item key. @returns false when it was claimed before. */
  claimItem(sourceId: number, key: string, eventId: number, at: number): boolean {
    return this.claim.run(sourceId, hash(key), eventId, at).changes === 1
  }
}

/** Storage key of an Idempotency-Key: two callers or two routes never meet. */
export function idempotencyKeyOf(caller: string, route: string, key: string): string {
  return hash(`${caller}\0${route}\0${key}`)
}

export function hash(bytes: Uint8Array | string): string {
  return createHash('sha256').update(bytes).digest('hex')
}

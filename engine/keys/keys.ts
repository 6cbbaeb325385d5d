/**
 * API keys (SPEC.md, Authentication): scopes, shown once, revocable, never returned again. Only a
 * SHA-256 of the secret is stored; 192 random bits need no salt.
 */
import { createHash, randomBytes } from 'node:crypto'
import type { Key, KeyCreate, KeyCreated } from '../../schemas/types.ts'
import type { Clock } from '../clock.ts'
import type { Caller, KeyRecord } from '../engine.ts'
import { fail } from '../errors.ts'
import { acceptedBy, advance, firstSnapshot, recordCreated } from '../lifecycle/advance.ts'
import type { StoreHandle } from '../store/handle.ts'

const TOUCH_MS = 60_000

export interface Keys {
  /** Newest first, revoked ones included. */
  list(): Key[]
  /** @throws SvcError invalid */
  create(body: KeyCreate, caller: Caller, bound: { sourceId?: number }): KeyCreated
  /** @throws SvcError not_found for an unknown or revoked key. */
  revoke(id: string, caller: Caller): { ok: true; note: string }
  /** Revokes every key bound to a source; inside the caller's transaction. */
  revokeOfSource(sourceId: number, caller: Caller): void
  touch(ids: readonly string[]): void
  /** Keys that are not revoked, for the authenticator. */
  records(): KeyRecord[]
}

interface KeyRow {
  id: string
  name: string
  prefix: string
  hash: string
  scopes: string
  source_id: number | null
  source_name: string | null
  project: string | null
  snapshot: string
  state: Key['state']
  created_at: number
  last_used_at: number | null
  revoked_at: number | null
}

export function createKeys({ store, clock }: { store: StoreHandle; clock: Clock }): Keys {
  const { db } = store
  const select = 'SELECT k.*, s.name AS source_name FROM keys k LEFT JOIN sources s ON s.id = k.source_id'
  const revoke = (id: string, name: string, caller: Caller): void => {
    advance(db, 'key', id, name, 'revoke', caller, clock.now())
    db.prepare('UPDATE keys SET revoked_at = ? WHERE id = ?').run(clock.now(), id)
  }
  return {
    list: () => (db.prepare(`${select} ORDER BY k.created_at DESC, k.id`).all() as KeyRow[]).map(present),
    create: (body, caller, { sourceId }) => {
      checkScopes(body, sourceId)
      const id = randomBytes(4).toString('hex')
      const secret = `svc_${id}_${randomBytes(24).toString('base64url')}`
      const name = body.name.trim() || fail('invalid', 'name must not be blank', { field: 'name' })
      store.tx(() => {
        db.prepare(
          'INSERT INTO keys (id, name, prefix, hash, scopes, source_id, snapshot, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
        ).run(
          id,
          name,
          `svc_${id}`,
          hashSecret(secret),
          JSON.stringify(body.scopes),
          sourceId ?? null,
          firstSnapshot('key'),
          clock.now(),
        )
        recordCreated(db, 'key', id, caller, clock.now())
      })
      return {
        id,
        name,
        scopes: body.scopes,
        secret,
        ...(body.source === undefined ? {} : { source: body.source }),
      }
    },
    revoke: (id, caller) =>
      store.tx(() => {
        const row = db.prepare('SELECT name, state FROM keys WHERE id = ?').get(id) as
          | { name: string; state: string }
          | undefined
        if (!row || row.state === 'revoked') fail('not_found', `no active key has the id ${id}`)
        revoke(id, id, caller)
        return { ok: true, note: `${row.name} no longer opens anything` }
      }),
    revokeOfSource: (sourceId, caller) => {
      const ids = db
        .prepare("SELECT id FROM keys WHERE source_id = ? AND state = 'active'")
        .pluck()
        .all(sourceId) as string[]
      for (const id of ids) revoke(id, id, caller)
    },
    touch: (ids) =>
      store.tx(() => {
        const update = db.prepare(
          'UPDATE keys SET last_used_at = ? WHERE id = ? AND coalesce(last_used_at, 0) <= ?',
        )
        for (const id of ids) update.run(clock.now(), id, clock.now() - TOUCH_MS)
      }),
    records: () =>
      (db.prepare(`${select} WHERE k.state = 'active'`).all() as KeyRow[]).map((row) => ({
        id: row.id,
        name: row.name,
        hash: row.hash,
        scopes: JSON.parse(row.scopes) as string[],
        sourceId: row.source_id,
      })),
  }
}

/** Lower-case hex SHA-256 of a secret. */
export function hashSecret(secret: string): string {
  return createHash('sha256').update(secret).digest('hex')
}

function checkScopes(body: KeyCreate, sourceId: number | undefined): void {
  if (body.project !== undefined)
    fail('invalid', `project: no project is named ${body.project}`, { field: 'project' })
  if (body.scopes.includes('findings'))
    fail('invalid', 'scopes: findings is a scope of project keys only', { field: 'scopes' })
  if (sourceId !== undefined && body.scopes.some((scope) => scope !== 'ingest'))
    fail('invalid', 'scopes: a key bound to a source has the ingest scope and no other', { field: 'scopes' })
}

function present(row: KeyRow): Key {
  const iso = (ms: number | null) => (ms === null ? null : new Date(ms).toISOString())
  return {
    id: row.id,
    name: row.name,
    prefix: row.prefix,
    scopes: JSON.parse(row.scopes) as Key['scopes'],
    source: row.source_name,
    project: row.project,
    state: row.state,
    accepts: acceptedBy('key', row.snapshot),
    created_at: iso(row.created_at)!,
    last_used_at: iso(row.last_used_at),
    revoked_at: iso(row.revoked_at),
  }
}

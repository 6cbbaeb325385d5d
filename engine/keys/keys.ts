/**
 * API keys (SPEC.md, Authentication): scopes, shown once, revocable, never returned again. Only a
 * SHA-256 of the secret is stored; 192 random bits need no salt.
 */
import { createHash, randomBytes } from 'node:crypto'
import { check } from '../../schemas/index.ts'
import type { Key, KeyCreate, KeyCreated } from '../../schemas/types.ts'
import type { Clock } from '../clock.ts'
import type { Caller, KeyRecord } from '../engine.ts'
import { fail } from '../errors.ts'
import { acceptedBy, advance, firstSnapshot, recordCreated } from '../lifecycle/advance.ts'
import type { StoreHandle } from '../store/handle.ts'
import { type KeyRow, keyQueries } from './queries.ts'

/** A key's last use is written at most this often: a busy producer must not cost a write a call. */
const TOUCH_MS = 60_000

export interface Keys {
  /** Newest first, revoked ones included. */
  list(): Key[]
  /**
   * Makes a key; its secret is in the answer and nowhere else.
   * @param bound the source it may write to, and no other (`body.source` is its name), or the id of
   *   the project it reads and records findings in, and no other; or that a person approved it for a machine.
   * @throws SvcError invalid
   */
  create(
    body: KeyCreate,
    caller: Caller,
    bound: { sourceId?: number; project?: string; isLogin?: boolean },
  ): KeyCreated
  /** @throws SvcError not_found for an unknown or revoked key. */
  revoke(id: string, caller: Caller): { ok: true; note: string }
  /** Revokes every key bound to a source; inside the caller's transaction. */
  revokeOfSource(sourceId: number, caller: Caller): void
  /** Revokes every key of a project; inside the caller's transaction. @returns how many. */
  revokeOfProject(project: string, caller: Caller): number
  /** Notes that keys were used, at most once a minute and key; unknown ids are passed over. */
  touch(ids: readonly string[]): void
  /** Keys that are not revoked, for the authenticator. */
  records(): KeyRecord[]
}

/** The keys of a store. */
export function createKeys({
  store,
  clock,
  onRevoked,
}: {
  store: StoreHandle
  clock: Clock
  /** In the transaction that revokes it: what the key made goes too. */
  onRevoked?: (id: string) => void
}): Keys {
  const { db } = store
  const queries = keyQueries(db)
  const revoke = (id: string, caller: Caller): void => {
    const at = clock.now()
    advance(db, { kind: 'key', id, name: id }, 'revoke', caller, at)
    queries.markRevoked(id, at)
    onRevoked?.(id)
  }
  return {
    list: () => queries.all().map(present),
    create: (body, caller, { sourceId, project, isLogin = false }) => {
      const scopes = body.scopes ?? (project === undefined ? [] : [...PROJECT_SCOPES])
      checkRules({ ...body, scopes }, sourceId, project)
      const id = unusedId((candidate) => queries.byId(candidate) !== undefined)
      const secret = `svc_${id}_${randomBytes(24).toString('base64url')}`
      const name = body.name.trim()
      store.tx(() => {
        queries.insert({
          id,
          name,
          prefix: `svc_${id}`,
          hash: hashSecret(secret),
          scopes: JSON.stringify(scopes),
          sourceId: sourceId ?? null,
          project: project ?? null,
          snapshot: firstSnapshot('key'),
          isLogin: isLogin ? 1 : 0,
          at: clock.now(),
        })
        recordCreated(db, 'key', id, caller, clock.now())
      })
      const source = body.source === undefined ? {} : { source: body.source }
      return { id, name, scopes, secret, ...source, ...(project === undefined ? {} : { project }) }
    },
    revoke: (id, caller) =>
      store.tx(() => {
        const row = queries.byId(id)
        if (!row || row.state === 'revoked') fail('not_found', `no active key has the id ${id}`)
        revoke(id, caller)
        return { ok: true, note: `${row.name} no longer opens anything` }
      }),
    revokeOfSource: (sourceId, caller) => {
      for (const id of queries.activeOfSource(sourceId)) revoke(id, caller)
    },
    revokeOfProject: (project, caller) => {
      const ids = queries.activeOfProject(project)
      for (const id of ids) revoke(id, caller)
      return ids.length
    },
    touch: (ids) =>
      store.tx(() => {
        const at = clock.now()
        for (const id of ids) queries.touch(id, at, at - TOUCH_MS)
      }),
    records: () => queries.active().map(recordOf),
  }
}

/** Lower-case hex SHA-256 of a secret. */
export function hashSecret(secret: string): string {
  return createHash('sha256').update(secret).digest('hex')
}

/** 32 bits are short enough to read aloud, and so can meet: an id is looked up before it is taken. */
function unusedId(isTaken: (id: string) => boolean): string {
  let id: string
  do id = randomBytes(4).toString('hex')
  while (isTaken(id))
  return id
}

/** Scopes of a project key (SPEC.md, Authentication 4). */
const PROJECT_SCOPES = ['read', 'findings'] as const

/** Who mints may not mint past the rules: a general key reads, ingests, acts on incidents or administers. */
function checkRules(body: KeyCreate, sourceId: number | undefined, project: string | undefined): void {
  const fault = check('request-key-create.json', body)
  if (fault) fail('invalid', fault)
  const scopes = body.scopes ?? []
  if (scopes.length === 0) fail('invalid', 'scopes is required', { field: 'scopes' })
  if (body.name.trim() === '') fail('invalid', 'name must not be blank', { field: 'name' })
  if (project !== undefined && scopes.some((scope) => scope !== 'read' && scope !== 'findings'))
    fail('invalid', 'scopes: a project key has the scopes read and findings and no other', {
      field: 'scopes',
    })
  if (project === undefined && scopes.includes('findings'))
    fail('invalid', 'scopes: findings is a scope of project keys only', { field: 'scopes' })
  if (sourceId !== undefined && scopes.some((scope) => scope !== 'ingest'))
    fail('invalid', 'scopes: a key bound to a source has the ingest scope and no other', { field: 'scopes' })
}

function recordOf(row: KeyRow): KeyRecord {
  const { id, name, hash, project, project_name: projectName } = row
  const scopes = JSON.parse(row.scopes) as string[]
  const isLogin = row.is_login === 1
  return { id, name, hash, scopes, sourceId: row.source_id, project, projectName, isLogin }
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
    created_at: new Date(row.created_at).toISOString(),
    last_used_at: iso(row.last_used_at),
    revoked_at: iso(row.revoked_at),
  }
}

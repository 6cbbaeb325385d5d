/**
 * API keys (SPEC.md, Authentication): scopes, shown once, revocable, never returned again. Only a
 * SHA-256 of the secret is stored; 192 random bits need no salt.
 */

import { createHash, randomBytes } from 'node:crypto'
import { check } from '../../schemas/index.ts'
import type { Key, KeyCreate, KeyCreated } from '../../schemas/types.ts'
import type { Caller, KeyRecord, RevokedKey } from '../calls.ts'
import type { Clock } from '../clock.ts'
import { fail } from '../errors.ts'
import { acceptedBy, advance, firstSnapshot, recordCreated } from '../log/lifecycle.ts'
import type { Database, StoreHandle } from '../log/store/handle.ts'
import type { DeclaredKind, Staged } from '../model/documents.ts'
import { iso, isoOrNull } from '../model/units.ts'

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
  /** The key with this hash of its secret, where it was revoked. */
  revokedKey(hash: string): RevokedKey | null
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
    revokedKey: (hash) => {
      const row = queries.byHash(hash)
      return row?.revoked_at ? { name: row.name, revokedAt: iso(row.revoked_at) } : null
    },
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
  return {
    id: row.id,
    name: row.name,
    prefix: row.prefix,
    scopes: JSON.parse(row.scopes) as Key['scopes'],
    source: row.source_name,
    project: row.project,
    project_name: row.project_name,
    state: row.state,
    accepts: acceptedBy('key', row.snapshot),
    created_at: new Date(row.created_at).toISOString(),
    last_used_at: isoOrNull(row.last_used_at),
    revoked_at: isoOrNull(row.revoked_at),
  }
}

/* The SQL of keys. */

interface KeyRow {
  id: string
  name: string
  prefix: string
  hash: string
  /** JSON list. */
  scopes: string
  source_id: number | null
  /** Name of the source it is bound to, a deleted one included. */
  source_name: string | null
  project: string | null
  /** Name of that project, a deleted one included. */
  project_name: string | null
  snapshot: string
  state: Key['state']
  created_at: number
  last_used_at: number | null
  revoked_at: number | null
  /** 1: a person let a machine have it. */
  is_login: number
}

interface NewKey {
  id: string
  name: string
  prefix: string
  hash: string
  scopes: string
  sourceId: number | null
  project: string | null
  snapshot: string
  isLogin: number
  /** Epoch ms. */
  at: number
}

/** The statements of keys, prepared once. */
function keyQueries(db: Database) {
  const select =
    'SELECT k.id, k.name, k.prefix, k.hash, k.scopes, k.source_id, s.name AS source_name, k.project, p.name AS project_name, k.snapshot, k.state, k.created_at, k.last_used_at, k.revoked_at, k.is_login FROM keys k LEFT JOIN sources s ON s.id = k.source_id LEFT JOIN projects p ON p.id = k.project'
  const all = db.prepare<[], KeyRow>(`${select} ORDER BY k.created_at DESC, k.rowid DESC`)
  const active = db.prepare<[], KeyRow>(`${select} WHERE k.state = 'active'`)
  const byId = db.prepare<[string], KeyRow>(`${select} WHERE k.id = ?`)
  const byHash = db.prepare<[string], KeyRow>(`${select} WHERE k.hash = ?`)
  const activeOfSource = db
    .prepare<[number]>("SELECT id FROM keys WHERE source_id = ? AND state = 'active'")
    .pluck()
  const activeOfProject = db
    .prepare<[string]>("SELECT id FROM keys WHERE project = ? AND state = 'active'")
    .pluck()
  const insert = db.prepare<NewKey>(
    'INSERT INTO keys (id, name, prefix, hash, scopes, source_id, project, snapshot, is_login, created_at) VALUES (@id, @name, @prefix, @hash, @scopes, @sourceId, @project, @snapshot, @isLogin, @at)',
  )
  const markRevoked = db.prepare<[number, string]>('UPDATE keys SET revoked_at = ? WHERE id = ?')
  const touch = db.prepare<[number, string, number]>(
    'UPDATE keys SET last_used_at = ? WHERE id = ? AND (last_used_at IS NULL OR last_used_at <= ?)',
  )
  return {
    /** Newest first, revoked ones included. */
    all: () => all.all(),
    active: () => active.all(),
    byId: (id: string) => byId.get(id),
    byHash: (hash: string) => byHash.get(hash),
    activeOfSource: (sourceId: number) => activeOfSource.all(sourceId) as string[],
    activeOfProject: (project: string) => activeOfProject.all(project) as string[],
    insert: (key: NewKey) => insert.run(key),
    markRevoked: (id: string, at: number) => markRevoked.run(at, id),
    /** @param before a key used later than this keeps its time. */
    touch: (id: string, at: number, before: number) => touch.run(at, id, before),
  }
}

/*
 * A finding carries the name of who recorded it: an agent's, or that of the key an outside agent uses. No two
 * of them share a name, or the key could record nothing.
 */

/** @throws SvcError conflict where an agent has the name of a key that is to record findings */
export function refuseAgentsName(
  { kinds }: { kinds: { agent: Pick<DeclaredKind, 'find'> } },
  name: string,
): void {
  if (kinds.agent.find(name.trim()))
    fail(
      'conflict',
      `name: ${name.trim()} is the name of an agent of this service, so the key could record no finding; give it another name`,
      { field: 'name' },
    )
}

/** @throws SvcError conflict where a key that records findings has the name of an agent that is made */
export function refuseKeysName(staged: readonly Staged[], keys: Pick<Keys, 'records'>): void {
  const made = staged.filter(
    ({ kind, stored, doc }) => kind === 'agent' && (!stored || stored.was !== undefined) && doc,
  )
  if (made.length === 0) return
  const recording = keys.records().filter(({ scopes }) => scopes.includes('findings'))
  for (const { key } of made)
    if (recording.some(({ name }) => name === key))
      fail(
        'conflict',
        `name: a project key is named ${key} and records findings under it; give the agent another name, or revoke the key`,
        { field: 'name' },
      )
}

import { createHash } from 'node:crypto'
import { beforeEach, describe, expect, it } from 'vitest'
import { createKeys, hashSecret, type Keys } from '../../../../engine/declared/keys.ts'
import type { KeyCreate } from '../../../../schemas/types.ts'
import { ME, openTestStore, T0, type TestStore } from '../../open-test-store.ts'

describe('keys', () => {
  let test: TestStore
  let keys: Keys
  const create = (body: Partial<KeyCreate> = {}, bound: { sourceId?: number } = {}) =>
    keys.create({ name: 'ci', scopes: ['read'], ...body }, ME, bound)

  beforeEach(() => {
    test = openTestStore()
    keys = createKeys(test)
    test.store.db
      .prepare(
        "INSERT INTO sources (id, name, connector, poll, config, snapshot, created_at, updated_at) VALUES (7, 'app', 'webhook', '5s', '{}', '{\"value\":\"active\"}', 0, 0)",
      )
      .run()
  })

  it('show their secret once: an id and 24 random bytes, of which only the SHA-256 is stored', () => {
    const { id, secret } = create()
    expect(secret).toMatch(new RegExp(`^svc_${id}_[A-Za-z0-9_-]{32}$`))
    expect(id).toMatch(/^[0-9a-f]{8}$/)
    const stored = JSON.stringify(test.store.db.prepare('SELECT * FROM keys').all())
    expect(stored).not.toContain(secret.slice(-32))
    expect(stored).toContain(createHash('sha256').update(secret).digest('hex'))
    expect(JSON.stringify([keys.list(), keys.records()])).not.toContain(secret.slice(-32))
  })

  it('are listed newest first with what they may do, revoked ones included', () => {
    const first = create({ name: ' first ', scopes: ['read', 'ingest'] })
    const second = create({ name: 'second' })
    test.clock.at += 1_000
    const third = create({ name: 'third', scopes: ['ingest'], source: 'app' }, { sourceId: 7 })
    keys.revoke(second.id, ME)
    expect(keys.list().map((key) => [key.id, key.name, key.state, key.accepts, key.source])).toEqual([
      [third.id, 'third', 'active', ['revoke'], 'app'],
      [second.id, 'second', 'revoked', [], null],
      [first.id, 'first', 'active', ['revoke'], null],
    ])
    expect(keys.list()[1]).toMatchObject({
      prefix: `svc_${second.id}`,
      created_at: new Date(T0).toISOString(),
      last_used_at: null,
      revoked_at: new Date(T0 + 1_000).toISOString(),
    })
  })

  it('give the authenticator those that are not revoked, with the source they are bound to', () => {
    const kept = create({ scopes: ['ingest'], source: 'app' }, { sourceId: 7 })
    keys.revoke(create().id, ME)
    expect(keys.records()).toEqual([
      {
        id: kept.id,
        name: 'ci',
        hash: hashSecret(kept.secret),
        scopes: ['ingest'],
        sourceId: 7,
        project: null,
        projectName: null,
        isLogin: false,
      },
    ])
  })

  it('are revoked once, by someone', () => {
    const { id } = create()
    expect(keys.revoke(id, ME)).toEqual({ ok: true, note: 'ci no longer opens anything' })
    const gone = (of: string) =>
      expect.objectContaining({ code: 'not_found', message: `no active key has the id ${of}` })
    expect(() => keys.revoke(id, ME)).toThrow(gone(id))
    expect(() => keys.revoke('00000000', ME)).toThrow(gone('00000000'))
    expect(test.history()).toEqual([
      `key ${id}:  -create-> active by key:0a1b2c3d maria`,
      `key ${id}: active -revoke-> revoked by key:0a1b2c3d maria`,
    ])
  })

  it('are revoked together with their source, those of other sources not', () => {
    const bound = create({ scopes: ['ingest'], source: 'app' }, { sourceId: 7 })
    const free = create()
    keys.revoke(create({ scopes: ['ingest'], source: 'app' }, { sourceId: 7 }).id, ME)
    test.store.tx(() => keys.revokeOfSource(7, ME))
    expect(keys.records().map((record) => record.id)).toEqual([free.id])
    expect(keys.list().find((key) => key.id === bound.id)?.state).toBe('revoked')
  })

  it('note their last use at most once a minute', () => {
    const { id } = create()
    const lastUsed = () => keys.list().find((key) => key.id === id)?.last_used_at
    const at = (ms: number) => {
      test.clock.at = T0 + ms
      keys.touch([id, 'unknown0'])
      return lastUsed()
    }
    expect([at(1_000), at(60_999), at(61_000), at(61_001)]).toEqual(
      [1_000, 1_000, 61_000, 61_000].map((ms) => new Date(T0 + ms).toISOString()),
    )
  })

  const refused: [string, Record<string, unknown>, { sourceId?: number; project?: string }, string][] = [
    ['no scope', { scopes: [] }, {}, 'scopes must not be empty'],
    [
      'a scope in capitals',
      { scopes: ['READ'] },
      {},
      'scopes[0] must be one of read, ingest, admin, findings',
    ],
    ['a scope twice', { scopes: ['read', 'read'] }, {}, 'scopes must not repeat an entry'],
    [
      'the scope of project keys',
      { scopes: ['findings'] },
      {},
      'scopes: findings is a scope of project keys only',
    ],
    [
      'that scope among others',
      { scopes: ['read', 'findings'] },
      {},
      'scopes: findings is a scope of project keys only',
    ],
    [
      'a project and another scope',
      { scopes: ['admin'] },
      { project: 'uc_1' },
      'scopes: a project key has the scopes read and findings and no other',
    ],
    [
      'a source and more than ingest',
      { scopes: ['ingest', 'read'], source: 'app' },
      { sourceId: 7 },
      'scopes: a key bound to a source has the ingest scope and no other',
    ],
    [
      'a source and another scope',
      { scopes: ['admin'], source: 'app' },
      { sourceId: 7 },
      'scopes: a key bound to a source has the ingest scope and no other',
    ],
    ['no name', { name: '' }, {}, 'name must not be empty'],
    ['a blank name', { name: '   ' }, {}, 'name must not be blank'],
    ['a control character in its name', { name: 'a\nb' }, {}, 'name must not contain control characters'],
    ['a long name', { name: 'x'.repeat(65) }, {}, 'name must have at most 64 characters'],
    ['an unknown field', { colour: 'red' }, {}, 'colour is not a known field'],
  ]
  it.each(refused)('are refused with %s', (_what, body, bound, message) => {
    expect(() => create(body as Partial<KeyCreate>, bound)).toThrow(
      expect.objectContaining({ code: 'invalid', status: 400, message: expect.stringContaining(message) }),
    )
    expect(keys.list()).toEqual([])
  })

  it('leave nothing when the transaction around them fails', () => {
    expect(() =>
      test.store.tx(() => {
        create()
        throw new Error('later step')
      }),
    ).toThrow('later step')
    expect([keys.list(), test.history()]).toEqual([[], []])
  })
})

import { describe, expect, it } from 'vitest'
import type { SourceWrite } from '../../../schemas/types.ts'
import { ME, T0 } from '../open-test-store.ts'
import { openSources } from './sources-harness.ts'

const labels = [{ name: 'service', field: 'service', primary: true }]
const attachment = (content: string) => ({ name: 'runbook', format: 'md', content })
const docs = (...contents: string[]): Partial<SourceWrite> => ({
  connector: 'reference',
  config: { attachments: contents.map((content) => ({ ...attachment(content), name: content })) },
})

describe('creating a source', () => {
  it('gives a push source a secret address that tells its connector', () => {
    const { create } = openSources()
    expect(create('app')).toEqual({
      ok: true,
      name: 'app',
      ingest_key: expect.stringMatching(/^webhook-[0-9a-f]{32}$/),
      project: expect.stringMatching(/^uc_[0-9a-f]{10}$/),
      version: 1,
      change_set: 1,
    })
    expect(create('notes', { connector: 'memory' }).ingest_key).toMatch(/^memory-[0-9a-f]{32}$/)
    expect(create('docs', docs('a')).ingest_key).toBeNull()
  })

  it('shows the row it made, with what it accepts and a poll interval', () => {
    const { create, sources } = openSources()
    const { ingest_key } = create('app', { config: { labels } })
    expect(sources.get('app')).toEqual({
      name: 'app',
      type: 'event_stream',
      connector: 'webhook',
      mode: 'push',
      poll: '5s',
      config: { labels },
      state: 'active',
      paused: false,
      accepts: ['pause', 'delete'],
      ingest_key,
      signed: false,
      owned_by: null,
      customized: false,
      projects: [expect.stringMatching(/^uc_/)],
      version: 1,
      created_at: new Date(T0).toISOString(),
      updated_at: new Date(T0).toISOString(),
      health: expect.objectContaining({ status: 'push', reason: null }),
    })
  })

  it('is written to the history with who did it', () => {
    const { create, history } = openSources()
    create('app')
    expect(history()).toEqual([
      'source app:  -create-> active by key:0a1b2c3d maria',
      'project Default: none -create-> running by key:0a1b2c3d maria',
    ])
  })

  it('mints an ingest key bound to it when asked, for a push source that checks no signature', () => {
    const { create, keys } = openSources()
    const { key } = create('app', {}, true)
    expect(key).toEqual({
      id: expect.any(String),
      name: 'ingest app',
      scopes: ['ingest'],
      source: 'app',
      secret: expect.stringMatching(/^svc_/),
    })
    expect(keys.records()).toEqual([
      expect.objectContaining({ id: key!.id, scopes: ['ingest'], sourceId: 1 }),
    ])
    expect(create('signed', { config: { signature_scheme: 'github' } }, true).key).toBeUndefined()
    expect(create('docs', docs('a'), true).key).toBeUndefined()
    expect(create('open', {}, false).key).toBeUndefined()
    expect(create('x'.repeat(64), {}, true).key?.name).toHaveLength(64)
  })

  it('makes the documents of a reference source current', () => {
    const { create, documents } = openSources()
    create('docs', docs('a', 'b'))
    expect(documents()).toEqual({ current: ['a (md) a', 'b (md) b'], past: [] })
  })

  const refused: [string, Record<string, unknown>, string, string][] = [
    ['a name that is taken', { name: 'app' }, 'conflict', 'a source named app exists'],
    ['a name with a slash', { name: 'a/b' }, 'invalid', 'name must be 1 to 64 letters'],
    ['an unknown connector', { connector: 'pigeon' }, 'invalid', 'connector pigeon is not known'],
    ['an unknown field', { colour: 'red' }, 'invalid', 'colour is not a known field'],
    ['an unknown config field', { config: { colour: 'red' } }, 'invalid', 'colour is not a known field'],
    [
      'a poll that is no duration',
      { poll: 'often' },
      'invalid',
      'poll must be a number and one of s, m, h, d',
    ],
    ['a poll of no time', { poll: '0s' }, 'invalid', 'poll must be a number above 0'],
    ['a project', { project: 'shop' }, 'invalid', 'project: no project is named shop'],
    [
      'labels that repeat a name',
      { config: { labels: [...labels, { name: 'service', const: 'x' }] } },
      'invalid',
      'labels[1].name repeats service',
    ],
    ['a missing config field', { connector: 'reference' }, 'invalid', 'attachments is required'],
    [
      'the mask of a secret',
      { config: { signature_scheme: 'github', signature_secret: '••••••••' } },
      'invalid',
      'config.signature_secret is the mask of a secret',
    ],
  ]
  it.each(refused)('is refused with %s, and leaves nothing', (_what, body, code, message) => {
    const { create, sources, history } = openSources()
    create('app')
    const before = [sources.list(), history()]
    expect(() => create('other', body as Partial<SourceWrite>)).toThrow(
      expect.objectContaining({ code, message: expect.stringContaining(message) }),
    )
    expect([sources.list(), history()]).toEqual(before)
  })

  it('takes an empty project for none and a poll for any connector', () => {
    const { create, sources } = openSources()
    create('app', { project: '', poll: '1.5h' })
    expect(sources.get('app').poll).toBe('1.5h')
  })
})

describe('updating a source', () => {
  it('replaces its config and keeps its address, its state and when it was made', () => {
    const { create, update, sources, clock } = openSources()
    const { ingest_key } = create('app', { config: { labels, event_type: 'deploy' }, poll: '1m' })
    sources.move('app', 'pause', ME)
    clock.at += 1_000
    expect(update('app', { config: { event_type: 'alert' } })).toEqual({
      ok: true,
      name: 'app',
      relabeled: false,
      version: 3,
      change_set: 3,
    })
    expect(sources.get('app')).toMatchObject({
      config: { event_type: 'alert' },
      poll: '1m',
      ingest_key,
      state: 'paused',
      created_at: new Date(T0).toISOString(),
      updated_at: new Date(T0 + 1_000).toISOString(),
    })
  })

  it('writes documents anew only where they changed', () => {
    const { create, update, documents } = openSources()
    create('docs', docs('a', 'b'))
    update('docs', docs('b', 'c'))
    expect(documents()).toEqual({ current: ['b (md) b', 'c (md) c'], past: ['a (md) a'] })
    update('docs', { ...docs('b', 'c'), poll: '1h' })
    expect(documents()).toEqual({ current: ['b (md) b', 'c (md) c'], past: ['a (md) a'] })
  })

  it.each([
    ['another name', 'app', { name: 'other' }, 'invalid', 'name must equal the name in the path'],
    ['another connector', 'app', { connector: 'memory' }, 'invalid', 'connector must stay webhook'],
    ['a project', 'app', { project: 'shop' }, 'invalid', 'no project is named shop'],
    ['a name nobody has', 'ghost', {}, 'not_found', 'no source is named ghost'],
  ])('is refused with %s', (_what, name, body, code, message) => {
    const { create, update, sources } = openSources()
    create('app', { config: { labels } })
    expect(() => update(name, body)).toThrow(
      expect.objectContaining({ code, message: expect.stringContaining(message) }),
    )
    expect(sources.get('app').config).toEqual({ labels })
  })
})

describe('pausing and resuming a source', () => {
  it('moves it back and forth, with its history', () => {
    const { create, sources, history } = openSources()
    const { ingest_key } = create('app')
    expect(sources.move('app', 'pause', ME)).toEqual({ ok: true, state: 'paused', version: 2 })
    expect(sources.get('app')).toMatchObject({
      paused: true,
      accepts: ['resume', 'delete'],
      health: { status: 'paused', reason: 'paused; resume it to ingest' },
    })
    expect(sources.byIngestKey(ingest_key!)?.paused).toBe(true)
    expect(sources.routes()).toEqual([expect.objectContaining({ source: 'app', paused: true })])
    expect(() => sources.move('app', 'pause', ME)).toThrow(
      expect.objectContaining({
        code: 'wrong_state',
        message: 'source app is paused and does not accept pause; it accepts resume, delete',
      }),
    )
    sources.move('app', 'resume', ME)
    expect(sources.byIngestKey(ingest_key!)?.paused).toBe(false)
    expect(history().slice(2)).toEqual([
      'source app: active -pause-> paused by key:0a1b2c3d maria',
      'source app: paused -resume-> active by key:0a1b2c3d maria',
    ])
    expect(() => sources.move('ghost', 'pause', ME)).toThrow('no source is named ghost')
  })

  it('keeps documents in reads as they are, and shows edits once it is resumed', () => {
    const { create, update, sources, documents } = openSources()
    create('docs', docs('old'))
    sources.move('docs', 'pause', ME)
    update('docs', docs('new'))
    expect(documents().current).toEqual(['old (md) old'])
    expect(sources.get('docs').health.reason).toBe(
      'paused; its documents stay as they are until it is resumed',
    )
    sources.move('docs', 'resume', ME)
    expect(documents()).toEqual({ current: ['new (md) new'], past: ['old (md) old'] })
  })
})

describe('deleting a source', () => {
  it('takes its address, its keys and its documents, and purges only when asked', () => {
    const { create, remove, sources, keys, documents, world, history } = openSources()
    const { ingest_key, key } = create('app', {}, true)
    create('docs', docs('a'))
    create('kept', {}, true)
    const alone = { ok: true, deleted: [], agents_without_trigger: [] }
    expect(remove('app')).toEqual({ ...alone, purged_events: 0, change_set: 4 })
    expect(remove('docs', true)).toEqual({ ...alone, purged_events: 3, change_set: 5 })
    expect(world.purged).toEqual([2])
    expect(sources.byIngestKey(ingest_key!)).toBeUndefined()
    expect(sources.list().map((source) => source.name)).toEqual(['kept'])
    expect(keys.records().map((record) => record.name)).toEqual(['ingest kept'])
    expect(keys.list().find(({ id }) => id === key!.id)).toMatchObject({ state: 'revoked', source: 'app' })
    expect(documents()).toEqual({ current: [], past: ['a (md) a'] })
    expect(history()).toContain('source app: active -delete-> deleted by key:0a1b2c3d maria')
    expect(() => remove('app')).toThrow(
      expect.objectContaining({ code: 'not_found', message: 'no source is named app' }),
    )
  })

  it('keeps no secret of it', () => {
    const { create, remove, stored } = openSources()
    create('app', { config: { labels, signature_scheme: 'github', signature_secret: 'hunter2' } })
    expect(stored()).toContain('enc:v1:')
    remove('app')
    expect(stored()).not.toContain('enc:v1:')
    expect(stored()).toContain('\\"field\\":\\"service\\"')
  })

  it('frees the name for another source, with an address and counts of its own', () => {
    const { create, remove, sources, store } = openSources()
    const first = create('app').ingest_key
    store.db.exec('UPDATE sources SET events = 5')
    remove('app')
    expect(create('app').ingest_key).not.toBe(first)
    expect(sources.get('app').health.events_total).toBe(0)
    expect(sources.requireByName('app').id).toBe(2)
  })

  it('deletes what is paused', () => {
    const { create, remove, sources } = openSources()
    create('app')
    sources.move('app', 'pause', ME)
    remove('app')
    expect(sources.list()).toEqual([])
  })

  it('changes nothing when it fails half-way', () => {
    const { create, remove, sources, keys, world, history } = openSources()
    const { ingest_key } = create('app', {}, true)
    const before = [sources.list(), keys.list(), history()]
    world.failPurge = true
    expect(() => remove('app', true)).toThrow('disk')
    expect([sources.list(), keys.list(), history()]).toEqual(before)
    expect(sources.byIngestKey(ingest_key!)).toBeDefined()
  })
})

describe('the memory source', () => {
  it('is the named one, else the first made, else a new one', () => {
    const { create, sources } = openSources()
    expect(sources.memorySource(undefined, ME)).toMatchObject({ name: 'agent_memory', id: 1 })
    expect(sources.memorySource(undefined, ME).id).toBe(1)
    create('a_notes', { connector: 'memory' })
    expect(sources.memorySource(undefined, ME).name).toBe('agent_memory')
    expect(sources.memorySource('a_notes', ME).name).toBe('a_notes')
  })

  it('takes another name where agent_memory is something else', () => {
    const { create, sources } = openSources()
    create('agent_memory')
    expect(sources.memorySource(undefined, ME)).toMatchObject({
      name: 'agent_memory_2',
      connector: { kind: 'memory' },
    })
  })

  it('is refused by a name nobody has, or that is no memory source', () => {
    const { create, sources } = openSources()
    create('app')
    expect(() => sources.memorySource('ghost', ME)).toThrow(
      expect.objectContaining({ code: 'not_found', message: 'no source is named ghost' }),
    )
    expect(() => sources.memorySource('app', ME)).toThrow(
      expect.objectContaining({ code: 'invalid', message: 'source: app is not a memory source' }),
    )
  })
})

import { describe, expect, it } from 'vitest'
import { ME } from '../open-test-store.ts'
import { openSources } from './sources-harness.ts'

const bytes = (value: unknown) => ({ raw: Buffer.from(JSON.stringify(value)), value, whole: () => value })

describe('the live sources', () => {
  it('are found by ingest key, id and name, in the order they were made', () => {
    const { create, sources } = openSources()
    const { ingest_key } = create('b')
    create('a', { connector: 'memory' })
    expect(sources.live().map((source) => source.name)).toEqual(['b', 'a'])
    expect(sources.byIngestKey(ingest_key!)?.name).toBe('b')
    expect(sources.byId(2)?.name).toBe('a')
    expect(sources.requireByName('a').id).toBe(2)
    expect([sources.byIngestKey('webhook-0'), sources.byIngestKey(''), sources.byId(3)]).toEqual([
      undefined,
      undefined,
      undefined,
    ])
    expect(() => sources.requireByName('c')).toThrow(expect.objectContaining({ code: 'not_found' }))
  })

  it('tell the doors which addresses exist, and what to read for each', () => {
    const { create, sources } = openSources()
    const app = create('app').ingest_key
    const notes = create('notes', { connector: 'memory' }).ingest_key
    create('docs', { connector: 'reference', config: { attachments: [{ name: 'a', content: 'b' }] } })
    expect(sources.routes()).toEqual([
      {
        ingestKey: app,
        sourceId: 1,
        source: 'app',
        connector: 'webhook',
        signed: false,
        wantsHeaders: true,
        paused: false,
      },
      {
        ingestKey: notes,
        sourceId: 2,
        source: 'notes',
        connector: 'memory',
        signed: false,
        wantsHeaders: false,
        paused: false,
      },
    ])
  })

  it('map and label items as their config of now says', () => {
    const { create, update, sources } = openSources()
    create('app', { config: { event_type: 'deploy', labels: [{ name: 'env', const: 'prod' }] } })
    const prepare = () => sources.requireByName('app').prepare!(bytes({ a: 1 }), undefined, 0, 0)
    expect(prepare()).toMatchObject([{ eventType: 'deploy', strings: [['env', 'prod']] }])
    update('app', { config: { event_type: 'alert' } })
    expect(prepare()).toMatchObject([{ eventType: 'alert', strings: [] }])
  })

  it('go on counting through a change', () => {
    const { create, update, sources } = openSources()
    create('app')
    const { counters } = sources.requireByName('app')
    counters.events = 4
    counters.rejected = 2
    update('app', { config: { event_type: 'x' } })
    sources.move('app', 'pause', ME)
    expect(sources.get('app').health).toMatchObject({ events_since_start: 4, rejected: 2 })
  })

  it('are the same after a restart, but for the counts of the process', () => {
    const { create, sources, reopen, store } = openSources()
    const { ingest_key } = create('app', { config: { labels: [{ name: 'a', field: 'a', primary: true }] } })
    create('gone')
    sources.remove('gone', { cascade: false, purgeEvents: false }, ME)
    sources.requireByName('app').counters.events = 4
    store.db.exec('UPDATE sources SET events = 9, last_ingest = 1000')
    const again = reopen()
    expect(again.routes()).toEqual(sources.routes())
    expect(again.byIngestKey(ingest_key!)?.config).toEqual(sources.requireByName('app').config)
    expect(again.get('app').health).toMatchObject({
      events_since_start: 0,
      events_total: 9,
      last_ingest: '1970-01-01T00:00:01.000Z',
    })
  })

  it('change only once the change is committed', () => {
    const { create, sources, store } = openSources()
    store.db.exec(
      "CREATE TEMP TRIGGER refuse BEFORE INSERT ON history BEGIN SELECT RAISE(ABORT, 'history is broken'); END",
    )
    expect(() => create('app')).toThrow('history is broken')
    expect([sources.live(), sources.routes(), sources.list()]).toEqual([[], [], []])
  })
})

describe('health', () => {
  it('of a push source waits for producers, and says when storage refuses them', () => {
    const { create, sources, world } = openSources()
    create('app')
    expect(sources.get('app').health).toEqual({
      status: 'push',
      reason: null,
      last_poll_at: null,
      last_ok_at: null,
      next_poll_at: null,
      notice: null,
      last_error: null,
      consecutive_errors: 0,
      polls: 0,
      events_since_start: 0,
      events_total: 0,
      last_ingest: null,
      rejected: 0,
    })
    world.storageReason = 'storage is at 95 % of its limit'
    expect(sources.get('app').health).toMatchObject({
      status: 'refused',
      reason: 'storage is at 95 % of its limit',
      last_error: 'storage is at 95 % of its limit',
    })
    expect(sources.list()[0]?.health.status).toBe('refused')
  })

  it('of a reference source is ok, whatever storage says, and of a paused one is paused', () => {
    const { create, sources, world } = openSources()
    create('docs', { connector: 'reference', config: { attachments: [{ name: 'a', content: 'b' }] } })
    create('app')
    sources.move('app', 'pause', ME)
    world.storageReason = 'full'
    expect(sources.list().map((source) => source.health.status)).toEqual(['paused', 'ok'])
  })

  it('of a source with a scheme and no secret is an error that says what to do', () => {
    const { create, sources } = openSources()
    create('app', { config: { signature_scheme: 'linear' } })
    expect(sources.get('app').health).toMatchObject({
      status: 'error',
      reason: 'it checks signatures but has no signing secret, so it refuses everything; enter the secret',
    })
  })
})

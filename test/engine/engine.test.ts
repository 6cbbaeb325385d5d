import { describe, expect, it } from 'vitest'
import type { IngestCall } from '../../engine/index.ts'
import { createEngine } from '../../engine/local.ts'

const T0 = Date.parse('2026-11-20T12:00:00Z')
const ME = { caller: { id: 'open', name: 'test' }, origin: 'api' as const }

/** An engine in memory whose clock the test moves. */
function openEngine(options: { maxDbSize?: number } = {}) {
  const clock = { at: T0, now: () => clock.at }
  const engine = createEngine({ dataFile: null, clock, ...options })
  const post = (ingestKey: string, body: string, more: Partial<IngestCall> = {}) =>
    engine.ingest({ ingestKey, body: Buffer.from(body), bypassCooldown: false, caller: 'open', ...more })
  const webhook = async (name: string, config: Record<string, unknown> = {}) =>
    (
      await engine.createSource(
        {
          name,
          connector: 'webhook',
          config: { labels: [{ name: 'service', field: 'service', primary: true }], ...config },
        },
        ME,
        false,
      )
    ).ingest_key!
  return { engine, clock, post, webhook }
}

describe('the engine', () => {
  it('stores what is posted and reads it back on its entity across sources', async () => {
    const { engine, post, webhook, clock } = openEngine()
    const app = await webhook('app', {
      event_type_field: 'level',
      text_template: '{msg}',
      event_time_field: 'at',
    })
    const deploys = await webhook('deploys')
    expect(
      await post(
        app,
        '[{"service":"checkout","level":"error","msg":"timeout","at":"2026-11-20T11:59:00Z"},{"service":"cart","msg":"ok"}]',
      ),
    ).toEqual({ ingested: 2, ids: ['evt_1', 'evt_2'] })
    clock.at += 1_000
    await post(deploys, '{"service":"checkout","version":9007199254740993}')
    const answer = await engine.read({ selector: { service: 'checkout' }, include_payload: true })
    expect(answer.rows.map((row) => [row.source, row.event_type, row.text, row.event_time])).toEqual([
      ['app', 'error', 'timeout', '2026-11-20T11:59:00.000Z'],
      [
        'deploys',
        'webhook_event',
        '{"service":"checkout","version":9007199254740993}',
        '2026-11-20T12:00:01.000Z',
      ],
    ])
    expect(answer.rows[1]!.raw).toBe('{"service":"checkout","version":9007199254740993}')
  })

  it('refuses bad items by index and stores the others, and stores nothing when all are bad', async () => {
    const { engine, post, webhook } = openEngine()
    const key = await webhook('app')
    const deep = `${'['.repeat(200)}${']'.repeat(200)}`
    expect(await post(key, `{"a":1}\n{broken\n{"a":${deep}}\n{"a":2}`)).toEqual({
      ingested: 2,
      ids: ['evt_1', 'evt_2'],
      rejected: [
        { index: 1, line: 2, error: expect.stringMatching(/^is not valid JSON/) },
        { index: 2, line: 3, error: 'nests deeper than 100' },
      ],
    })
    await expect(post(key, `[${deep}]`)).rejects.toMatchObject({
      code: 'invalid',
      extra: { rejected: [{ index: 0, error: 'nests deeper than 100' }] },
    })
    expect((await engine.usage()).events).toBe(2)
  })

  it('replays the answer to an Idempotency-Key and refuses the key with another body', async () => {
    const { engine, post, webhook } = openEngine()
    const key = await webhook('app')
    const [first, second] = await Promise.all([
      post(key, '{"n":1}', { idempotencyKey: 'k' }),
      post(key, '{"n":1}', { idempotencyKey: 'k' }),
    ])
    expect(second).toEqual(first)
    await expect(post(key, '{"n":2}', { idempotencyKey: 'k' })).rejects.toMatchObject({ code: 'key_reused' })
    expect(await post(key, '{"n":1}', { idempotencyKey: 'k', caller: 'key:other' })).toMatchObject({
      ingested: 1,
      ids: ['evt_2', 'evt_2'],
    })
    expect((await engine.usage()).events).toBe(2)
  })

  it('stores an item key once within its source for 72 hours', async () => {
    const { engine, post, webhook, clock } = openEngine()
    const key = await webhook('app', { dedupe_field: 'id' })
    expect(await post(key, '[{"id":1},{"id":1},{"id":2}]')).toMatchObject({ ingested: 2, duplicates: 1 })
    expect(await post(key, '{"id":1}')).toEqual({ ingested: 0, duplicates: 1 })
    clock.at += 72 * 3_600_000 + 1
    while (engine.maintain());
    expect(await post(key, '{"id":1}')).toMatchObject({ ingested: 1 })
  })

  it('tells live listeners of what fits them, once and in order, and resumes after an id', async () => {
    const { engine, post, webhook } = openEngine()
    const key = await webhook('app')
    await post(key, '[{"service":"a","n":1},{"service":"b"},{"service":"a","n":2}]')
    const seen: string[] = []
    const { stop } = await engine.tail(
      { selector: { service: 'a' }, sources: [], afterId: 'evt_1' },
      (message) =>
        seen.push(...('rows' in message ? message.rows.map((row) => row.id) : [JSON.stringify(message)])),
    )
    await post(key, '[{"service":"a","n":3},{"service":"b"}]')
    stop()
    await post(key, '{"service":"a"}')
    expect(seen).toEqual(['evt_3', 'evt_4'])
  })

  it('surfaces reference documents outside the window, as they were at the instant asked for', async () => {
    const { engine, clock } = openEngine()
    const config = (content: string) => ({
      attachments: [{ name: 'runbook', format: 'md' as const, content, labels: { service: 'checkout' } }],
      labels: [{ name: 'service', field: 'service', primary: true }],
    })
    await engine.createSource({ name: 'docs', connector: 'reference', config: config('old') }, ME, false)
    clock.at += 40 * 86_400_000
    const before = new Date(clock.at - 1).toISOString()
    await engine.updateSource('docs', { name: 'docs', connector: 'reference', config: config('new') }, ME)
    const texts = async (as_of?: string) =>
      (await engine.read({ selector: { service: 'checkout' }, window: '1m', as_of })).rows.map((row) => [
        row.text,
        row.reference,
        row.entity,
      ])
    expect(await texts()).toEqual([['runbook (md) new', true, { label: 'service', value: 'checkout' }]])
    expect(await texts(before)).toEqual([['runbook (md) old', true, { label: 'service', value: 'checkout' }]])
    await engine.deleteSource('docs', { cascade: false, purgeEvents: false }, ME)
    clock.at += 1
    expect(await texts()).toEqual([])
  })

  it('removes no more events of a source whose delete is undone, and none that come after that', async () => {
    const { engine, post, webhook } = openEngine()
    const key = await webhook('app')
    await post(key, JSON.stringify(Array(1_500).fill({ service: 'a' })))
    const { change_set } = await engine.deleteSource('app', { cascade: false, purgeEvents: true }, ME)
    engine.maintain()
    await engine.undoChangeSet(change_set!, false, ME)
    await post(key, '{"service":"b"}')
    while (engine.maintain());
    const { total } = await engine.stats({ by: 'service' })
    expect(total.now).toBe(501)
    expect((await engine.read({ selector: { service: 'b' } })).rows).toMatchObject([{ source: 'app' }])
    expect((await engine.getSource('app')).health).toMatchObject({ events_total: 501 })
  })

  it('keeps a deleted source apart from a new one of the same name, and purges in steps', async () => {
    const { engine, post, webhook } = openEngine()
    const old = await webhook('app')
    await post(old, JSON.stringify(Array.from({ length: 2_500 }, () => ({ service: 'checkout' }))))
    await engine.deleteSource('app', { cascade: false, purgeEvents: false }, ME)
    await expect(post(old, '{}')).rejects.toMatchObject({ code: 'not_found' })
    const fresh = await webhook('app')
    await post(fresh, '{"service":"checkout"}')
    expect((await engine.getSource('app')).health.events_total).toBe(1)
    expect((await engine.read({ selector: { service: 'checkout' }, limit: 2_000 })).count).toBe(2_000)
    await engine.deleteSource('app', { cascade: false, purgeEvents: true }, ME)
    expect(
      (await engine.read({ selector: { service: 'checkout' }, limit: 2_000 })).rows.some(
        (row) => row.id === 'evt_2501',
      ),
    ).toBe(false)
    while (engine.maintain());
    expect((await engine.usage()).events).toBe(2_500)
    expect((await engine.entityValues('service', 10)).values).toEqual([
      { value: 'checkout', events: 2_500, last_ingest: '2026-11-20T12:00:00.000Z' },
    ])
  })

  it('counts what is posted to a paused source as refused', async () => {
    const { engine, post, webhook } = openEngine()
    const key = await webhook('app')
    await engine.moveSource('app', 'pause', ME)
    await expect(post(key, '{"n":1}')).rejects.toThrow('paused')
    expect((await engine.getSource('app')).health.rejected).toBe(1)
  })

  it('refuses ingest that would go past 95 % of the limit, says so on health, and takes it again once there is room', async () => {
    const { engine, post, webhook, clock } = openEngine({ maxDbSize: 4_020_000 })
    const key = await webhook('app')
    const big = JSON.stringify(Array.from({ length: 100 }, () => ({ service: 'a', text: 'x'.repeat(2_000) })))
    let refused: unknown
    for (let i = 0; i < 60 && !refused; i++) {
      clock.at += 2_000
      refused = await post(key, big).then(
        () => undefined,
        (error: unknown) => error,
      )
    }
    expect(refused).toMatchObject({
      code: 'storage_full',
      status: 507,
      message: expect.stringContaining('SVC_MAX_DB_SIZE'),
    })
    expect((await engine.getSource('app')).health).toMatchObject({
      status: 'refused',
      rejected: 1,
      reason: expect.stringMatching(/needs about [\d.]+ MB did not fit; ingest is taken again below 93 %/),
    })
    expect(await engine.status()).toMatchObject({ ingestPaused: true })
    await engine.deleteSource('app', { cascade: false, purgeEvents: true }, ME)
    while (engine.maintain());
    clock.at += 2_000
    expect(await post(await webhook('b'), '{"service":"a"}')).toMatchObject({ ingested: 1 })
  })

  it('counts a label now against before', async () => {
    const { engine, post, webhook, clock } = openEngine()
    const key = await webhook('app')
    await post(key, JSON.stringify([...Array(4).fill({ service: 'a' }), { service: 'gone' }]))
    clock.at += 30 * 60_000 + 1
    await post(key, JSON.stringify([...Array(9).fill({ service: 'a' }), { service: 'b' }]))
    const stats = await engine.stats({ by: 'service' })
    expect(stats.rows).toEqual([
      { value: 'a', now: 9, before: 4, change: '+5 (x2.3)' },
      { value: 'b', now: 1, before: 0, change: 'new' },
      { value: 'gone', now: 0, before: 1, change: 'gone' },
    ])
    expect(stats.total).toEqual({ now: 10, before: 5 })
    expect((await engine.stats({ by: 'source' })).rows).toEqual([
      { value: 'app', now: 10, before: 5, change: '+5 (x2)' },
    ])
    expect(
      (await engine.histogram({ selector: { service: 'a' }, window: '1h', buckets: 4 })).buckets.map(
        (bucket) => bucket.count,
      ),
    ).toEqual([0, 4, 0, 9])
  })
})

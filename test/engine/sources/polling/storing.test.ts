import { describe, expect, it } from 'vitest'
import type { LocalEngine } from '../../../../engine/local.ts'
import type { PollMade } from '../../../../engine/sources/poller.ts'
import { ME, setup } from './setup.ts'

const CONFIG = {
  url: 'http://127.0.0.1:9/',
  id_field: 'id',
  text_template: '{id}',
  labels: [{ name: 'host', field: 'host', primary: true }],
}

/** An engine without a poller: the test settles polls itself. */
async function opened(options: Parameters<typeof setup>[0] = {}) {
  const world = setup({ ...options, onSourcesChanged: () => {} })
  await world.create('api', CONFIG)
  const due = async () => (await world.engine.duePolls(8, [])).due
  const settle = async (found: Partial<Extract<PollMade, { items: readonly string[] }>>) => {
    const [one] = await due()
    const now = world.time.now()
    const made = { began: now, ended: now, items: [], newCursor: 'next', more: false, notice: null }
    await world.engine.settlePoll({ ...one!, ...made, ...found })
  }
  return { ...world, due, settle }
}

const cursorOf = async (engine: LocalEngine, time: { advance(ms: number): void }) => {
  time.advance(60_000)
  return (await engine.duePolls(8, [])).due[0]?.cursor
}

describe('what a poll brought', () => {
  it('goes the ordinary way in: labels, triggers, live tails and the counts of its source', async () => {
    const { engine, settle, time, health } = await opened()
    await engine.createTrigger({ name: 'any', sources: ['api'], condition: { event: 'any' } }, ME)
    const seen: string[] = []
    await engine.tail({ selector: {}, sources: [] }, (message) => {
      if ('rows' in message) seen.push(...message.rows.map(({ text }) => text))
    })
    await settle({ items: ['{"id":1,"host":"a"}', '{"id":2,"host":"b"}'], notice: 'Mind the gap.' })
    const { rows } = await engine.read({ selector: { host: 'b' } })
    expect(rows).toMatchObject([
      { source: 'api', event_type: 'api_reading', text: '2', entity: { label: 'host', value: 'b' } },
    ])
    expect(seen).toEqual(['1', '2'])
    expect((await engine.listFirings({ limit: 10 })).firings).toHaveLength(2)
    expect(await health('api')).toMatchObject({
      status: 'ok',
      last_poll_at: new Date(time.now()).toISOString(),
      last_ok_at: new Date(time.now()).toISOString(),
      next_poll_at: new Date(time.now() + 60_000).toISOString(),
      notice: 'Mind the gap.',
      polls: 1,
      events_since_start: 2,
    })
    expect((await engine.status()).tallies).toEqual([
      { name: 'firings', labels: { trigger: 'any' }, value: 2 },
      { name: 'polls', labels: { source_id: expect.any(String), outcome: 'ok' }, value: 1 },
    ])
    expect(await cursorOf(engine, time)).toBe('next')
  })

  it('is missing while polls fail: a read says since when, and until when', async () => {
    const { engine, due, settle, time } = await opened()
    await settle({ items: ['{"id":1,"host":"a"}'] })
    const fail = async () => {
      time.advance(3_600_000)
      const [one] = await due()
      const now = time.now()
      await engine.settlePoll({ ...one!, began: now, ended: now, error: 'down', retryAfterMs: 0, random: 0 })
    }
    const gaps = async () => (await engine.read({ selector: { host: 'a' }, window: '1d' })).gaps
    await fail()
    expect(await gaps()).toBeUndefined()
    await fail()
    await fail()
    const from = new Date(time.now() - 3_600_000).toISOString()
    expect(await gaps()).toEqual([{ source: 'api', why: 'polls_fail', from, to: null }])
    time.advance(3_600_000)
    await settle({ items: ['{"id":2,"host":"a"}'] })
    const to = new Date(time.now()).toISOString()
    expect(await gaps()).toEqual([{ source: 'api', why: 'polls_fail', from, to }])
  })

  it('may be nothing: cursor and health are stored all the same', async () => {
    const { engine, settle, time, health } = await opened()
    expect(await health('api')).toMatchObject({ status: 'starting', last_poll_at: null, polls: 0 })
    await settle({ newCursor: 'later' })
    expect(await health('api')).toMatchObject({ status: 'ok', events_total: 0 })
    expect(await cursorOf(engine, time)).toBe('later')
  })

  it('is stored but for what cannot be: that is counted', async () => {
    const { engine, settle, time, health, texts } = await opened()
    const deep = `{"id":"deep","x":${'['.repeat(200)}${']'.repeat(200)}}`
    const large = JSON.stringify({ id: 'large', x: 'x'.repeat(1_100_000) })
    await settle({ items: ['{"id":1}', '{"broken', deep, large, '{"id":\n2}'] })
    expect(await texts('api')).toEqual(['1', '2'])
    expect(await health('api')).toMatchObject({ status: 'ok', rejected: 3, events_total: 2 })
    await settleAll(engine, time, ['not json'])
    expect(await health('api')).toMatchObject({ status: 'ok', rejected: 4 })
  })

  it('is stored item by item as it came: a list is one item, a large number keeps its digits', async () => {
    const { engine, settle } = await opened()
    await settle({ items: ['{"id":12345678901234567890}'] })
    const [row] = (await engine.read({ selector: {}, include_payload: true })).rows
    expect(row!.raw).toBe('{"id":12345678901234567890}')
  })

  it('twice is stored once, where its items have a key', async () => {
    const { settle, time, texts } = await opened()
    await settle({ items: ['{"id":1}'], newCursor: 'a' })
    time.advance(60_000)
    await settle({ items: ['{"id":1}', '{"id":2}'], newCursor: 'b' })
    expect(await texts('api')).toEqual(['1', '2'])
  })

  it('over what one transaction takes is cut, and the cursor comes with the last', async () => {
    const stored: number[] = []
    const { engine, due, time } = await opened({
      onStored: (batches) => stored.push(batches.reduce((sum, { events }) => sum + events.n, 0)),
    })
    const [one] = await due()
    const now = time.now()
    const items = Array.from({ length: 12_000 }, (_, id) => `{"id":${id}}`)
    const made = { began: now, ended: now, items, newCursor: 'end', more: false, notice: null }
    await engine.settlePoll({ ...one!, ...made })
    expect(stored).toEqual([5_000, 5_000, 2_000])
    expect(await cursorOf(engine, time)).toBe('end')
  })
})

/** Settles what is due with these items. */
async function settleAll(
  engine: LocalEngine,
  time: { now(): number; advance(ms: number): void },
  items: string[],
) {
  time.advance(60_000)
  const [one] = (await engine.duePolls(8, [])).due
  const now = time.now()
  const made = { began: now, ended: now, items, newCursor: 'more', more: false, notice: null }
  await engine.settlePoll({ ...one!, ...made })
}

describe('a poll is stored only over what it began with', () => {
  const stale = async (change: (world: Awaited<ReturnType<typeof opened>>) => Promise<unknown>) => {
    const world = await opened()
    const [one] = await world.due()
    await change(world)
    const now = world.time.now()
    const made = { began: now, ended: now, items: ['{"id":1}'], newCursor: 'late', more: false, notice: null }
    await world.engine.settlePoll({ ...one!, ...made })
    return world
  }

  it.each([
    [
      'edited',
      (world: Awaited<ReturnType<typeof opened>>) => world.update('api', { ...CONFIG, event_type: 'x' }),
    ],
    ['paused', (world: Awaited<ReturnType<typeof opened>>) => world.engine.moveSource('api', 'pause', ME)],
    ['polled', (world: Awaited<ReturnType<typeof opened>>) => world.settle({ newCursor: 'first' })],
  ])('not over a source that was %s meanwhile', async (_what, change) => {
    const { engine, time, health, texts } = await stale(change)
    expect(await texts('api')).toEqual([])
    expect(await health('api')).toMatchObject({ events_total: 0 })
    await engine.moveSource('api', 'resume', ME).catch(() => {})
    expect(await cursorOf(engine, time)).not.toBe('late')
  })

  it('not over a source that was deleted, and none of its name that came after', async () => {
    const { texts } = await stale(async ({ engine, create }) => {
      await engine.deleteSource('api', { cascade: false, purgeEvents: false }, ME)
      await create('api', CONFIG)
    })
    expect(await texts('api')).toEqual([])
  })

  it('all of it or nothing: what fails in the transaction leaves events, cursor and firings as they were', async () => {
    const { engine, settle, time, health, texts, faults } = await opened()
    await settle({ items: ['{"id":1}'], newCursor: 'a' })
    await engine.createTrigger({ name: 'any', sources: ['api'], condition: { event: 'any' } }, ME)
    time.advance(60_000)
    const [one] = (await engine.duePolls(8, [])).due
    const now = time.now()
    // Read within the transaction, after the events are written.
    const notice = { toString: () => '', length: 1, replace: () => '' } as unknown as string
    const made = { began: now, ended: now, items: ['{"id":2}'], newCursor: 'b', more: false, notice }
    await engine.settlePoll({ ...one!, ...made })
    expect(faults).toHaveLength(1)
    expect(await texts('api')).toEqual(['1'])
    expect((await engine.listFirings({ limit: 10 })).firings).toHaveLength(0)
    expect(await health('api')).toMatchObject({ status: 'error', consecutive_errors: 1, events_total: 1 })
    time.advance(3_600_000)
    expect((await engine.duePolls(8, [])).due[0]!.cursor).toBe('a')
    await settle({ items: ['{"id":2}'], newCursor: 'b' })
    expect(await texts('api')).toEqual(['1', '2'])
  })
})

import type { ServerResponse } from 'node:http'
import { describe, expect, it } from 'vitest'
import { type Answer, say } from '../../net/egress/receiver.ts'
import { receiver } from '../../net/egress/setup.ts'
import { settle, until } from '../../outbox/setup.ts'
import { ME, setup } from './setup.ts'

const json = (value: unknown): Answer =>
  say(200, { 'content-type': 'application/json' }, JSON.stringify(value))

/** Answers when the test says so. */
function held() {
  const waiting: ServerResponse[] = []
  const answer: Answer = (_received, response) => void waiting.push(response)
  return { waiting, answer }
}

describe('a source that is polled', () => {
  it('is polled as soon as it is made, then at its interval, and its events are stored once', async () => {
    const api = await receiver(json([{ id: 1 }, { id: 2 }]))
    const { create, until: polls, asleep, time, texts, health } = setup()
    await create('api', { url: api.url, id_field: 'id', text_template: '{id}' }, '30s')
    await polls(1)
    expect(await asleep()).toBe(30_000)
    expect(await texts('api')).toEqual(['1', '2'])
    time.advance(30_000)
    await polls(2)
    expect(await texts('api')).toEqual(['1', '2'])
    expect(await health('api')).toMatchObject({
      status: 'ok',
      polls: 2,
      consecutive_errors: 0,
      last_error: null,
    })
  })

  it('is polled once after a long pause, not once for each poll that was missed', async () => {
    const api = await receiver(json([]))
    const { create, until: polls, asleep, time } = setup()
    await create('api', { url: api.url }, '10s')
    await polls(1)
    await asleep()
    time.advance(30_000)
    await polls(2)
    expect(await asleep()).toBe(10_000)
    expect(api.received).toHaveLength(2)
  })

  it('is due though the clock was set back, not once it is as late as it was', async () => {
    const api = await receiver(json([]))
    const { create, until: polls, asleep, time, engine, poller } = setup()
    await create('api', { url: api.url }, '10s')
    await polls(1)
    await asleep()
    await poller.stop()
    time.advance(-3_600_000)
    expect((await engine.duePolls(8, [])).due).toHaveLength(1)
  })

  it('goes on where it stood after a restart: rows are all there is', async () => {
    const api = await receiver(json([{ id: 1 }]))
    const first = setup()
    await first.create('api', { url: api.url, id_field: 'id' })
    await first.until(1)
    await first.asleep()
    await first.poller.stop()
    first.time.advance(60_000)
    const [before] = (await first.engine.duePolls(8, [])).due
    expect(before!.cursor).toMatch(/^\{"ids":\["[0-9a-f]{16}"\]\}$/)
    expect((await first.health('api')).polls).toBe(1)
  })

  it('is polled no sooner than its connector allows, and not made with less', async () => {
    const { create, update, engine } = setup({
      port: () => ({
        duePolls: async () => ({ due: [], stale: [], next: null }),
        settlePoll: async () => {},
      }),
    })
    await expect(create('api', { url: 'http://127.0.0.1:9/' }, '9s')).rejects.toMatchObject({
      message: 'poll must be at least 10s for http_poll',
      extra: { field: 'poll' },
    })
    await create('api', { url: 'http://127.0.0.1:9/' })
    expect((await engine.getSource('api')).poll).toBe('1m')
    await expect(update('api', { url: 'http://127.0.0.1:9/' }, '1s')).rejects.toMatchObject({
      code: 'invalid',
    })
  })

  it('at most eight at once, and of each source one', async () => {
    const { waiting, answer } = held()
    const api = await receiver(answer)
    const { create, until: polls, poller } = setup()
    for (let n = 0; n < 12; n++) await create(`api${n}`, { url: `${api.url}${n}` })
    await until(() => waiting.length === 8)
    poller.nudge()
    await settle()
    expect(waiting).toHaveLength(8)
    for (const response of waiting) response.end('[]')
    await until(() => waiting.length === 12)
    for (const response of waiting.slice(8)) response.end('[]')
    await polls(12)
    expect(new Set(api.received.map(({ path }) => path)).size).toBe(12)
  })

  it('that never answers costs itself 20 s and an error', async () => {
    const { waiting, answer } = held()
    const api = await receiver(answer)
    const { create, until: polls, time, health } = setup()
    await create('api', { url: api.url })
    await until(() => waiting.length === 1)
    await settle()
    time.advance(20_000)
    await polls(1)
    expect(await health('api')).toMatchObject({
      status: 'error',
      last_error: 'the upstream gave no answer within 20 s',
      consecutive_errors: 1,
      last_ok_at: null,
    })
  })
})

describe('errors', () => {
  it('double the wait with each in a row; one that works ends it', async () => {
    const world = { answer: say(500) }
    const api = await receiver((received, response) => world.answer(received, response))
    const { create, until: polls, asleep, time, health } = setup()
    await create('api', { url: api.url }, '10s')
    const pass = async (ms: number) => {
      for (let left = ms; left > 0; ) {
        const wait = Math.min(await asleep(), left)
        time.advance(wait)
        left -= wait
      }
    }
    for (const [errors, wait] of [
      [1, 15_000],
      [2, 30_000],
      [3, 60_000],
    ] as const) {
      await polls(errors)
      expect(await health('api')).toMatchObject({
        status: 'error',
        consecutive_errors: errors,
        last_error: 'the API failed (500)',
        next_poll_at: new Date(time.now() + wait).toISOString(),
      })
      if (errors === 3) world.answer = json([])
      await pass(wait)
    }
    await polls(4)
    expect(await health('api')).toMatchObject({
      status: 'ok',
      consecutive_errors: 0,
      last_error: null,
      reason: null,
    })
    expect(await asleep()).toBe(10_000)
  })

  it('of a rate limit wait as long as the upstream asks, and no request is made until then', async () => {
    const api = await receiver(say(429, { 'retry-after': '25' }))
    const { create, until: polls, asleep, time, health } = setup()
    await create('api', { url: api.url }, '10s')
    await polls(1)
    expect(await asleep()).toBe(25_000)
    expect((await health('api')).last_error).toBe(
      'rate limited by the API (429); it asks to be left alone until 03:04 UTC',
    )
    time.advance(24_999)
    await settle()
    expect(api.received).toHaveLength(1)
    time.advance(1)
    await polls(2)
  })
})

describe('a change of a source', () => {
  it('cuts its poll off, and polls the new one at once from where it stood', async () => {
    const { waiting, answer } = held()
    const world = { answer: json([{ id: 1 }]) }
    const api = await receiver((received, response) => world.answer(received, response))
    const { create, update, until: polls, asleep, time, texts, settled } = setup()
    const config = { url: api.url, id_field: 'id', text_template: '{id}' }
    await create('api', config)
    await polls(1)
    world.answer = answer
    time.advance(await asleep())
    if (waiting.length === 0) time.advance(await asleep())
    await until(() => waiting.length === 1)
    await update('api', { ...config, event_type: 'reading' })
    await until(() => waiting.length === 2)
    waiting[1]!.end('[{"id":1},{"id":2}]')
    await polls(2)
    expect(await texts('api')).toEqual(['1', '2'])
    expect(settled[1]!.cursor).toBe('newCursor' in settled[0]! ? settled[0].newCursor : '')
  })

  it('of what it reads begins anew and says so, until it is edited again', async () => {
    const api = await receiver(json([{ id: 1 }]))
    const { create, update, until: polls, health, settled } = setup()
    const config = { url: api.url, id_field: 'id', text_template: '{id}' }
    await create('api', config)
    await polls(1)
    await update('api', { ...config, url: `${api.url}other` })
    await polls(2)
    expect(settled[1]!.cursor).toBeNull()
    const notice = 'It reads anew since 2026-01-02 03:04 UTC, because url changed.'
    expect(await health('api')).toMatchObject({ status: 'ok', notice })
    await update('api', { ...config, url: `${api.url}other`, event_type: 'x' })
    await polls(3)
    expect(settled[2]!.cursor).not.toBeNull()
    expect((await health('api')).notice).toBeNull()
  })

  it('that pauses it ends its polls; resumed it is polled at once', async () => {
    const { waiting, answer } = held()
    const api = await receiver(answer)
    const { create, engine, until: polls, health, time, texts } = setup()
    await create('api', { url: api.url })
    await until(() => waiting.length === 1)
    await engine.moveSource('api', 'pause', ME)
    await until(() => waiting[0]!.destroyed)
    time.advance(3_600_000)
    await settle()
    expect(waiting).toHaveLength(1)
    expect(await health('api')).toMatchObject({
      status: 'paused',
      reason: 'paused; resume it to poll, from where it stopped',
      next_poll_at: null,
    })
    await engine.moveSource('api', 'resume', ME)
    await until(() => waiting.length === 2)
    waiting[1]!.end('[{"a":1}]')
    await polls(1)
    expect(await texts('api')).toEqual(['{"a":1}'])
  })

  it('that deletes it cuts its poll off; undone, it goes on where it stood', async () => {
    const api = await receiver(json([{ id: 1 }]))
    const { create, engine, until: polls, settled, texts } = setup()
    await create('api', { url: api.url, id_field: 'id', text_template: '{id}' })
    await polls(1)
    const { change_set } = await engine.deleteSource('api', { cascade: false, purgeEvents: false }, ME)
    await engine.undoChangeSet(change_set!, false, ME)
    await polls(2)
    expect(settled[1]!.cursor).not.toBeNull()
    expect(await texts('api')).toEqual(['1'])
  })
})

describe('polls wait', () => {
  it('while storage is full, and the health says so', async () => {
    const api = await receiver(json([{ id: 1 }]))
    const { create, health, engine, time } = setup({ maxDbSize: 1 })
    await create('api', { url: api.url })
    await settle()
    time.advance(60_000)
    await settle()
    expect(api.received).toHaveLength(0)
    expect((await engine.duePolls(8, [])).due).toEqual([])
    expect(await health('api')).toMatchObject({
      status: 'refused',
      reason: expect.stringContaining('storage is at'),
      last_error: expect.stringContaining('storage is at'),
      consecutive_errors: 0,
    })
  })

  it('for a secret that is not there, and the health says which', async () => {
    const api = await receiver(json([]))
    const { create, asleep, health } = setup({ env: {} })
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a reference is written so
    await create('api', { url: api.url, credential: '${SVC_SECRET_API}' }, '10s')
    expect(await asleep()).toBe(10_000)
    expect(await health('api')).toMatchObject({
      status: 'error',
      reason:
        'its credential refers to what is not there, so it is not polled: the variable SVC_SECRET_API is not set',
    })
    expect(api.received).toHaveLength(0)
  })
})

describe('the store', () => {
  it('that cannot settle is told of, and the poll is made again from the same cursor', async () => {
    const api = await receiver(json([{ id: 1 }]))
    let broken = 1
    const {
      create,
      until: polls,
      asleep,
      time,
      faults,
      settled,
      texts,
    } = setup({
      port: (engine) => ({
        duePolls: engine.duePolls,
        settlePoll: async (made) => {
          if (broken-- > 0) throw new Error('the port is broken')
          await engine.settlePoll(made)
        },
      }),
    })
    await create('api', { url: api.url, text_template: 'one', id_field: 'id' })
    await until(() => faults.length > 0)
    expect(await asleep()).toBe(1_000)
    expect(faults).toEqual(['the port is broken'])
    time.advance(1_000)
    await polls(1)
    expect(settled[0]!.cursor).toBeNull()
    expect(await texts('api')).toEqual(['one'])
  })
})

describe('a stop', () => {
  it('cuts polls off, and what they would have said is read at the next start', async () => {
    const { waiting, answer } = held()
    const api = await receiver(answer)
    const { create, engine, poller, health, settled } = setup()
    await create('api', { url: api.url })
    await until(() => waiting.length === 1)
    await poller.stop()
    expect(settled).toHaveLength(0)
    expect(await health('api')).toMatchObject({ status: 'starting', consecutive_errors: 0 })
    expect((await engine.duePolls(8, [])).due).toHaveLength(1)
  })
})

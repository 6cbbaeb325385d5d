import { describe, expect, it } from 'vitest'
import { fetchOver } from '../../../../engine/net/fetch.ts'
import { createTrials } from '../../../../engine/sources/poller.ts'
import { type Answer, say } from '../../net/egress/receiver.ts'
import { client, receiver } from '../../net/egress/setup.ts'
import { noApps } from '../../net/no-apps.ts'
import { settle } from '../../outbox/setup.ts'
import { setup } from './setup.ts'

const json = (value: unknown): Answer =>
  say(200, { 'content-type': 'application/json' }, JSON.stringify(value))

const ENTRIES = {
  data: {
    items: [1, 2, 3, 4].map((id) => ({
      id: `i${id}`,
      level: 'info',
      took_ms: id * 10,
      created_at: `2026-01-01T0${id}:00:00Z`,
    })),
  },
}

/** An engine whose network calls wait in time that the test moves. */
async function opened(answer: Answer) {
  const api = await receiver(answer)
  const { engine, time, ...world } = setup({
    port: () => ({ duePolls: async () => ({ due: [], stale: [], next: null }), settlePoll: async () => {} }),
    env: { SVC_SECRET_API: 'Bearer of the environment' },
  })
  const fetch = fetchOver(client(), { audience: 'operator', timeoutMs: 60_000, maxResponseBytes: 1_000_000 })
  return {
    api,
    engine,
    time,
    ...world,
    trials: createTrials({ port: engine, fetch, tokens: noApps, clock: time, timers: time }),
  }
}

describe('a test of a source that is polled', () => {
  it('is one poll as the first is: it shows what would be stored, and stores nothing', async () => {
    const { api, engine, create, trials, texts, health } = await opened(json(ENTRIES))
    const config = {
      url: api.url,
      payload_key: 'data.items',
      id_field: 'id',
      text_template: '{id} took {took_ms}',
    }
    await create('api', config)
    const test = () => trials.testSource({ name: 'api', connector: 'http_poll', config })
    const found = { ok: true, events: 4, sample: ['i1 took 10', 'i2 took 20', 'i3 took 30'] }
    expect(await test()).toEqual(found)
    expect(await test()).toEqual(found)
    expect(await texts('api')).toEqual([])
    expect(await health('api')).toMatchObject({ status: 'starting', last_poll_at: null })
    expect((await engine.duePolls(8, [])).due[0]!.cursor).toBeNull()
  })

  it('asks with the secret that is kept, and with those of the environment', async () => {
    const { api, create, trials } = await opened(json([]))
    await create('api', { url: api.url, credential: 'stored' })
    await trials.testSource({ name: 'api', connector: 'http_poll', config: { url: api.url } })
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a reference is written so
    const config = { url: api.url, credential: '${SVC_SECRET_API}' }
    await trials.testSource({ name: 'other', connector: 'http_poll', config })
    expect(api.received.map(({ headers }) => headers.authorization)).toEqual([
      'stored',
      'Bearer of the environment',
    ])
  })

  it('says what is wrong with the upstream, the environment or the config', async () => {
    const { api, trials } = await opened(say(401))
    const test = (config: Record<string, unknown>) =>
      trials.testSource({ name: 'api', connector: 'http_poll', config: { url: api.url, ...config } })
    expect(await test({})).toEqual({
      ok: false,
      error: 'the API refused the request (401); check Credential and what it may read',
    })
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a reference is written so
    expect(await test({ credential: '${SVC_SECRET_NOT_THERE}' })).toEqual({
      ok: false,
      error: 'credential refers to what is not there: the variable SVC_SECRET_NOT_THERE is not set',
    })
    await expect(test({ url: 'ftp://a.example/' })).rejects.toMatchObject({ code: 'invalid' })
  })

  it('tells no secret that the upstream repeats, in a test and in a discovery', async () => {
    const { trials } = await opened(say(418, {}, 'tea'))
    const { api } = await opened(json({ message: 'x' }))
    const secret = 'Bearer echo-echo-0123456789'
    const echo = await receiver(say(400, {}, `bad ${secret}`))
    for (const url of [echo.url, api.url]) {
      const source = { name: 'api', connector: 'http_poll', config: { url, credential: secret } }
      const tested = JSON.stringify(await trials.testSource(source))
      const found = await trials.discoverSource(source).catch((error: Error) => error.message)
      expect(tested + JSON.stringify(found)).not.toContain('echo-echo')
    }
  })

  it('ends after 15 s', async () => {
    const { api, trials, time } = await opened(() => {})
    const tested = trials.testSource({ name: 'api', connector: 'http_poll', config: { url: api.url } })
    await api.arrived(1)
    time.advance(15_000)
    expect(await tested).toEqual({ ok: false, error: 'the upstream gave no answer within 15 s' })
  })
})

describe('discovery', () => {
  it('proposes a config that can be tested and saved as it is', async () => {
    const { api, create, trials } = await opened(json(ENTRIES))
    const found = await trials.discoverSource({
      connector: 'http_poll',
      config: { url: api.url, credential: 's3cret' },
    })
    expect(JSON.stringify(found)).not.toContain('s3cret')
    const config = found.proposed_config as Record<string, unknown>
    expect(config).toMatchObject({
      url: api.url,
      payload_key: 'data.items',
      id_field: 'id',
      event_time_field: 'created_at',
    })
    expect(await trials.testSource({ name: 'api', connector: 'http_poll', config })).toMatchObject({
      ok: true,
      events: 4,
    })
    await create('api', config)
  })

  it('is refused with what the upstream said, or that it says nothing for 30 s', async () => {
    const world = { answer: say(503) }
    const { api, trials, time } = await opened((received, response) => world.answer(received, response))
    const discover = () => trials.discoverSource({ connector: 'http_poll', config: { url: api.url } })
    await expect(discover()).rejects.toMatchObject({ code: 'invalid', message: 'the API failed (503)' })
    world.answer = () => {}
    const late = discover()
    late.catch(() => {})
    await api.arrived(2)
    await settle()
    time.advance(30_000)
    await expect(late).rejects.toMatchObject({
      code: 'invalid',
      message: 'the upstream gave no answer within 30 s',
    })
  })
})

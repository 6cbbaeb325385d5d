/** Whether runs are traced and to where: off by default, precedence, changes, credentials, what is left out. */
import { afterEach, describe, expect, it } from 'vitest'
import { partialSuccess } from '../../../../tracing/otlp.ts'
import { conclude, error, look, openTraceWorld, type TraceWorld } from './trace-world.ts'

let world: TraceWorld
afterEach(() => world?.close())
const open = async (...of: Parameters<typeof openTraceWorld>) => {
  world = await openTraceWorld(...of)
  await world.agent({ name: 'first-look', trigger: 't', prompt: 'Look at it.', model: 'm1' })
  world.models.reply('m1', () => conclude())
  return world
}
/** One more run, and what came of it at the receiver. */
async function runOnce(): Promise<number> {
  const before = world.receiver.spans().length
  world.pass(2_000)
  await world.post(error)
  await world.traced()
  return world.receiver.spans().length - before
}

describe('tracing', () => {
  it('is off by default, and says so', async () => {
    const { tracing, receiver } = await open({ endpoint: 'URL' })
    expect(await runOnce()).toBe(0)
    expect(receiver.requests).toEqual([])
    expect(await tracing.calls.getTracing()).toMatchObject({
      state: 'off',
      enabled: false,
      enabled_source: 'default',
      endpoint: receiver.url,
      endpoint_source: 'env',
      host: new URL(receiver.url).host,
      content: true,
      last_export: null,
      exported: 0,
    })
  })

  it('is set by the console over the environment, field by field, from the next run on', async () => {
    const { tracing, receiver } = await open({ enabled: true, endpoint: 'URL', apiKey: 'env-key' })
    const { saveTracing } = tracing.calls
    expect(await runOnce()).toBe(3)
    expect(receiver.requests.at(-1)!.headers.authorization).toBe('Bearer env-key')
    expect(await saveTracing({ enabled: false })).toMatchObject({ state: 'off', enabled_source: 'console' })
    expect(await runOnce()).toBe(0)
    await saveTracing({ enabled: '', api_key: 'console-key', headers: 'x-team=a%2Cb' })
    expect(await runOnce()).toBe(3)
    expect(receiver.requests.at(-1)!.headers).toMatchObject({
      authorization: 'Bearer console-key',
      'x-team': 'a,b',
    })
    await saveTracing({ headers: 'Authorization=Basic abc' })
    expect(await runOnce()).toBe(3)
    expect(receiver.requests.at(-1)!.headers.authorization).toBe('Basic abc')
    const back = await saveTracing({ api_key: '', headers: '' })
    expect(back).toMatchObject({ api_key_configured: true, api_key_source: 'env', headers: [] })
    expect(await runOnce()).toBe(3)
    expect(receiver.requests.at(-1)!.headers.authorization).toBe('Bearer env-key')
  })

  it('returns no credential, and sends none to another address than it was entered for', async () => {
    const { tracing, receiver } = await open({ enabled: true, endpoint: 'URL', apiKey: 'env-secret' })
    const { saveTracing, getTracing } = tracing.calls
    const other = receiver.url.replace('127.0.0.1', 'localhost')
    const moved = await saveTracing({ endpoint: other })
    expect(moved).toMatchObject({
      api_key_configured: false,
      note: expect.stringContaining('to the address of the environment alone') as unknown as string,
    })
    await runOnce()
    expect(receiver.requests.at(-1)!.headers.authorization).toBeUndefined()
    const saved = await saveTracing({ api_key: 'own-secret', headers: 'x-key=head-secret' })
    expect(saved).toMatchObject({ api_key_source: 'console', headers: ['x-key'] })
    expect(JSON.stringify([saved, await getTracing()])).not.toContain('secret')
    await expect(saveTracing({ endpoint: '' })).rejects.toThrow('api_key: enter it again')
    await expect(saveTracing({ endpoint: 'http://127.0.0.2:1', api_key: 'new' })).rejects.toThrow(
      'headers: enter it again',
    )
    await saveTracing({ endpoint: '', api_key: '', headers: '' })
    expect(await getTracing()).toMatchObject({ api_key_source: 'env', endpoint_source: 'env' })
  })

  it.each([
    [{ endpoint: 'ftp://x' }, 'endpoint'],
    [{ endpoint: 'http://u:p@127.0.0.1' }, 'endpoint'],
    [{ endpoint: 'http://169.254.169.254' }, 'endpoint: target address is not allowed'],
    [{ provider: 'else' }, 'provider must be one of otlp, collector'],
    [{ headers: 'nothing' }, 'headers must be name=value pairs'],
    [{ headers: 'content-type=a' }, 'headers must not set content-type'],
  ])('refuses %j', async (body, sentence) => {
    await open()
    await expect(world.tracing.calls.saveTracing(body)).rejects.toThrow(sentence)
  })

  it('needs an endpoint, which a preset may have', async () => {
    const { tracing } = await open({ enabled: true })
    expect(await tracing.calls.getTracing()).toMatchObject({
      state: 'incomplete',
      host: null,
      note: 'no traces are sent: set an endpoint',
    })
    expect(await tracing.calls.testTracing()).toEqual({
      ok: false,
      ms: 0,
      failed: 'settings',
      error: 'no endpoint is set',
    })
    expect(await runOnce()).toBe(0)
    expect(await tracing.calls.saveTracing({ provider: 'collector' })).toMatchObject({
      state: 'on',
      host: '127.0.0.1:4318',
    })
  })

  it('sends no messages, prompts, arguments or results with content off', async () => {
    const { models, receiver, post, traced } = await open({ enabled: true, endpoint: 'URL', content: false })
    models.reply('m1', [look, conclude({ headline: 'Gateway down' })])
    await post({ ...error, msg: 'a private sentence' })
    await traced()
    const [{ body, spans }] = receiver.requests as [(typeof receiver.requests)[0]]
    expect(spans.map(({ name }) => name).sort()).toEqual([
      'chat m1',
      'chat m1',
      'conclude',
      'first-look',
      'read',
    ])
    for (const text of ['private', 'Look at it', 'Let me see', 'gateway', 'Gateway', '"window"'])
      expect(body.includes(text), text).toBe(false)
    const names = new Set(spans.flatMap(({ attributes }) => Object.keys(attributes)))
    expect([...names].filter((name) => /messages|value|arguments|note|definitions/.test(name))).toEqual([])
    expect(spans.find(({ name }) => name === 'first-look')!.attributes).toMatchObject({
      'svc.outcome': 'finding',
      'svc.rounds': 2,
    })
  })

  it('sends nothing that looks like a secret, wherever it was said', async () => {
    const canary = `ghp_${'canary'.repeat(6)}`
    const { models, receiver, post, traced } = await open({
      enabled: true,
      endpoint: 'URL',
      apiKey: 'canary-of-tracing',
    })
    models.reply('m1', [
      {
        text: `I use ${canary}.`,
        calls: [
          {
            name: 'read',
            arguments: { selector: { service: canary }, password: 'canary-pw', text: 'x', to: 'never' },
          },
        ],
      },
      { calls: [{ name: canary, arguments: { api_key: 'canary-arg' } }] },
      conclude({ summary: `The token is ${canary}; password=canary-said.`, headline: canary }),
    ])
    await post({ ...error, msg: `Authorization: Bearer canary-bearer-123 ${canary}`, region: canary })
    await traced()
    const [{ body, spans }] = receiver.requests as [(typeof receiver.requests)[0]]
    expect(spans).toHaveLength(7)
    expect(body.includes('[redacted')).toBe(true)
    expect(body.includes('canary')).toBe(false)
  })
})

describe('a receiver', () => {
  it('that refuses costs spans and nothing else, and is told of', async () => {
    const { tracing, receiver, faults } = await open({ enabled: true, endpoint: 'URL', apiKey: 'key-1234' })
    receiver.answer(401, Buffer.from('bad key key-1234'))
    expect(await runOnce()).toBe(3)
    expect(await world.settled()).toMatchObject([{ status: 'succeeded' }])
    const status = await tracing.calls.getTracing()
    expect(status).toMatchObject({
      exported: 0,
      dropped: 3,
      last_export: { ok: false, spans: 3, error: 'answered 401: check the API key or the headers' },
    })
    expect(faults).toEqual([])
    receiver.answer(200)
    await runOnce()
    expect(await tracing.calls.tracingCounts()).toEqual({ exported: 3, dropped: 3 })
    expect((await tracing.calls.getTracing()).last_export).toMatchObject({ ok: true, error: null })
  })

  it('may leave spans out, and say why', async () => {
    const { tracing, receiver } = await open({ enabled: true, endpoint: 'URL', apiKey: 'key-1234' })
    receiver.answer(200, partialSuccess(1, 'too old for key-1234'))
    await runOnce()
    expect(await tracing.calls.getTracing()).toMatchObject({
      exported: 2,
      dropped: 1,
      last_export: { ok: false, error: 'it left out 1 of 3 spans: too old for ***' },
    })
  })

  it.each([
    [401, 'credential'],
    [404, 'address'],
    [415, 'format'],
    [503, 'receiver'],
    [302, 'address'],
  ])('that answers a test span with %i is to be looked at for its %s', async (status, failed) => {
    const { tracing, receiver } = await open({ endpoint: 'URL' })
    receiver.answer(status)
    expect(await tracing.calls.testTracing()).toMatchObject({ ok: false, failed })
    receiver.answer(200)
    expect(await tracing.calls.testTracing()).toMatchObject({ ok: true })
    expect(receiver.spans().at(-1)).toMatchObject({ name: 'tracing test', attributes: { 'svc.test': true } })
  })

  it('that never answers holds up neither a run nor a stop for more than two seconds', async () => {
    const { tracing, receiver, post, settled, time } = await open({ enabled: true, endpoint: 'URL' })
    receiver.answer(0)
    const asked = receiver.next()
    await post(error)
    expect(await settled()).toMatchObject([{ status: 'succeeded' }])
    await new Promise((resolve) => setImmediate(resolve))
    const stopped = tracing.stop()
    await asked
    time.advance(2_000)
    await stopped
  })

  it('gets what waited when it is time, not what waited when tracing was switched off', async () => {
    const { tracing, receiver, post, settled, time } = await open({ enabled: true, endpoint: 'URL' })
    const waits = async () => {
      while (!time.waits().includes(2_000)) await new Promise((resolve) => setImmediate(resolve))
    }
    await post(error)
    await settled()
    await waits()
    await tracing.calls.saveTracing({ enabled: false })
    time.advance(2_000)
    expect(receiver.requests).toEqual([])
    expect(await tracing.calls.tracingCounts()).toEqual({ exported: 0, dropped: 3 })
    await tracing.calls.saveTracing({ enabled: true })
    world.pass(2_000)
    await post(error)
    await settled()
    await waits()
    const asked = receiver.next()
    time.advance(2_000)
    expect((await asked).spans).toHaveLength(3)
  })
})

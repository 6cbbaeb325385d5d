/** Tries, waits, time and cancellation of a call. */
import { describe, expect, it } from 'vitest'
import { ModelFault } from '../../engine/agents/models/types.ts'
import type { ScriptedReply } from './scripted-server.ts'
import { KEY, KINDS, modelsOf, providerAt, scripted, sleeping, world } from './setup.ts'

/** The fault of a call that fails. */
async function fault(call: Promise<unknown>): Promise<ModelFault> {
  const error = await call.then(
    () => null,
    (error: unknown) => error,
  )
  expect(error).toBeInstanceOf(ModelFault)
  return error as ModelFault
}

describe.each(KINDS)('%s', (kind) => {
  it.each<[string, ScriptedReply]>([
    ['429', { status: 429 }],
    ['408', { status: 408 }],
    ['409', { status: 409 }],
    ['500', { status: 500 }],
    ['529', { status: 529, error: 'Overloaded', errorType: 'overloaded_error' }],
    ['a connection closed before the head', { cut: 'before' }],
    ['a connection closed within the reply', { text: 'half of it', cut: 'within' }],
    [
      'an error within the stream',
      { text: 'half', fault: { type: 'overloaded_error', message: 'Overloaded' } },
    ],
  ])('is tried again after %s', async (_what, first) => {
    const { server, ask, time } = await world(kind)
    server.reply('m1', [first, { text: 'at last' }])
    const asked = ask()
    expect(await sleeping(time)).toBe(500)
    time.advance(500)
    expect(await asked).toMatchObject({ text: 'at last', tries: 2, ms: 500 })
  })

  it('waits as long as it is asked to, and no longer than a minute', async () => {
    const { server, ask, time } = await world(kind)
    const date = new Date(time.now() + 40_000).toUTCString()
    server.reply('m1', [
      { status: 429, headers: { 'retry-after': '7' } },
      { status: 529, headers: { 'retry-after': date } },
      { status: 503, headers: { 'retry-after': '61' }, error: 'come back later' },
    ])
    const failed = fault(ask({ timeoutMs: 600_000 }))
    expect(await sleeping(time)).toBe(7_000)
    time.advance(7_000)
    expect(await sleeping(time)).toBe(33_000)
    time.advance(33_000)
    const { code, status, message } = await failed
    expect([code, status]).toEqual(['overloaded', 503])
    expect(message).toContain('come back later')
    expect(server.requests).toHaveLength(3)
  })

  it('is tried four times, each after a longer wait', async () => {
    const { server, ask, time } = await world(kind)
    server.reply('m1', () => ({ status: 503, error: 'busy' }))
    const failed = fault(ask())
    for (const wait of [500, 1_000, 2_000]) {
      expect(await sleeping(time)).toBe(wait)
      time.advance(wait)
    }
    expect(await failed).toMatchObject({ code: 'overloaded', status: 503 })
    expect(server.requests).toHaveLength(4)
  })

  it('is not waited for beyond the time of the call', async () => {
    const { server, ask } = await world(kind)
    server.reply('m1', [{ status: 429, headers: { 'retry-after': '30' } }])
    expect(await fault(ask({ timeoutMs: 20_000 }))).toMatchObject({ code: 'overloaded', status: 429 })
  })

  it.each<[string, ScriptedReply]>([
    ['400', { status: 400, error: 'bad request' }],
    ['401', { status: 401 }],
    ['403', { status: 403 }],
    ['404', { status: 404 }],
    ['a redirect', { status: 302, headers: { location: 'http://127.0.0.1:1/' }, body: '' }],
    ['a quota that is used up', { status: 429, errorType: 'insufficient_quota' }],
    [
      'an account without money, as Kimi says it',
      {
        ...{ status: 429, errorType: 'exceeded_current_quota_error' },
        error: 'Your account is suspended due to insufficient balance, please recharge your account',
      },
    ],
  ])('is not tried again after %s', async (_what, reply) => {
    const { server, ask } = await world(kind)
    server.reply('m1', () => reply)
    expect(await fault(ask())).toMatchObject({
      code: 'refused',
      status: reply.status,
      provider: expect.any(String),
    })
    expect(server.requests).toHaveLength(1)
  })

  it('is called a web page where one comes for an answer, and not asked for it again', async () => {
    const { server, ask } = await world(kind)
    const page = { headers: { 'content-type': 'text/html; charset=utf-8' }, body: '<html><b>Sign in</b>' }
    server.reply('m1', [page, { ...page, status: 404 }])
    const [found, missing] = [await fault(ask()), await fault(ask())]
    expect([found.code, found.later, missing.code, missing.status]).toEqual([
      'unreachable',
      null,
      'refused',
      404,
    ])
    for (const { message } of [found, missing])
      expect(message).toMatch(/: a web page came for an answer: check/)
    expect(server.requests).toHaveLength(2)
  })

  it('is not tried again once a piece of its reply was handed on', async () => {
    const { server, ask } = await world(kind)
    server.reply('m1', () => ({ text: 'half of it', cut: 'within' }))
    const pieces: string[] = []
    const failed = await fault(ask({ onText: (piece) => pieces.push(piece) }))
    expect([failed.code, pieces, server.requests.length]).toEqual(['unreachable', ['half '], 1])
    expect(failed.message).toBe(`${failed.provider}: the connection broke off within the reply`)
  })

  it('has its time for all of it', async () => {
    const { server, ask, time } = await world(kind)
    server.reply('m1', () => ({ delayUntil: new Promise(() => {}) }))
    const failed = fault(ask({ timeoutMs: 5_000 }))
    while (server.requests.length === 0) await new Promise((resolve) => setImmediate(resolve))
    time.advance(5_000)
    const { code, message } = await failed
    expect(code).toBe('timeout')
    expect(message).toContain('no reply within 5 s')
    expect(time.waits()).toEqual([])
  })

  it('is cut off within its reply, and while it waits', async () => {
    const { server, ask, time } = await world(kind)
    server.reply('m1', [{ text: 'one two', pauseUntil: new Promise(() => {}) }, { status: 500 }])
    const first = new AbortController()
    const cut = fault(ask({ signal: first.signal, onText: () => first.abort() }))
    expect((await cut).code).toBe('aborted')
    const second = new AbortController()
    const waiting = fault(ask({ signal: second.signal }))
    await sleeping(time)
    second.abort()
    expect((await waiting).code).toBe('aborted')
    expect((await fault(ask({ signal: AbortSignal.abort() }))).code).toBe('aborted')
    expect(time.waits()).toEqual([])
  })

  it('closes the connection of a call that was cut off', async () => {
    const { server, ask } = await world(kind)
    server.reply('m1', [{ endless: true }])
    const controller = new AbortController()
    const failed = fault(ask({ signal: controller.signal, onText: () => controller.abort() }))
    expect((await failed).code).toBe('aborted')
    // Closing waits for the server's own end of the reply, which is the closed connection.
    await server.close()
  })

  it('tells of an error without the credential, in 300 characters', async () => {
    const { server, ask } = await world(kind)
    server.reply('m1', () => ({ status: 401, error: `Incorrect key ${KEY}: ${'why '.repeat(200)}${KEY}` }))
    const { message, status } = await fault(ask())
    expect(status).toBe(401)
    expect(message).toContain('Incorrect key ***: why why')
    expect(message).not.toContain(KEY)
    expect(message.length).toBeLessThan(330)
  })
})

describe('an error that an endpoint writes in another form', () => {
  const google = (details: object[]) =>
    JSON.stringify([
      { error: { code: 429, message: 'You exceeded your quota.', status: 'RESOURCE_EXHAUSTED', details } },
    ])
  const quota = (quotaId: string) => ({ '@type': 'google.rpc.QuotaFailure', violations: [{ quotaId }] })
  const waits = { '@type': 'google.rpc.RetryInfo', retryDelay: '7.5s' }
  const JSON_TYPE = { 'content-type': 'application/json' }

  it.each<[string, number, string, string, string]>([
    [
      'Gemini',
      400,
      '[{"error": {"code": 400, "message": "API key not valid."}}]',
      'refused',
      'API key not valid.',
    ],
    [
      'vLLM',
      400,
      '{"object": "error", "message": "This model\'s maximum context length is 4096 tokens.", "code": 400}',
      'overflow',
      "This model's maximum context length is 4096 tokens.",
    ],
    ['Mistral', 401, '{"detail": "Unauthorized"}', 'refused', 'Unauthorized'],
    ['FastAPI', 400, '{"errors": [{"message": "no such route"}]}', 'refused', 'no such route'],
    ['Ollama', 404, '{"error": "model not found"}', 'refused', 'model not found'],
    ['no JSON', 403, 'Forbidden by the proxy', 'refused', '403 Forbidden by the proxy'],
  ])('is read: %s', async (_who, status, body, code, said) => {
    const { server, ask } = await world('compatible')
    server.reply('m1', () => ({ status, body, headers: JSON_TYPE }))
    expect(await fault(ask())).toMatchObject({ code, status, message: `gateway: ${said}` })
  })

  it('is waited for as long as it says, and not at all where the quota of the day is used up', async () => {
    const { server, ask, time } = await world('compatible')
    server.reply('m1', [
      { status: 429, body: google([quota('RequestsPerMinutePerProject'), waits]), headers: JSON_TYPE },
      { status: 429, body: google([quota('RequestsPerDayPerProject-FreeTier'), waits]), headers: JSON_TYPE },
    ])
    const failed = fault(ask())
    expect(await sleeping(time)).toBe(7_500)
    time.advance(7_500)
    expect(await failed).toMatchObject({ code: 'refused', message: 'gateway: You exceeded your quota.' })
    expect(server.requests).toHaveLength(2)
  })
})

describe('a provider that cannot be reached', () => {
  it('says so after its tries', async () => {
    const gone = await scripted()
    await gone.close()
    const { ask, time } = modelsOf({ providers: [providerAt(gone, 'compatible')] })
    const failed = fault(ask())
    for (const wait of [500, 1_000, 2_000]) {
      await sleeping(time)
      time.advance(wait)
    }
    const { code, message } = await failed
    expect([code, message]).toEqual(['unreachable', 'gateway: connection refused'])
  })

  it('at the address where clouds hand out credentials is not tried', async () => {
    for (const url of ['http://169.254.169.254', 'http://[fd00:ec2::254]', 'file:///etc/passwd']) {
      const { ask } = modelsOf({ providers: [providerAt({ url }, 'compatible')] })
      expect((await fault(ask())).code).toBe('unreachable')
    }
  })
})

describe('without a provider', () => {
  it('says what to set', async () => {
    const { ask, models } = modelsOf({})
    const { code, message } = await fault(ask())
    expect(code).toBe('no_provider')
    expect(message).toContain('PROVIDERA_API_KEY')
    await expect(models.resolve('', '')).rejects.toMatchObject({ code: 'no_provider' })
  })
})

describe('the provider and model of a call', () => {
  const at = { url: 'http://127.0.0.1:1' }
  const known = () =>
    modelsOf({
      providers: [
        { ...providerAt(at, 'compatible'), defaultModel: 'g1', models: ['g1', 'g2'] },
        { ...providerAt(at, 'providera'), defaultModel: 'a1' },
        { ...providerAt(at, 'providerb') },
      ],
    }).models
  it.each([
    ['', '', 'gateway', 'g1'],
    ['', 'anything', 'gateway', 'anything'],
    ['providera', '', 'providera', 'a1'],
    ['providera', 'a2', 'providera', 'a2'],
    ['gone', 'a2', 'gateway', 'g1'],
    ['gone', 'g2', 'gateway', 'g2'],
  ])('%j and %j are %s and %s', async (provider, model, expected, name) => {
    expect(await known().resolve(provider, model)).toMatchObject({ provider: expected, model: name })
  })
  it('say that the list of models was asked for, where no model is known and the listing fails', async () => {
    await expect(known().resolve('providerb', '')).rejects.toMatchObject({
      code: 'unreachable',
      message: expect.stringContaining('its models were asked for, to take one by default'),
    })
  })
})

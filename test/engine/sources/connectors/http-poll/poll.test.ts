import { describe, expect, it, onTestFinished } from 'vitest'
import { systemTimers } from '../../../../../engine/clock.ts'
import { fetchOver } from '../../../../../engine/net/fetch.ts'
import { type Polled, UpstreamError } from '../../../../../engine/sources/connectors/connector.ts'
import { httpPoll } from '../../../../../engine/sources/connectors/http-poll.ts'
import { type Answer, say } from '../../../net/egress/receiver.ts'
import { client, receiver } from '../../../net/egress/setup.ts'

const NOW = Date.UTC(2026, 0, 2, 3, 4, 5)
const json = (value: unknown): Answer =>
  say(200, { 'content-type': 'application/json' }, JSON.stringify(value))

/** An API and what polls of it bring. */
async function api(answer: Answer) {
  const upstream = await receiver(answer)
  const stop = new AbortController()
  onTestFinished(() => stop.abort())
  const fetch = fetchOver(client(), {
    audience: 'operator',
    timeoutMs: 60_000,
    maxResponseBytes: 16 * 1024 * 1024,
  })
  const poll = (config: Record<string, unknown> = {}, cursor: string | null = null): Promise<Polled> =>
    httpPoll.poll({ url: upstream.url, ...config }, cursor, {
      fetch,
      clock: { now: () => NOW },
      timers: systemTimers,
      signal: stop.signal,
    })
  return { upstream, poll, stop }
}

const failure = async (polled: Promise<unknown>): Promise<[string, number | null]> => {
  const error = await polled.then(
    () => null,
    (thrown: unknown) => thrown,
  )
  expect(error).toBeInstanceOf(UpstreamError)
  const { message, retryAfterMs } = error as UpstreamError
  return [message, retryAfterMs]
}

describe('a request', () => {
  it('is a GET that asks for JSON, with the headers and the credential', async () => {
    const { upstream, poll } = await api(json([]))
    await poll({ headers: { 'X-Tenant': 'a' }, credential: 'Bearer secret\n' })
    expect(upstream.received[0]).toMatchObject({
      method: 'GET',
      headers: { accept: 'application/json', 'x-tenant': 'a', authorization: 'Bearer secret' },
      body: '',
    })
  })

  it('may be a POST with a body, and the credential in a header of its own', async () => {
    const { upstream, poll } = await api(json([]))
    await poll({ method: 'POST', body: { since: 1 }, credential: 'secret', credential_header: 'X-Api-Key' })
    expect(upstream.received[0]).toMatchObject({
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': 'secret' },
      body: '{"since":1}',
    })
    expect(upstream.received[0]!.headers).not.toHaveProperty('authorization')
  })

  it('follows redirects, and gives the credential to no other origin', async () => {
    const other = await receiver(json([{ a: 1 }]))
    const { poll } = await api(say(302, { location: `${other.url}elsewhere` }))
    const { items } = await poll({ credential: 'secret', headers: { 'X-Key': 'mine' } })
    expect(items).toEqual(['{"a":1}'])
    expect(other.received[0]!.headers).not.toHaveProperty('authorization')
    expect(other.received[0]!.headers).not.toHaveProperty('x-key')
  })
})

describe('the entries', () => {
  it('are the answer, or what lies at the payload key, byte for byte', async () => {
    const text = '{"data":{"items":[{"id":12345678901234567890, "a": 1.0},[1,2],"x"]},"data.flat":[7]}'
    const { poll } = await api(say(200, {}, text))
    expect((await poll()).items).toEqual([text])
    expect((await poll({ payload_key: 'data.items' })).items).toEqual([
      '{"id":12345678901234567890, "a": 1.0}',
      '[1,2]',
      '"x"',
    ])
    expect((await poll({ payload_key: 'data.items.0' })).items).toEqual([
      '{"id":12345678901234567890, "a": 1.0}',
    ])
    expect((await poll({ payload_key: 'data.items.0.a' })).items).toEqual(['1.0'])
    expect((await poll({ payload_key: 'data.flat' })).items).toEqual(['7'])
  })

  const TEXT = '[{"id":1,"city":"Zürich"}]'
  it.each([
    ['a byte order mark', 'application/json', Buffer.from(`\ufeff${TEXT}`)],
    ['Latin-1', 'application/json; charset=ISO-8859-1', Buffer.from(TEXT, 'latin1')],
    ['UTF-16', 'application/json; charset=utf-16', Buffer.from(`\ufeff${TEXT}`, 'utf16le')],
    ['a charset that is none', 'application/json; charset="x-none"', Buffer.from(TEXT)],
  ])('are read in %s', async (_form, type, bytes) => {
    const { poll } = await api((_received, response) => {
      response.writeHead(200, { 'content-type': type }).end(bytes)
    })
    expect((await poll({ id_field: 'id' })).items).toEqual(['{"id":1,"city":"Zürich"}'])
  })

  it.each([
    ['no content', say(204), {}],
    ['null', json(null), {}],
    ['null at the payload key', json({ items: null }), { payload_key: 'items' }],
  ])('are none where the API answers with %s', async (_what, answer, config) => {
    const { poll } = await api(answer)
    const polled = await poll({ id_field: 'id', ...config })
    expect([polled.items, polled.notice]).toEqual([[], undefined])
    expect((await poll(config)).items).toEqual([])
  })

  it('of a list over 1,000 are the first, and that is said', async () => {
    const { poll } = await api(json(Array.from({ length: 1_234 }, (_, id) => ({ id }))))
    const { items, notice } = await poll({ id_field: 'id' })
    expect(items).toHaveLength(1_000)
    expect(notice).toBe('The answer has 1234 entries, of which the first 1000 are read.')
  })

  it('come oldest first where each has a time, else in the order of the answer', async () => {
    const { poll } = await api(
      json([{ at: 1_767_000_002 }, { at: '2025-12-29T09:20:01Z' }, { at: '1767000000' }]),
    )
    expect((await poll({ event_time_field: 'at' })).items).toEqual([
      '{"at":"1767000000"}',
      '{"at":"2025-12-29T09:20:01Z"}',
      '{"at":1767000002}',
    ])
    expect((await poll({ event_time_field: 'other' })).items[0]).toBe('{"at":1767000002}')
  })

  it('with an id are read once; one without is left out and counted; large numbers are told apart', async () => {
    const world = { entries: '[{"id":9007199254740993},{"id":9007199254740992},{"x":1},{"id":"a"}]' }
    const { poll } = await api((_received, response) => void response.end(world.entries))
    const first = await poll({ id_field: 'id' })
    expect(first.items).toHaveLength(3)
    expect(first.notice).toBe('1 of 4 entries has no id and was left out.')
    world.entries = '[{"id":"b"},{"id":"b","again":true},{"id":9007199254740993},{"id":"a"}]'
    const second = await poll({ id_field: 'id' }, first.cursor)
    expect(second.items).toEqual(['{"id":"b"}'])
    expect((await poll({ id_field: 'id' }, second.cursor)).items).toEqual([])
  })

  it('remembered are bounded, and those of the last answer are never forgotten', async () => {
    const page = { from: 0 }
    const entries = () => Array.from({ length: 1_000 }, (_, i) => ({ id: page.from + i }))
    const { poll } = await api((_received, response) => void response.end(JSON.stringify(entries())))
    let cursor: string | null = null
    for (page.from = 0; page.from < 5_000; page.from += 1_000)
      cursor = (await poll({ id_field: 'id' }, cursor)).cursor
    expect((JSON.parse(cursor!) as { ids: string[] }).ids).toHaveLength(2_000)
    page.from = 4_000
    expect((await poll({ id_field: 'id' }, cursor)).items).toEqual([])
  })

  it('of a list without an id field come again each time, and that is said', async () => {
    const { poll } = await api(json([{ a: 1 }]))
    expect(await poll()).toEqual({
      items: ['{"a":1}'],
      cursor: null,
      notice: 'Without an id field each poll stores every entry again.',
    })
  })
})

describe('an API that fails', () => {
  it.each([
    [
      429,
      { 'retry-after': '120' },
      'rate limited by the API (429); it asks to be left alone until 03:06 UTC',
      120_000,
    ],
    [429, {}, 'rate limited by the API (429)', null],
    [
      503,
      { 'retry-after': 'Fri, 02 Jan 2026 03:05:05 GMT' },
      'the API failed (503); it asks to be left alone until 03:05 UTC',
      60_000,
    ],
    [500, { 'retry-after': 'soon' }, 'the API failed (500)', null],
    [500, { 'retry-after': '1.5' }, 'the API failed (500); it asks to be left alone until 03:04 UTC', 1_500],
    [
      429,
      { 'retry-after': '99999999999' },
      'rate limited by the API (429); it asks to be left alone until 04:04 UTC',
      3_600_000,
    ],
    [
      503,
      { 'retry-after': 'Friday, 02-Jan-26 09:05:05 GMT' },
      'the API failed (503); it asks to be left alone until 04:04 UTC',
      3_600_000,
    ],
    [
      503,
      { 'retry-after': 'Fri Jan  2 03:05:05 2026' },
      'the API failed (503); it asks to be left alone until 03:05 UTC',
      60_000,
    ],
    [503, { 'retry-after': '0' }, 'the API failed (503); it asks to be left alone until 03:04 UTC', 0],
    [401, {}, 'the API refused the request (401); check Credential and what it may read', null],
    [403, {}, 'the API refused the request (403); check Credential and what it may read', null],
    [
      403,
      { 'retry-after': '60' },
      'the API refused the request for now (403); it asks to be left alone until 03:05 UTC',
      60_000,
    ],
    [404, {}, 'the API has nothing at this URL (404); check the URL', null],
    [418, {}, 'the API answered 418; check the URL and what is sent', null],
  ])('with %s says so', async (status, headers, message, wait) => {
    const { poll } = await api(say(status, headers as Record<string, string>, 'secret words'))
    expect(await failure(poll({ credential: 'secret' }))).toEqual([message, wait])
  })

  it('to be reached says why', async () => {
    const { upstream, poll } = await api(json([]))
    await upstream.close()
    expect(await failure(poll())).toEqual([
      'the API cannot be reached: connection refused; check the URL, and that it can be reached from here',
      null,
    ])
  })

  it('to answer with JSON says with what it did', async () => {
    const { poll } = await api(say(200, { 'content-type': 'text/html; charset=utf-8' }, '<html>'))
    expect((await failure(poll()))[0]).toBe(
      'the API did not answer with JSON but with text/html; check the URL, which may lead to a page for people',
    )
  })

  it('to have the payload key says what there is', async () => {
    const { poll } = await api(json({ data: [], next: null }))
    expect((await failure(poll({ payload_key: 'items' })))[0]).toBe(
      'the answer has nothing at payload key items; it is an object with data, next',
    )
  })

  it('to stop is not read past 16 MiB', async () => {
    const chunk = Buffer.alloc(1024 * 1024, 0x20)
    const { poll } = await api((_received, response) => {
      const more = () => {
        while (!response.destroyed && response.write(chunk));
      }
      response.on('drain', more)
      more()
    })
    expect((await failure(poll()))[0]).toMatch(
      /^the API (answered with more than 16 MiB|broke its answer off)/,
    )
  })

  it('to answer in time is cut off', async () => {
    const { upstream, poll, stop } = await api(() => {})
    const polled = poll()
    await upstream.arrived(1)
    stop.abort()
    await expect(polled).rejects.toMatchObject({ name: 'AbortError' })
  })
})

describe('a config', () => {
  const faults = (config: Record<string, unknown>) =>
    httpPoll.validate!({ url: 'https://a.example/', ...config })

  it.each([
    [{ url: 'https://' }, 'config.url must be an absolute http or https address'],
    [
      { url: 'https://me:pw@a.example/' },
      'config.url must not contain a user name or a password; put them in credential',
    ],
    [{ url: 'https://a.example:99999/' }, 'config.url must be an absolute http or https address'],
    [{ body: { a: 1 } }, 'config.body is only sent with method POST'],
    [
      { headers: { authorization: 'x' } },
      'config.headers.authorization is the credential header; put its value in credential',
    ],
    [{ headers: { Host: 'x' } }, 'config.headers.Host belongs to the connection and cannot be set'],
    [{ headers: { 'X-A': 'a\nb' } }, 'config.headers.X-A contains characters that a header cannot carry'],
  ])('%j is refused', (config, fault) => {
    expect(faults(config)).toEqual([fault])
  })

  it('may post', () => {
    expect(faults({ method: 'POST', body: {}, headers: { 'X-A': 'é' } })).toEqual([])
  })
})

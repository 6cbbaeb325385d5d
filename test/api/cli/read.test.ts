import { afterEach, describe, expect, it } from 'vitest'
import { answer, type Stub, startStub, svc } from './cli-harness.ts'

const row = {
  id: 'evt_1',
  offset: 'T-5s',
  source: 'logs',
  source_type: 'event_stream',
  event_type: 'deploy',
  event_time: '2026-11-20T10:00:00.000Z',
  ingested_at: '2026-11-20T10:00:00.100Z',
  entity: { label: 'service', value: 'checkout' },
  labels: { service: 'checkout' },
  text: 'deployed \u001b]0;title\u0007\u202egnp',
}
const result = {
  payload: 'read\n[T-5s] [logs] deployed \u001b]0;title\u0007\u202egnp',
  count: 1,
  sources: ['logs'],
  rows: [row],
  next_cursor: 'c2',
  truncated: true,
  as_of: row.ingested_at,
  from: row.event_time,
  to: row.ingested_at,
}

let stub: Stub
afterEach(() => stub.close())
const daemon = async (body: unknown, status = 200) => {
  stub = await startStub((_seen, response) => answer(response, status, body))
  return ['--svcd', stub.url]
}

describe('svc read', () => {
  it('A12: says where a search stopped, and how to go on, with and without a row', async () => {
    const searched_to = '2026-11-19T10:00:00.000Z'
    const stopped = { ...result, scanned: 100_000, searched_to, notice: 'the search stopped' }
    const sentence = `the search looked at 100,000 events and stopped at ${searched_to}; to search on from there, repeat with --cursor c2\n`
    const some = await svc(['read', 'service=checkout', '--text', 'x', ...(await daemon(stopped))])
    expect(some.err).toBe(sentence)
    await stub.close()
    const none = { ...stopped, rows: [], count: 0, payload: 'no such events so far' }
    const ran = await svc(['read', 'service=checkout', '--text', 'x', ...(await daemon(none))])
    expect([ran.code, ran.err]).toEqual([0, sentence])
  })

  it('C2: says of an empty window when there was something, on a terminal', async () => {
    const empty = { ...result, rows: [], count: 0, next_cursor: null, truncated: false }
    const said = async (last_seen: string | null) => {
      const at = await daemon({ ...empty, last_seen })
      const { err } = await svc(['read', 'service=checkout', ...at], { isTerminal: true })
      await stub.close()
      return err
    }
    const window = `no events from ${result.from} to ${result.to}`
    expect(await said('2026-11-01T10:00:00.000Z')).toBe(`${window}; last seen 2026-11-01T10:00:00.000Z\n`)
    expect(await said(null)).toBe(`${window}, nor at any other time\n`)
    await daemon(empty)
  })

  it('sends the pairs as one selector and every option in its field', async () => {
    const at = await daemon(result)
    const options = [
      '--window',
      '1h',
      '--limit',
      '50',
      '--order',
      'desc',
      '--cursor',
      'c1',
      '--type',
      'a',
      '--type',
      'b',
      '--source',
      's',
      '--text',
      'x y',
      '--payload',
      '--as-of',
      '2026-01-01T00:00:00Z',
      '--max-tokens',
      '500',
    ]
    const ran = await svc(['read', 'service=checkout', 'env=a=b', ...options, ...at])
    expect(ran.code).toBe(0)
    expect(stub.requests[0]).toMatchObject({ method: 'POST', url: '/read' })
    expect(JSON.parse(stub.requests[0]!.body)).toEqual({
      selector: { service: 'checkout', env: 'a=b' },
      client: 'cli',
      window: '1h',
      limit: 50,
      order: 'desc',
      cursor: 'c1',
      event_types: ['a', 'b'],
      sources: ['s'],
      text: 'x y',
      include_payload: true,
      as_of: '2026-01-01T00:00:00Z',
      max_tokens: 500,
    })
  })

  it('leaves out of the request what was not asked', async () => {
    await svc(['read', 'service=checkout', ...(await daemon(result))])
    expect(JSON.parse(stub.requests[0]!.body)).toEqual({ selector: { service: 'checkout' }, client: 'cli' })
  })

  it("prints the API's JSON byte for byte with --json", async () => {
    const text = '{"rows": [ {"raw":{"id":9007199254740993,"a":1,"a":2}} ],"x":"\u202e"}'
    const ran = await svc(['read', 'a=b', '--json', ...(await daemon(text))])
    expect(ran.out).toBe(`${text}\n`)
  })

  it('escapes what would act on a terminal in JSON, without changing its value', async () => {
    const at = await daemon(`{"x":"\u202e\u009b31m"}`)
    const ran = await svc(['read', 'a=b', '--json', ...at], { isTerminal: true })
    expect(ran.out).toBe('{"x":"\\u202e\\u009b31m"}\n')
    expect(JSON.parse(ran.out)).toEqual({ x: '\u202e\u009b31m' })
  })

  it.each([true, false])(
    'prints no control or bidirectional character of an event (terminal: %s)',
    async (isTerminal) => {
      const ran = await svc(['read', 'a=b', ...(await daemon(result))], { isTerminal })
      expect(ran.out).toContain('deployed \\u001b]0;title\\u0007\\u202egnp')
      // biome-ignore lint/suspicious/noControlCharactersInRegex: these must not be there
      expect(ran.out).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e]/)
    },
  )

  it('keeps the digits of a payload that JSON numbers cannot hold', async () => {
    const text = JSON.stringify({ ...result, rows: [{ ...row, raw: 'RAW' }] }).replace(
      '"RAW"',
      '{"id":9007199254740993,"s":"}]\\"","a":1,"a":2}',
    )
    const ran = await svc(['read', 'a=b', '--payload', ...(await daemon(text))])
    expect(ran.out).toContain('{"id":9007199254740993,"s":"}]\\"","a":1,"a":2}')
  })

  it('says on standard error how to go on when there is more', async () => {
    const ran = await svc(['read', 'a=b', ...(await daemon(result))])
    expect(ran.err).toContain('--cursor c2')
    expect(ran.out).not.toContain('--cursor')
  })

  it('exits with 1 and the sentence of the daemon when it refuses', async () => {
    const ran = await svc(['read', 'a=b', ...(await daemon({ detail: 'window must be a duration' }, 400))])
    expect(ran).toMatchObject({ code: 1, out: '' })
    expect(ran.err).toContain('window must be a duration (HTTP 400')
  })

  it('says which token to pass on 401', async () => {
    const ran = await svc(['read', 'a=b', ...(await daemon({ detail: 'authentication required' }, 401))])
    expect(ran.err).toContain('--token')
    expect(ran.err).toContain('SVC_AUTH_TOKEN')
  })

  it('does not follow a redirect with the token', async () => {
    stub = await startStub((_seen, response) =>
      answer(response, 302, {}, { location: 'http://127.0.0.1:1/' }),
    )
    const ran = await svc(['read', 'a=b', '--svcd', stub.url, '--token', 't'])
    expect(ran.code).toBe(69)
    expect(ran.err).toContain('redirect')
  })

  it('names the address and the way out when nothing listens there', async () => {
    const at = await daemon({})
    await stub.close()
    const ran = await svc(['read', 'a=b', ...at])
    expect(ran.code).toBe(69)
    expect(ran.err).toContain(stub.url)
    expect(ran.err).toContain('svc up')
  })
})

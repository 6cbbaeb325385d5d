/** Clients of Loki that push protobuf packed by snappy, behind an ingest URL. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openDoor, ROOT } from '../door.ts'

/** As winston-loki 6.1 sent it. */
const WINSTON =
  '7wHwPApIChl7bGV2ZWw9ImluZm8iLGFwcD0ic2hvcCJ9EisKDAjcubjYBhCA0pOtAxIbbG9raSBoZWxsbyB7ImwBNwQiOgk4EH0KWgonEUoQZXJyb3IuSwA8LG9yZGVyPSI0NzExIn0SLxlYSNuNrgMSH2NhcmQgZGVjbGluZWQdWwlJCH0KRxmmDHdhcm4uWwAIfRIqOk4AJBrDvG7Dr2NvZGUdShR3YXJuIn0='
/** Encoded by protobufjs 7.6 by the fields of push.proto, and packed by snappy 7: labels with escapes, metadata, a hash, repeated lines. */
const ENCODED =
  'vBH0FwEKugEKRHthcHA9InNob3AiLCBlbnY9InByb2QiLCBmaWxlbmFtZT0iQzpcXGxvZ1xuXCJ4XCIiLCAiazhzLnBvZCI9YGFcYmB9EioKCAjw64DYBhABEgRzbG93GhgKCHRyYWNlX2lkEgwwMjQyYWMxMjAwMDISRAoMCPDrgNgGEIDKte4BEjR7ImxldmVsIjoiZXJyb3IiLCJtc2ciOiJjYXJkIGRlY2xpbmVkIiwib3JkZXIiOjQ3MTF9GE0K/A8KDHtqb2I9ImNhcnQifRIwCgYI8euA2AYSJmxpbmUgMCBvZiB3aGF0IGlzIHNhaWQgYWdhaW4gYW5kIGFnYWluEjAKBgjy64DYBhImbGluZSAxIG9mIHdoejIAAPMdMhgyIG9mIHdoejIAAPQdMgAzkjIAAPUdMgA0kjIAAPYdMgA1kjIAAPcdMgA2kjIAAPgdMgA3kjIAAPkdMgA4kjIAAPodMgA5gjIAEDEKBgj7BTIYJ2xpbmUgMYb1AQEzAPwuMwAAMZJmAAD9LjMAhvcBAWYA/i4zAIb4AQEzAP8uMwCG+QEBMxCA7IDYBhH/hvoBATMAgS4zAIb7AQEzAIIuMwCG/AEBMwCDLjMAhv0BATMAhC4zAJb+AQCFHTMAMpb+AQCGLjMAlv4BAIcuMwCW/gEAiC4zAJb+AQCJLjMAlv4BAIouMwCW/gEAiy4zAJb+AQCMLjMAlv4BAI0uMwCW/gEAji4zAJb+AQCPHTMAM5b+AQCQLjMAlv4BAJEuMwCW/gEAki4zAJb+AQCTLjMAlv4BAJQuMwCW/gEAlS4zAJb+AQCWLjMAlv4BAJcuMwCW/gEAmC4zAIL+AQ=='

let door: Awaited<ReturnType<typeof openDoor>>
beforeAll(async () => {
  door = await openDoor({ secured: true })
  door.clock.at = Date.parse('2026-12-01T02:00:00Z')
})
afterAll(() => door.close())

const TYPE = { 'content-type': 'application/x-protobuf' }

async function pushes(name: string, config: Record<string, unknown> = { preset: 'loki_push' }) {
  const { url, key } = await door.source(name, config)
  const sent = { ...TYPE, authorization: `Basic ${Buffer.from(`x:${key!.secret}`).toString('base64')}` }
  const push = (body: string | Buffer, more: Record<string, string> = {}, path = '/loki/api/v1/push') =>
    door.call('POST', `${url}${path}`, Buffer.isBuffer(body) ? body : Buffer.from(body, 'base64'), {
      ...sent,
      ...more,
    })
  const rows = async () => {
    const asked = {
      sources: [name],
      from: '2026-11-01T00:00:00Z',
      to: '2026-12-02T00:00:00Z',
      include_payload: true,
    }
    return (await door.call('POST', '/read', asked, door.as(ROOT))).json().rows as unknown as {
      text: string
      raw: { stream: object; time: string; line: string; metadata?: object }
    }[]
  }
  return { push, rows }
}

describe('a push of Loki in protobuf', () => {
  it('is stored line by line, as winston-loki sends it', async () => {
    const { push, rows } = await pushes('winston')
    const answer = await push(WINSTON)
    expect([answer.status, answer.json().ingested]).toEqual([202, 3])
    expect(await rows()).toMatchObject([
      {
        text: expect.stringContaining('loki hello'),
        event_time: '2026-12-01T01:03:24.900Z',
        entity: { label: 'service', value: 'shop' },
      },
      {
        text: expect.stringContaining('card declined'),
        labels: { level: 'error' },
        raw: { stream: { order: '4711' } },
      },
      { text: expect.stringContaining('ünïcode'), labels: { level: 'warn' } },
    ])
  })

  it('has its labels, metadata and nanoseconds, under Content-Encoding: snappy as well', async () => {
    const { push, rows } = await pushes('encoded')
    expect((await push(ENCODED, { 'content-encoding': 'snappy' })).json().ingested).toBe(42)
    const [first, second, ...others] = await rows()
    expect(first!.raw).toMatchObject({
      stream: { app: 'shop', env: 'prod', filename: 'C:\\log\n"x"', 'k8s.pod': 'a\\b' },
      time: '1795175920000000001',
      line: 'slow',
      metadata: { trace_id: '0242ac120002' },
    })
    expect(second).toMatchObject({ text: 'card declined', event_time: '2026-11-20T11:58:40.500Z' })
    expect(others.map(({ raw }) => raw.line)).toEqual(
      Array.from({ length: 40 }, (_, n) => `line ${n} of what is said again and again`),
    )
  })

  it('is read as the same in JSON where a source has no preset', async () => {
    const { push, rows } = await pushes('plain', {})
    expect((await push(WINSTON)).json().ingested).toBe(3)
    expect((await rows())[0]!.raw).toMatchObject({
      streams: [{ stream: { app: 'shop' }, values: [[expect.any(String), expect.any(String)]] }],
    })
  })

  it('keeps a stream whose labels cannot be read', async () => {
    const { push, rows } = await pushes('odd')
    // One literal: a stream {a="1",b="x"y"} with an entry of the line L.
    const labels = '{a="1",b="x"y"}'
    const stream = Buffer.concat([
      Buffer.from([0x0a, labels.length]),
      Buffer.from(labels),
      Buffer.from([0x12, 3, 0x12, 1, 0x4c]),
    ])
    const body = Buffer.concat([Buffer.from([0x0a, stream.length]), stream])
    expect(
      (await push(Buffer.concat([Buffer.from([body.length, (body.length - 1) << 2]), body]))).status,
    ).toBe(202)
    expect((await rows())[0]).toMatchObject({ raw: { stream: { a: '1', labels }, line: 'L' } })
  })

  it('is refused where it is none, says more than it may, or goes elsewhere, which its source tells', async () => {
    const { push } = await pushes('broken')
    const whole = Buffer.from(WINSTON, 'base64')
    for (const [body, status, said] of [
      [whole.subarray(0, 60), 400, 'cut short'],
      [Buffer.from('not snappy at all'), 400, 'not packed by snappy'],
      // 1 GiB, and as much as the wire cannot hold.
      [Buffer.concat([Buffer.from([0x80, 0x80, 0x80, 0x80, 0x04]), whole]), 413, 'more than 64 MiB'],
      [Buffer.concat([Buffer.from([0x80, 0x80, 0x80, 0x08]), whole]), 400, 'not packed by snappy'],
      [Buffer.from('0808ff', 'hex'), 400, 'not packed by snappy'],
    ] as const) {
      const answer = await push(body)
      expect([answer.status, answer.json().detail]).toEqual([status, expect.stringContaining(said)])
    }
    const elsewhere = await push(WINSTON, {}, '')
    expect([elsewhere.status, elsewhere.json().detail]).toEqual([
      415,
      expect.stringContaining('/loki/api/v1/push'),
    ])
    expect(
      (await push('{}', { 'content-encoding': 'snappy', 'content-type': 'application/json' })).status,
    ).toBe(415)
    expect((await door.call('GET', '/api/sources', undefined, door.as(ROOT))).text).toMatch(
      /7 bodies were refused/,
    )
  })
})

import type { ServerResponse } from 'node:http'
import { afterEach, describe, expect, it } from 'vitest'
import { answer, type Stub, startStub, svc } from './cli-harness.ts'

const row = (n: number) => ({
  id: `evt_${n}`,
  source: 'logs',
  event_type: 'log',
  event_time: '2026-11-20T10:00:00.000Z',
  labels: {},
  text: `event ${n}\u001b[2J`,
})
const frame = (n: number) => `id: evt_${n}\nevent: event\ndata: ${JSON.stringify(row(n))}\n\n`
const stream = (response: ServerResponse, ...parts: string[]) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  for (const part of parts) response.write(part)
}

let stub: Stub
afterEach(() => stub.close())

describe('svc tail', () => {
  it('asks for the labels and sources and prints events as lines', async () => {
    stub = await startStub((_seen, response) => stream(response, ': hello\n\n', frame(1), frame(2)))
    const ran = await svc([
      'tail',
      'service=check out',
      '--source',
      'logs',
      '--limit',
      '2',
      '--svcd',
      stub.url,
    ])
    expect(ran.code).toBe(0)
    const url = new URL(stub.requests[0]!.url, stub.url)
    expect(url.pathname).toBe('/api/tail')
    expect([...url.searchParams]).toEqual([
      ['label', 'service=check out'],
      ['source', 'logs'],
    ])
    expect(ran.out.split('\n')).toHaveLength(3)
    expect(ran.out).toContain('event 2\\u001b[2J')
    expect(ran.out).not.toContain('\u001b')
  })

  it('connects again where the stream broke, with the last event id', async () => {
    stub = await startStub((_seen, response, index) => {
      stream(response, 'retry: 2000\n\n', frame(index + 1))
      if (index === 0) response.end()
    })
    const ran = await svc(['tail', '--limit', '2', '--svcd', stub.url])
    expect(stub.requests.map((seen) => seen.headers['last-event-id'])).toEqual([undefined, 'evt_1'])
    expect(ran.waits).toEqual([2000])
    expect(ran.out).toContain('event 1')
    expect(ran.out).toContain('event 2')
  })

  it('F: tells a label that no event has', async () => {
    stub = await startStub((_seen, response) =>
      stream(response, 'event: notice\ndata: {"notice":"no event has the label servce"}\n\n', frame(1)),
    )
    const ran = await svc(['tail', 'servce=a', '--limit', '1', '--svcd', stub.url])
    expect(ran.err).toContain('svc: no event has the label servce\n')
    expect(ran.out).toContain('event 1')
  })

  it('begins after the event that --after names', async () => {
    stub = await startStub((_seen, response) => stream(response, frame(10)))
    await svc(['tail', '--after', 'evt_9', '--limit', '1', '--svcd', stub.url])
    expect(stub.requests[0]!.headers['last-event-id']).toBe('evt_9')
  })

  it('prints the data of each event as it came with --json', async () => {
    stub = await startStub((_seen, response) =>
      stream(response, 'id: evt_1\nevent: event\ndata: {"id":"evt_1", "raw":9007199254740993}\n\n'),
    )
    const ran = await svc(['tail', '--json', '--limit', '1', '--svcd', stub.url])
    expect(ran.out).toBe('{"id":"evt_1", "raw":9007199254740993}\n')
  })

  it('says on standard error that events were left out', async () => {
    stub = await startStub((_seen, response) =>
      stream(response, 'event: gap\ndata: {"missed":7,"after_id":"evt_1"}\n\n', frame(9)),
    )
    const ran = await svc(['tail', '--limit', '1', '--svcd', stub.url])
    expect(ran.err).toContain('7 or more events were left out')
  })

  it('D: says how many events after that of --after were left out, and why', async () => {
    stub = await startStub((_seen, response) =>
      stream(response, 'event: gap\ndata: {"missed":234,"after_id":"evt_9"}\n\n', frame(1_244)),
    )
    const ran = await svc(['tail', '--after', 'evt_9', '--limit', '1', '--svcd', stub.url])
    expect(ran.err).toContain(
      '234 events stored after evt_9 were left out: a tail begins with the newest 1,000 of them; svc read shows them',
    )
  })

  it('goes on after a refusal that will pass', async () => {
    stub = await startStub((_seen, response, index) => {
      if (index === 1) answer(response, 503, { detail: 'the daemon is stopping' })
      else stream(response, frame(index))
      if (index === 0) response.end()
    })
    const ran = await svc(['tail', '--limit', '2', '--svcd', stub.url])
    expect(ran.code).toBe(0)
    expect(ran.err).toContain('the daemon is stopping')
  })

  it('does not follow a page that is no stream; one that comes later is told, and tried again', async () => {
    const page = { 'content-type': 'text/html; charset=utf-8' }
    stub = await startStub((_seen, response, index) => {
      if (index === 0 || index === 2) return answer(response, 200, '<html>Sign in', page)
      stream(response, frame(index))
      response.end()
    })
    const refused = await svc(['tail', '--svcd', stub.url])
    expect([refused.code, refused.err]).toEqual([
      1,
      `svc: the answer is not one of svc (HTTP 200 from ${stub.url})\n`,
    ])
    const ran = await svc(['tail', '--limit', '2', '--svcd', stub.url])
    expect(ran.code).toBe(0)
    expect(ran.err).toContain('not one of svc')
    expect(ran.out).toContain('event 3')
  })

  it.each([0, 1])('ends with 77 when the credential is refused (connection %i)', async (connection) => {
    stub = await startStub((_seen, response, index) => {
      if (index === connection) return answer(response, 401, { detail: 'authentication required' })
      stream(response, frame(index))
      response.end()
    })
    const ran = await svc(['tail', '--svcd', stub.url])
    expect(ran.code).toBe(77)
    expect(ran.err).toContain('authentication required')
  })

  it('ends with 69 when the first connection fails', async () => {
    stub = await startStub(() => {})
    await stub.close()
    const ran = await svc(['tail', '--svcd', stub.url])
    expect(ran.code).toBe(69)
    expect(ran.err).toContain('cannot reach the daemon')
  })

  it('ends with 0 when the person interrupts it', async () => {
    const interrupt = new AbortController()
    stub = await startStub((_seen, response) => {
      stream(response, frame(1))
      interrupt.abort()
    })
    const ran = await svc(['tail', '--svcd', stub.url], { interrupted: interrupt.signal })
    expect(ran.code).toBe(0)
  })
})

/** Senders whose address has no path of ours: the key they send says which source it is for; and lines of text to Splunk. */
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openDoor, ROOT } from '../door.ts'

let door: Awaited<ReturnType<typeof openDoor>>
beforeAll(async () => {
  door = await openDoor({ secured: true })
})
afterAll(() => door.close())

const EVENT = '/services/collector/event/1.0'
const rows = async (source: string, more = {}) => {
  const asked = { sources: [source], from: '2026-11-20T00:00:00Z', to: '2026-11-21T00:00:00Z', ...more }
  return (await door.call('POST', '/read', asked, door.as(ROOT))).json().rows as unknown as object[]
}

describe('a sender whose address can have no path', () => {
  it('as the log driver of Docker for Splunk asks without a token whether it may start, and sends with that of its source', async () => {
    const { key } = await door.source('docker', { preset: 'splunk_hec' })
    // moby, daemon/logger/splunk/splunk.go: verifySplunkConnection and tryPostMessages, packed where splunk-gzip is set.
    const look = await door.call('OPTIONS', EVENT)
    expect([look.status, look.json().text]).toEqual([200, 'HEC is healthy'])
    const line =
      '{"event":{"line":"card declined","source":"stderr","tag":"0123456789ab"},"time":"1795172400.250000","host":"web1"}'
    const sent = await door.call('POST', EVENT, gzipSync(line), {
      'content-type': 'application/json',
      'content-encoding': 'gzip',
      authorization: `Splunk ${key!.secret}`,
    })
    expect([sent.status, sent.json()]).toEqual([200, expect.objectContaining({ ingested: 1, code: 0 })])
    expect(await rows('docker')).toMatchObject([
      {
        text: 'card declined',
        event_time: '2026-11-20T11:00:00.250Z',
        labels: { container: '0123456789ab', host: 'web1' },
      },
    ])
  })

  it('as the Datadog Agent sends with its API key, of both versions of the intake', async () => {
    const { key } = await door.source('agent', { preset: 'datadog_logs' })
    const body = '[{"message":"from the agent","status":"info","hostname":"web1","service":"shop"}]'
    const own = { 'dd-api-key': key!.secret }
    expect((await door.call('POST', '/api/v2/logs', body, own)).json()).toMatchObject({ ingested: 1 })
    const first = await door.call(
      'POST',
      `/v1/input/${key!.secret}?service=cart`,
      '{"message":"of version 1"}',
    )
    expect([first.status, first.json().ingested]).toEqual([200, 1])
    expect(await rows('agent')).toMatchObject([
      { text: 'from the agent', entity: { value: 'shop' } },
      { text: 'of version 1', entity: { value: 'cart' } },
    ])
  })

  it('is refused with a key that says no source, and told where to send', async () => {
    const any = (await door.key(['ingest'])).secret
    const refused = await door.call('POST', EVENT, '{"event":"x"}', { authorization: `Splunk ${any}` })
    expect([refused.status, refused.json().detail]).toEqual([
      404,
      expect.stringContaining('the key of a source'),
    ])
    const wrong = await door.call('POST', EVENT, '{"event":"x"}', { authorization: 'Splunk svc_none' })
    expect([wrong.status, wrong.json()]).toEqual([
      401,
      { detail: 'authentication required', text: 'authentication required', code: 3 },
    ])
    expect((await door.call('POST', '/api/v2/logs', '[]')).status).toBe(401)
    expect((await door.call('OPTIONS', '/services/other')).status).not.toBe(200)
  })

  it('gives the ingest key itself on an instance without credentials', async () => {
    const open = await openDoor()
    const { url } = await open.source('lines', { preset: 'loki_push' })
    const token = url.split('/').at(-1)!
    const push = '{"streams":[{"stream":{"app":"a"},"values":[["1795172400000000000","x"]]}]}'
    const answer = await open.call('POST', '/loki/api/v1/push', push, { authorization: `Bearer ${token}` })
    expect([answer.status, answer.json().ingested]).toEqual([202, 1])
    await open.close()
  })
})

it("lines of text to Splunk's /raw are an event each, with what the address says of them and their own times", async () => {
  const { url, key } = await door.source('raw', { preset: 'splunk_hec' })
  const body =
    '2026-11-20T11:00:00Z ERROR card declined\r\n  at pay (/app/pay.js:4)\n\n{"level":"warn","message":"slow","time":"2026-11-20T11:00:01Z"}\n'
  const path = `${url}/services/collector/raw?host=web1&source=shop.log&sourcetype=log4j`
  const sent = await door.call('POST', path, body, {
    authorization: `Splunk ${key!.secret}`,
    'content-type': 'text/plain',
  })
  expect([sent.status, sent.json()]).toEqual([
    200,
    expect.objectContaining({ ingested: 2, text: 'Success', code: 0 }),
  ])
  expect(await rows('raw', { include_payload: true })).toMatchObject([
    {
      text: expect.stringContaining('ERROR card declined'),
      event_time: '2026-11-20T11:00:00.000Z',
      labels: { host: 'web1', origin: 'shop.log', sourcetype: 'log4j', level: 'error' },
      raw: { event: expect.stringContaining('at pay (/app/pay.js:4)') },
    },
    { text: 'slow', event_time: '2026-11-20T11:00:01.000Z', labels: { level: 'warn' } },
  ])
  const broken = await door.call('POST', `${url}/services/collector/event`, '{"event":', {
    authorization: `Splunk ${key!.secret}`,
  })
  expect([broken.status, broken.json()]).toEqual([
    400,
    expect.objectContaining({ text: broken.json().detail, code: 6 }),
  ])
  // What Splunk takes as lines is no form, whatever its type.
  const form = { authorization: `Splunk ${key!.secret}`, 'content-type': 'application/x-www-form-urlencoded' }
  expect((await door.call('POST', path, 'a=b', form)).json()).toMatchObject({ ingested: 1 })
})

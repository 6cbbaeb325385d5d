/** What senders of webhooks want to see in an answer, and how those come in that send no header of their own. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openDoor, ROOT, T0 } from './door.ts'

let door: Awaited<ReturnType<typeof openDoor>>
let url: string
let secret: string
beforeAll(async () => {
  door = await openDoor({ secured: true })
  const source = await door.source('cloud')
  url = source.url
  secret = source.key!.secret
})
afterAll(() => door.close())

/** learn.microsoft.com/azure/event-grid/end-point-validation-event-grid-events-schema */
const VALIDATION = [
  {
    id: '2d1781af-3a4c-4d7c-bd0c-e34b19da4e66',
    topic: '/subscriptions/xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx',
    subject: '',
    data: { validationCode: '512d38b6-c7b8-40c8-89fe-f46f9e9622b6' },
    eventType: 'Microsoft.EventGrid.SubscriptionValidationEvent',
    eventTime: '2026-10-28T04:23:35.1981776Z',
    metadataVersion: '1',
    dataVersion: '1',
  },
]

describe('a sender of webhooks', () => {
  it('Azure Event Grid sees its validation code again, with a key in the address', async () => {
    const grid = { 'aeg-event-type': 'SubscriptionValidation' }
    expect((await door.call('POST', url, VALIDATION, grid)).status).toBe(401)
    const answer = await door.call('POST', `${url}?key=${secret}`, VALIDATION, grid)
    expect(answer.status).toBe(200)
    expect(answer.json()).toMatchObject({
      ingested: 1,
      validationResponse: '512d38b6-c7b8-40c8-89fe-f46f9e9622b6',
    })
    const event = await door.call('POST', `${url}?key=${secret}`, VALIDATION, {
      'aeg-event-type': 'Notification',
    })
    expect(event.status).toBe(202)
    expect(event.json()).not.toHaveProperty('validationResponse')
  })

  const graph = 'Validation: Testing client application reachability for subscription Request-Id: 7f3d-a1b2'
  it.each<[string, 'GET' | 'POST', string, Record<string, string>, string, unknown]>([
    // learn.microsoft.com/graph/change-notifications-delivery-webhooks
    ['Microsoft Graph', 'POST', `validationToken=${encodeURIComponent(graph)}`, {}, 'text/plain', graph],
    // developer.okta.com/docs/concepts/event-hooks
    [
      'Okta',
      'GET',
      '',
      { 'x-okta-verification-challenge': 'b7Qx1' },
      'application/json',
      { verification: 'b7Qx1' },
    ],
    // developers.dropbox.com/reference/webhooks
    ['Dropbox', 'GET', 'challenge=aB-1_9', {}, 'text/plain', 'aB-1_9'],
    // w3.org/TR/websub, section 5.3
    [
      'WebSub',
      'GET',
      'hub.mode=subscribe&hub.topic=https%3A%2F%2Fa.test&hub.challenge=77',
      {},
      'text/plain',
      '77',
    ],
  ])(
    '%s sees what it showed again, and nothing is stored',
    async (_who, method, query, headers, type, said) => {
      const { events } = (await door.engine.status()).counters
      const of = `${url}?key=${secret}&${query}`
      const answer = await door.call(method, of, undefined, headers)
      expect([answer.status, answer.headers['content-type']]).toEqual([200, expect.stringContaining(type)])
      expect(typeof said === 'string' ? answer.text : answer.json()).toEqual(said)
      expect((await door.engine.status()).counters.events).toBe(events)
      expect(
        (await door.call(method, `/ingest/webhook-none?key=${secret}&${query}`, undefined, headers)).status,
      ).toBe(404)
      // What cannot be shown in a line is not shown.
      if (query)
        expect((await door.call(method, of.replace(/=[^=]*$/, '=%0d%0aa'), undefined)).text).not.toMatch(
          /^\s*a$/,
        )
    },
  )

  it('Microsoft Graph sends what happened with a body, which is stored', async () => {
    const answer = await door.call('POST', `${url}?key=${secret}&validationToken=a`, { value: [{ id: 1 }] })
    expect([answer.status, answer.json()]).toEqual([202, expect.objectContaining({ ingested: 1 })])
  })

  it('of CloudEvents is told that it may send, before it has a credential', async () => {
    const origin = { 'webhook-request-origin': 'eventgrid.azure.net' }
    const answer = await door.call('OPTIONS', url, undefined, { ...origin, 'webhook-request-rate': '120' })
    expect(answer.status).toBe(200)
    expect(answer.headers).toMatchObject({
      'webhook-allowed-origin': 'eventgrid.azure.net',
      'webhook-allowed-rate': '*',
    })
    expect(answer.headers).not.toHaveProperty('access-control-allow-origin')
    expect((await door.call('OPTIONS', '/ingest/webhook-none', undefined, origin)).status).toBe(404)
    // No such look, such as a browser's before a request of another site.
    expect((await door.call('OPTIONS', url)).status).toBe(405)
  })

  it('Amazon Data Firehose sends its key in a header of its own, and sees its request again', async () => {
    // docs.aws.amazon.com/firehose/latest/dev/httpdeliveryrequestresponse.html
    const body = {
      requestId: 'ed4acda5-034f-9f42-bba1-f29aea6d7d8f',
      timestamp: 1_578_090_901_599,
      records: [{ data: 'aGVsbG8=' }, { data: 'aGVsbG8gd29ybGQ=' }],
    }
    const headers = { 'x-amz-firehose-request-id': body.requestId }
    expect((await door.call('POST', url, body, headers)).status).toBe(401)
    const answer = await door.call('POST', url, body, { ...headers, 'x-amz-firehose-access-key': secret })
    expect(answer.status).toBe(200)
    expect(answer.headers['content-type']).toContain('application/json')
    expect(answer.json()).toEqual({ requestId: body.requestId, timestamp: T0 })
    // What was answered too late comes again under its number.
    const { events } = (await door.engine.status()).counters
    await door.call('POST', url, body, { ...headers, 'x-amz-firehose-access-key': secret })
    expect((await door.engine.status()).counters.events).toBe(events)
  })

  it("to Splunk's event collector is answered as by that, behind the path it adds and with its token as Splunk names it", async () => {
    // As splunk-logging 0.11 sends a batch: one object behind another, under the type of a form.
    const two =
      '{"time":"1790000000.381","host":"web1","event":{"message":"card declined","severity":"error"}}{"time":"1790000000.382","host":"web1","event":"plain"}'
    const form = { 'content-type': 'application/x-www-form-urlencoded' }
    const { url, key } = await door.source('hec', { preset: 'splunk_hec' })
    const sent = { ...form, authorization: `Splunk ${key!.secret}` }
    const path = `${url}/services/collector/event/1.0`
    expect((await door.call('POST', path, two, form)).status).toBe(401)
    const answer = await door.call('POST', path, two, sent)
    expect([answer.status, answer.json()]).toEqual([
      200,
      expect.objectContaining({ text: 'Success', code: 0, ingested: 2 }),
    ])
    for (const end of ['', '/event', '/health', '/health/1.0'])
      expect((await door.call('GET', `${url}/services/collector${end}`, undefined, sent)).status).toBe(200)
  })

  it("of Loki's push API posts behind the path it adds, and each line is an event that keeps its digits", async () => {
    const { url, key } = await door.source('loki', { preset: 'loki_push' })
    const sent = { authorization: `Bearer ${key!.secret}`, 'content-type': 'application/json' }
    const lines = '["1790000000000000001","a",{"n":12345678901234567890}],["1790000000000000002","b"]'
    const body = `{"streams":[{"stream":{"job":"shop"},"values":[${lines}]},{"stream":{"job":"cart"},"values":[]}]}`
    const answer = await door.call('POST', `${url}/loki/api/v1/push`, body, sent)
    expect([answer.status, answer.json().ingested]).toEqual([202, 2])
    const read = await door.call(
      'POST',
      '/read',
      { sources: ['loki'], from: '2026-09-21T00:00:00Z', to: '2026-09-22T00:00:00Z', include_payload: true },
      door.as(ROOT),
    )
    const { rows } = JSON.parse(read.text) as { rows: { text: string }[] }
    expect(rows.map(({ text }) => text)).toEqual(['a', 'b'])
    expect(read.text).toContain('"metadata":{"n":12345678901234567890}')
    expect((await door.call('POST', `${url}/loki/api/v1/push`, '{"streams":[]}', sent)).status).toBe(202)
    const packed = { ...sent, 'content-type': 'application/x-protobuf' }
    const refused = await door.call(
      'POST',
      `${url}/loki/api/v1/push`,
      Buffer.from([0xfe, 0x01, 0xf0]),
      packed,
    )
    expect([refused.status, refused.json().detail]).toEqual([400, expect.stringContaining('snappy')])
    expect((await door.call('POST', `${url}/loki/api/v1/push`, body, packed)).status).toBe(202)
  })

  it('of the preset winston is answered with 200, the one status it knows, and others with 202', async () => {
    const line = { level: 'info', message: 'x', service: 'cart', timestamp: '2026-09-21T14:13:20.714Z' }
    const answers = await Promise.all(
      [{ preset: 'winston' }, {}].map(async (config, n) => {
        const source = await door.source(`lines-${n}`, config)
        return door.call('POST', source.url, line, { authorization: `Bearer ${source.key!.secret}` })
      }),
    )
    expect(answers.map(({ status }) => status)).toEqual([200, 202])
    expect(answers[0]!.json()).toMatchObject({ ingested: 1 })
  })

  it('is let in by a key in the address that may do nothing else', async () => {
    expect((await door.call('POST', `${url}?key=${secret}`, { n: 1 })).status).toBe(202)
    // Of a subscription of Pub/Sub with authentication: its token says who it is to Google's services, not to svc.
    const token = { authorization: 'Bearer eyJhbGciOiJSUzI1NiJ9.eyJhdWQiOiJ4In0.c2ln' }
    expect((await door.call('POST', `${url}?key=${secret}`, { n: 1 }, token)).status).toBe(202)
    expect((await door.call('POST', `${url}?key=svc_none`, { n: 1 }, token)).status).toBe(401)
    expect((await door.call('POST', url, { n: 1 }, token)).status).toBe(401)
    expect((await door.call('POST', `${url}?key=${ROOT}`, { n: 1 })).json()).toEqual({
      detail: 'a key in the address or a password must have the scope ingest alone',
    })
    expect((await door.call('POST', `${url}?key=svc_none`, { n: 1 })).status).toBe(401)
    expect((await door.call('POST', `/remember?key=${secret}`, { key: 'a', content: 'b' })).status).toBe(401)
    expect((await door.call('GET', `/api/sources?key=${secret}`)).status).toBe(401)
  })
})

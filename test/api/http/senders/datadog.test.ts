/** What sends logs to Datadog, behind an ingest URL. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openDoor, ROOT } from '../door.ts'

let door: Awaited<ReturnType<typeof openDoor>>
beforeAll(async () => {
  door = await openDoor({ secured: true })
})
afterAll(() => door.close())

it('what sends logs to Datadog is taken at both of its paths, with its key where it puts it', async () => {
  const { url, key } = await door.source('dd', { preset: 'datadog_logs' })
  const secret = key!.secret
  // As @datadog/datadog-api-client 1.64 sent it.
  const body =
    '[{"ddsource":"nodejs","ddtags":"env:prod,version:1","hostname":"web1","message":"card declined","service":"shop","status":"error","order":4711}]'
  const path = `${url}/api/v2/logs?ddtags=team%3Apay`
  const sent = await door.call('POST', path, body, { 'dd-api-key': secret })
  expect([sent.status, sent.json().ingested]).toEqual([202, 1])
  expect((await door.call('POST', path, body, { 'dd-api-key': 'svc_none' })).status).toBe(401)
  expect((await door.call('POST', path, body)).status).toBe(401)
  expect((await door.call('POST', path, body, { 'dd-api-key': ROOT })).status).toBe(403)
  // And of version 1, whose clients take 200 for success, as datadog-winston 1.6 sent it: with all but the line in the address.
  const query = 'service=cart&ddsource=nodejs&ddtags=env%3Aqa%2Cversion%3A2&hostname=web2'
  const line = '{"order":1,"level":"warn","message":"from winston"}'
  const first = await door.call('POST', `${url}/v1/input/${secret}?${query}`, line)
  expect([first.status, first.json().ingested]).toEqual([200, 1])
  expect((await door.call('POST', `${url}/v1/input?dd-api-key=${secret}`, line)).status).toBe(200)
  const asked = { sources: ['dd'], from: '2026-11-20T00:00:00Z', to: '2026-11-21T00:00:00Z' }
  const { rows } = (await door.call('POST', '/read', asked, door.as(ROOT))).json()
  expect(rows).toMatchObject([
    {
      text: 'card declined',
      entity: { label: 'service', value: 'shop' },
      labels: { level: 'error', environment: 'prod', version: '1', host: 'web1', origin: 'nodejs' },
    },
    {
      text: 'from winston',
      entity: { label: 'service', value: 'cart' },
      labels: { level: 'warn', environment: 'qa', version: '2', host: 'web2', origin: 'nodejs' },
    },
    { text: 'from winston', entity: null },
  ])
})

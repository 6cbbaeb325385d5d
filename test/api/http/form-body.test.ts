/** GitHub's other content type: the payload in a field of a form, signed as it came. */

import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import { sign } from '@octokit/webhooks-methods'
import { describe, expect, it } from 'vitest'
import type { Source } from '../../../schemas/types.ts'
import { openDoor, ROOT } from './door.ts'

const FORM = 'application/x-www-form-urlencoded'
const PAYLOAD = {
  action: 'opened',
  repository: { full_name: 'a/b & é+c' },
  issue: { number: 7, title: 'x=y' },
}
const form = `payload=${encodeURIComponent(JSON.stringify(PAYLOAD))}`

describe('a form-encoded delivery of GitHub', () => {
  it('is the payload in it, with the signature over the form as it came', async () => {
    const secret = 'shared with GitHub'
    const door = await openDoor({ secured: true })
    const labels = [{ name: 'repo', field: 'repository.full_name', primary: true }]
    const { url } = await door.source('github', {
      signature_scheme: 'github',
      signature_secret: secret,
      labels,
    })
    const headers = {
      'content-type': `${FORM}; charset=utf-8`,
      'x-github-event': 'issues',
      'x-github-delivery': 'form-1',
      'x-hub-signature-256': await sign(secret, form),
    }
    expect((await door.call('POST', url, form, headers)).json()).toMatchObject({ ingested: 1 })
    expect((await door.call('POST', url, form, headers)).json()).toEqual({ ingested: 0, duplicates: 1 })
    expect((await door.call('POST', url, `${form}&x=1`, headers)).status).toBe(401)
    const request = { selector: { repo: 'a/b & é+c' }, include_payload: true }
    expect((await door.call('POST', '/read', request, door.as(ROOT))).json()).toMatchObject({
      rows: [
        { event_type: 'issues.opened', text: expect.stringContaining('Issue #7 opened: x=y'), raw: PAYLOAD },
      ],
    })
    await door.close()
  })

  it('without a payload says what to send, and JSON under this type stays JSON', async () => {
    const door = await openDoor()
    const { url } = await door.source('app')
    const empty = await door.call('POST', url, 'payload=', { 'content-type': FORM })
    expect([empty.status, (empty.json() as { detail: string }).detail]).toEqual([
      400,
      'the form field payload is empty; send it as application/json',
    ])
    expect((await door.call('POST', url, '{"a":1}', { 'content-type': FORM })).json()).toMatchObject({
      ingested: 1,
    })
    for (const text of ['a b=c', 'a=1 is not b', '=x', '"a=b', '{"a":"=', 'a'])
      expect((await door.call('POST', url, text, { 'content-type': FORM })).status).toBe(400)
    await door.close()
  })

  it('is an event of its fields else, as the HTTPHandler of Python sends a line', async () => {
    const door = await openDoor()
    const { url } = await door.source('app', {
      ...{ event_type_field: 'levelname', event_time_field: 'created', text_template: '{msg}' },
      labels: [{ name: 'logger', field: 'name', primary: true }],
    })
    const created = String(Date.parse('2026-11-20T11:59:00.500Z') / 1000)
    const line = `name=shop.cart&msg=%C3%BCber+2+s%0Aline+2&levelname=ERROR&created=${created}&tag=a&tag=b`
    const headers = { 'content-type': FORM }
    expect((await door.call('POST', url, `${line}&__proto__=x\n`, headers)).json()).toMatchObject({
      ingested: 1,
    })
    const request = { selector: { logger: 'shop.cart' }, include_payload: true }
    const { rows } = (await door.call('POST', '/read', request)).json() as unknown as {
      rows: Record<string, unknown>[]
    }
    expect(rows).toEqual([
      expect.objectContaining({
        event_type: 'ERROR',
        text: 'über 2 s line 2',
        event_time: new Date(Number(created) * 1000).toISOString(),
      }),
    ])
    expect(JSON.stringify(rows[0]!.raw)).toBe(
      `{"name":"shop.cart","msg":"über 2 s\\nline 2","levelname":"ERROR","created":"${created}","tag":["a","b"],"__proto__":"x"}`,
    )
    await door.close()
  })
})

describe('a CloudEvent in binary mode', () => {
  it('is an event without data, too, all of which is in its headers; an empty body without them is none', async () => {
    const door = await openDoor()
    const { url } = await door.source('orders', { preset: 'cloudevents' })
    const headers = { 'ce-specversion': '1.0', 'ce-id': '7', 'ce-type': 'order.paid', 'ce-source': '/orders' }
    expect((await door.call('POST', url, '', headers)).json()).toMatchObject({ ingested: 1 })
    expect((await door.call('POST', url, '', headers)).json()).toMatchObject({ ingested: 0, duplicates: 1 })
    expect((await door.call('POST', url, '')).json()).toEqual({ ingested: 0 })
    expect(
      (await door.call('POST', '/read', { selector: { event_source: '/orders' } })).json(),
    ).toMatchObject({
      rows: [{ event_type: 'order.paid', text: 'order.paid from /orders' }],
    })
    await door.close()
  })

  it('is one event whatever its data is, as the SDK for Node (cloudevents 10) sends text and bytes', async () => {
    const door = await openDoor()
    const { url } = await door.source('bus', { preset: 'cloudevents' })
    let id = 0
    const send = async (type: string, data: string | Buffer, more = {}) => {
      const headers = { 'ce-specversion': '1.0', 'ce-id': `${id++}`, 'ce-type': 'bus', 'ce-source': '/bus' }
      const answer = await door.call('POST', url, data, { ...headers, 'content-type': type, ...more })
      expect([type, answer.json()]).toEqual([type, expect.objectContaining({ ingested: 1 })])
      expect(answer.json().duplicates).toBeUndefined()
    }
    await send('text/plain', 'plain text data')
    await send('application/xml; charset=utf-8', '<a>1</a>')
    await send('text/plain', '{ not JSON')
    await send('text/plain', '{"message":"JSON all the same"}')
    await send('application/octet-stream', Buffer.from([0xff, 0x00]))
    await send('application/json', '[{"n":1},{"n":2}]')
    await send('application/vnd.bus+json', gzipSync('"paid"'), { 'content-encoding': 'gzip' })
    const { rows } = (
      await door.call('POST', '/read', { selector: { event_source: '/bus' }, include_payload: true })
    ).json() as unknown as { rows: { text: string; raw: object }[] }
    expect(rows.map(({ text, raw }) => [text, raw])).toEqual([
      ['bus: plain text data', { data: 'plain text data' }],
      ['bus: <a>1</a>', { data: '<a>1</a>' }],
      ['bus: { not JSON', { data: '{ not JSON' }],
      ['bus: JSON all the same', { message: 'JSON all the same' }],
      ['bus from /bus', { data_base64: '/wA=' }],
      ['bus from /bus', { data: [{ n: 1 }, { n: 2 }] }],
      ['bus: paid', { data: 'paid' }],
    ])
    await door.close()
  })
})

describe('a body that is no JSON', () => {
  const parts = '--x7\r\nContent-Disposition: form-data; name="n"\r\n\r\n42\r\n--x7--\r\n'
  const said = async (door: Awaited<ReturnType<typeof openDoor>>) => {
    const [source] = (await door.call('GET', '/api/sources')).json() as unknown as Source[]
    const { rejected, notice, events_total } = source!.health
    return { rejected, notice, events_total }
  }

  it('is counted and told on its source, and by Discover, until the config changes', async () => {
    const door = await openDoor()
    const { url } = await door.source('app')
    const form = await door.call('POST', url, 'a=b&c=d', { 'content-type': 'text/plain' })
    expect([form.status, (form.json() as { detail: string }).detail]).toEqual([
      400,
      'the body is neither JSON nor NDJSON: it is not valid JSON at byte 0; it looks like a form (a=b&c=d): send JSON, such as {"a":"b"}',
    ])
    expect((await door.call('POST', url, gzipSync('{"a":1}'))).status).toBe(400)
    expect((await door.call('POST', url, 'a\nb')).status).toBe(400)
    // One that is not taken; and what is not what its header says.
    for (const [encoding, status] of [
      ['br', 415],
      ['gzip', 400],
    ] as const)
      expect((await door.call('POST', url, '{"a":1}', { 'content-encoding': encoding })).status).toBe(status)
    expect(await said(door)).toEqual({
      rejected: 6,
      notice: expect.stringMatching(/^5 bodies were refused, .* the first because .* like a form/),
      events_total: 0,
    })
    const found = await door.call('POST', '/api/sources/discover', { connector: 'webhook', name: 'app' })
    expect((found.json() as { detail: string }).detail).toMatch(
      /^nothing is stored yet: .* 5 bodies were refused/,
    )
    await door.call('PUT', '/api/sources/app', {
      ...{ name: 'app', connector: 'webhook', config: { event_type: 'x' } },
    })
    expect((await said(door)).notice).toBeNull()
    // Its sender is answered with 202, and may look no further.
    expect((await door.call('POST', url, '{"a":1}\n{"a":')).status).toBe(202)
    expect(await said(door)).toEqual({
      rejected: 7,
      notice: '1 body was refused, whole or in part, because item 1: is not valid JSON at byte 5.',
      events_total: 1,
    })
    await door.close()
  })

  it('of the parts of a form is refused with 415 at both doors, and none of its lines stored', async () => {
    const door = await openDoor()
    const { url } = await door.source('app')
    const headers = { 'content-type': 'multipart/form-data; boundary=x7' }
    const framed = await door.call('POST', url, parts, headers)
    await door.app.listen({ port: 0, host: '127.0.0.1' })
    const { port } = door.app.server.address() as AddressInfo
    const direct = await fetch(`http://127.0.0.1:${port}${url}`, { method: 'POST', body: parts, headers })
    const told = [framed.json(), await direct.json()] as { detail: string }[]
    expect([framed.status, direct.status]).toEqual([415, 415])
    for (const { detail } of told) expect(detail).toContain('multipart/form-data')
    expect(await said(door)).toMatchObject({ rejected: 2, events_total: 0 })
    await door.close()
  })
})

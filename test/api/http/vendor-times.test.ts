/** Issue 16, A6: times as vendors write them; vendor-payloads.json says where each form is documented. */
import { readFileSync } from 'node:fs'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { IngestResult, ReadResult, Source } from '../../../schemas/types.ts'
import { openDoor, T0 } from './door.ts'

interface Vendor {
  sender: string
  time_field: string
  body: unknown
}

const { payloads } = JSON.parse(readFileSync(new URL('vendor-payloads.json', import.meta.url), 'utf8')) as {
  payloads: Vendor[]
}
const DAY = 86_400_000
/** Two of the forms have a time of their own. */
const TIMES: Record<string, string> = {
  'GitLab pipeline': '2026-11-22T10:59:00.000Z',
  'Uptime Kuma': '2026-11-22T10:59:13.283Z',
}

describe('A6: the time of an event', () => {
  let door: Awaited<ReturnType<typeof openDoor>>
  beforeEach(async () => {
    door = await openDoor()
    door.clock.at = T0 + 3 * DAY
  })
  afterEach(() => door.close())

  const post = async (url: string, body: unknown) => {
    const answer = await door.call('POST', url, body)
    return answer.json() as unknown as IngestResult
  }
  const rowsOf = async (source: string) =>
    ((await door.call('POST', '/read', { sources: [source], window: '90d' })).json() as unknown as ReadResult)
      .rows
  const healthOf = async (name: string) =>
    ((await door.call('GET', '/api/sources')).json() as unknown as Source[]).find((one) => one.name === name)!
      .health

  it.each(payloads)(
    '$sender is understood, and is not the time of arrival',
    async ({ sender, time_field, body }) => {
      const { url } = await door.source('vendor', { event_time_field: time_field })
      expect(await post(url, body)).toMatchObject({ ingested: 1 })
      const [row] = await rowsOf('vendor')
      expect(row!.event_time).toBe(TIMES[sender] ?? '2026-09-21T14:13:20.000Z')
      expect((await healthOf('vendor')).notice).toBeNull()
    },
  )

  it.each([
    ['as one body', 'application/json'],
    ['of lines, read by the kernel or not', 'application/x-ndjson'],
  ])('that is not understood is said in the answer and on the source, %s', async (_, type) => {
    const { url } = await door.source('odd', {
      event_time_field: 'at',
      text_template: '{text}',
      labels: [{ name: 'service', field: 'service', primary: true }],
    })
    const lines = ['"yesterday"', '1790000000', '"last week"', 'null', '{"sec":1}']
      .map((at) => `{"service":"a","text":"t","at":${at}}\n`)
      .join('')
    const answer = await door.call('POST', url, lines, { 'content-type': type })
    expect(answer.json()).toMatchObject({
      ingested: 5,
      untimed: 3,
      notice: expect.stringContaining('times such as "yesterday" were not understood'),
    })
    expect((await healthOf('odd')).notice).toContain('The time of 3 events was not understood')
    // What was said holds for the config it was said of.
    await door.call('PUT', '/api/sources/odd', { name: 'odd', connector: 'webhook', config: {} })
    expect((await healthOf('odd')).notice).toBeNull()
  })

  it.each([
    ['as one body', 'application/json'],
    ['of lines, read by the kernel or not', 'application/x-ndjson'],
  ])('and a label that is too long to be one are said in the answer, %s', async (_, type) => {
    const { url } = await door.source('odd', {
      event_time_field: 'at',
      text_template: '{text}',
      labels: [
        { name: 'service', field: 'service', primary: true },
        { name: 'host', field: 'host' },
      ],
    })
    const line = (service: string, host: string, at: string) =>
      `${JSON.stringify({ service, host, text: 't', at })}\n`
    const [long, time] = ['x'.repeat(1_025), '2026-09-21T14:13:20Z']
    const send = async (...lines: string[]) =>
      (await door.call('POST', url, lines.join(''), { 'content-type': type })).json()
    expect(await send(line('a', 'x'.repeat(1_024), time))).not.toHaveProperty('notice')
    const notice =
      'values over 1,024 bytes are no labels: events that have one for service are stored without that label.'
    expect(await send(line('a', 'h', time), line(long, 'h', time))).toMatchObject({ ingested: 2, notice })
    const odd = await send(line(long, long, 'yesterday'))
    expect(odd.notice).toMatch(/^times such as "yesterday" were not understood: .*without that label\.$/)
    expect((await healthOf('odd')).notice).toContain(
      '2 events lack a label, the first service, since values over 1,024 bytes are no labels: ',
    )
    expect((await rowsOf('odd')).map(({ labels }) => labels.host)).toEqual([
      'x'.repeat(1_024),
      'h',
      'h',
      undefined,
    ])
  })

  it.each([
    ['as one body', 'application/json'],
    ['of lines, read by the kernel or not', 'application/x-ndjson'],
  ])('that is too far off is told on the source, too, %s', async (_, type) => {
    const { url } = await door.source('far', { event_time_field: 'at', text_template: '{text}' })
    const lines = ['"1999-12-31T23:59:59Z"', '"2999-01-01T00:00:00Z"', '"2026-09-21T14:13:20Z"']
      .map((at) => `{"text":"t","at":${at}}\n`)
      .join('')
    const answer = await door.call('POST', url, lines, { 'content-type': type })
    expect(answer.json()).toMatchObject({ ingested: 3, skewed: 2 })
    expect((await healthOf('far')).notice).toContain(
      'The time of 2 events was too far off, such as "1999-12-31T23:59:59Z": they have the time of arrival.',
    )
  })

  it('of a long NDJSON body is told in one sum', async () => {
    const labels = [{ name: 'host', field: 'host', primary: true }]
    const { url } = await door.source('long', { event_time_field: 'at', labels })
    const line = (host: string) => `{"at":"soon","pad":"${'x'.repeat(100)}","host":"${host}"}\n`
    const lines = `${line('h').repeat(59_999)}${line('h'.repeat(1_025))}`
    const { Readable } = await import('node:stream')
    const answer = await door.app.inject({
      method: 'POST',
      url,
      headers: { host: '127.0.0.1:8787', 'content-type': 'application/x-ndjson' },
      payload: Readable.from([Buffer.from(lines)], { objectMode: false }),
    })
    expect(answer.json()).toMatchObject({ ingested: 60_000, untimed: 60_000 })
    // What its last piece alone says is told, too.
    expect(answer.json().notice).toMatch(
      /^times such as "soon" were .* for host are stored without that label\.$/,
    )
    expect((await healthOf('long')).notice).toContain('1 event has no label host')
  })
})

/** Issue 16, A10: what is wrong with one record is told, and its neighbours are kept. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openReceiver, type Receiver } from './receiver.ts'

const logs = (service: string, logRecords: unknown[]) =>
  JSON.stringify({
    resourceLogs: [
      {
        resource: { attributes: [{ key: 'service.name', value: { stringValue: service } }] },
        scopeLogs: [{ logRecords }],
      },
    ],
  })
const said = (text: string) => ({ body: { stringValue: text } })

describe('A10: an export', () => {
  let receiver: Receiver
  beforeAll(async () => {
    receiver = await openReceiver()
  })
  afterAll(() => receiver.close())

  it('answers with partialSuccess that names each record and why it is left out', async () => {
    const wrong = [
      { ...said('lost'), attributes: { user: 42 } },
      { ...said('lost'), timeUnixNano: '2026-11-22T10:59:00Z' },
      { body: { intValue: 'many' } },
      { body: 'bare' },
    ]
    const answer = await receiver.post('logs', logs('some', [said('one'), ...wrong, said('two')]))
    expect([answer.status, await answer.json()]).toEqual([
      200,
      {
        partialSuccess: {
          rejectedLogRecords: '4',
          errorMessage:
            'record 1: attributes is not a list of {key, value}; record 2: timeUnixNano is not a whole number of 64 bits from 0; record 3: body.intValue is not a whole number of 64 bits; and 1 more',
        },
      },
    ])
    const rows = await receiver.read({ service: 'some' })
    expect(rows.map(({ text }) => text)).toEqual(['one', 'two'])
  })

  it('keeps a record that nests 49 arrays deep, and its neighbours', async () => {
    let value: unknown = { stringValue: 'deep' }
    for (let i = 0; i < 49; i++) value = { arrayValue: { values: [value] } }
    const answer = await receiver.post('logs', logs('nested', [said('a'), { body: value }, said('b')]))
    expect([answer.status, await answer.json()]).toEqual([200, {}])
    expect(await receiver.read({ service: 'nested' })).toHaveLength(3)
  })

  it('of which nothing can be taken is refused with the reason', async () => {
    const answer = await receiver.post('logs', logs('none', [{ attributes: {} }]))
    expect([answer.status, await answer.json()]).toMatchObject([
      400,
      { detail: 'no item could be stored; item 0: attributes is not a list of {key, value}' },
    ])
  })

  it('A6: is warned of times that cannot be used, though nothing is left out', async () => {
    const answer = await receiver.post('logs', logs('late', [{ ...said('x'), timeUnixNano: '1790000000' }]))
    expect([answer.status, await answer.json()]).toEqual([
      200,
      {
        partialSuccess: {
          rejectedLogRecords: '0',
          errorMessage: 'the times of 1 records are too far off: they have the time of arrival',
        },
      },
    ])
  })

  it.each(['logs', 'traces', 'metrics'])('is posted: GET /v1/%s is 405 with Allow', async (signal) => {
    for (const method of ['GET', 'PUT', 'DELETE']) {
      const answer = await fetch(`${receiver.url}/v1/${signal}`, { method })
      expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'POST'])
      expect(await answer.json()).toEqual({ detail: `/v1/${signal} takes POST alone, an export of OTLP` })
    }
  })
})

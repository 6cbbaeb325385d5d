import type http from 'node:http'
import { Webhook } from 'standardwebhooks'
import { describe, expect, it } from 'vitest'
import { newSecret } from '../../../engine/outbox/send-webhook.ts'
import { maxTries, RETRY_SECONDS } from '../../../machines/delivery.ts'
import { type Answer, say } from '../net/egress/receiver.ts'
import { receiver } from '../net/egress/setup.ts'
import { settle, setup, until } from './setup.ts'

/** Answers with one status after the other, the last for good. */
const inTurn =
  (...answers: Answer[]): Answer =>
  (received, response) =>
    (answers.length > 1 ? answers.shift()! : answers[0]!)(received, response)

describe('a delivery', () => {
  it('is posted at once, signed, and settled with what came of it', async () => {
    const target = await receiver(say(202, {}, 'what the recipient wrote'))
    const { port, send, settled, time } = setup()
    const secret = newSecret()

    send({ deliveryId: 'd1', url: `${target.url}hook?q=1`, secret })
    await settled(1)

    const [got] = target.received
    const at = time.now()
    expect(got).toMatchObject({
      method: 'POST',
      path: '/hook?q=1',
      body: '{"delivery_id":"d1"}',
      headers: {
        'content-type': 'application/json',
        'webhook-id': 'd1',
        'webhook-timestamp': String(at / 1000),
        'webhook-signature': new Webhook(secret).sign('d1', new Date(at), got!.body),
      },
    })
    expect(port.results).toEqual([{ id: 'd1', event: 'acknowledge', at, ms: 0, status: 202, reason: null }])
  })

  it('is tried again when it is due, under the same id and signed anew', async () => {
    const target = await receiver(inTurn(say(503), say(204)))
    const { asleep, port, send, settled, time } = setup()
    const secret = newSecret()
    const began = time.now()

    send({ deliveryId: 'd1', url: target.url, secret })
    await settled(1)
    expect(port.results[0]).toMatchObject({ event: 'retry', reason: 'HTTP 503', dueAt: began + 5_000 })
    expect(await asleep()).toBe(5_000)
    time.advance(4_999)
    await settle()
    expect(target.received).toHaveLength(1)
    time.advance(1)
    await settled(2)

    const [one, two] = target.received.map(({ headers }) => headers)
    expect(two!['webhook-id']).toBe(one!['webhook-id'])
    expect(two!['webhook-signature']).not.toBe(one!['webhook-signature'])
    expect(Number(two!['webhook-timestamp'])).toBe(Number(one!['webhook-timestamp']) + 5)
    expect(port.stateOf('d1')).toBe('delivered')
  })

  it('waits as long as the recipient asks', async () => {
    const target = await receiver(inTurn(say(429, { 'retry-after': '60' }), say(204)))
    const { asleep, port, send, settled, time } = setup()

    send({ deliveryId: 'd1', url: target.url })
    await settled(1)
    for (let waited = 0; waited < 60_000; ) {
      expect(target.received).toHaveLength(1)
      const wait = await asleep()
      time.advance(wait)
      waited += wait
    }
    await settled(2)
    expect(port.stateOf('d1')).toBe('delivered')
  })

  it('fails after the last try, with the last reason', async () => {
    const target = await receiver(inTurn(say(500), say(503)))
    const { asleep, port, send, settled, time } = setup()

    send({ deliveryId: 'd1', url: target.url })
    for (let tries = 1; tries < maxTries('webhook'); tries++) {
      await settled(tries)
      await asleep()
      time.advance(RETRY_SECONDS.webhook[tries - 1]! * 1_000)
    }
    await settled(maxTries('webhook'))

    expect(port.stateOf('d1')).toBe('failed')
    expect(port.results.at(-1)).toMatchObject({ event: 'retry', status: 503, reason: 'HTTP 503' })
    time.advance(86_400_000)
    await settle()
    expect(target.received).toHaveLength(maxTries('webhook'))
  })

  it.each([
    [302, 'refuse', 'HTTP 302: redirects are not followed; give the address it leads to'],
    [404, 'refuse', 'HTTP 404'],
    [410, 'gone', 'HTTP 410'],
  ])('answered %d is over', async (status, event, reason) => {
    const elsewhere = await receiver()
    const target = await receiver(say(status, { location: elsewhere.url }))
    const { port, send, settled } = setup()

    send({ deliveryId: 'd1', url: target.url })
    await settled(1)

    expect(port.results).toMatchObject([{ event, status, reason }])
    expect(elsewhere.connections).toBe(0)
  })

  it('to an address that may not be reached is refused without a connection', async () => {
    const canary = await receiver()
    const { port, send, settled } = setup()
    send({ deliveryId: 'd1', url: canary.url, audience: 'caller' })
    await settled(1)
    expect(port.results).toMatchObject([
      { event: 'refuse', status: null, reason: 'target address is not allowed' },
    ])
    expect(canary.connections).toBe(0)
  })

  it('that nobody takes is tried again', async () => {
    const gone = await receiver()
    await gone.close()
    const { port, send, settled } = setup()
    send({ deliveryId: 'd1', url: gone.url })
    await settled(1)
    expect(port.results).toMatchObject([{ event: 'retry', status: null, reason: 'connection refused' }])
  })

  it('that is not answered within ten seconds is tried again', async () => {
    const silent = await receiver(() => {})
    const { port, send, settled, wire } = setup()
    send({ deliveryId: 'd1', url: silent.url })
    await silent.arrived(1)
    wire.advance(10_000)
    await settled(1)
    expect(port.results).toMatchObject([{ event: 'retry', reason: 'no answer within 10 s' }])
  })
})

/** A receiver that answers when a test says so. */
async function held() {
  const open: http.ServerResponse[] = []
  const target = await receiver((_received, response) => void open.push(response))
  return { ...target, open, answer: (status = 204) => void open.shift()!.writeHead(status).end() }
}

describe('a recipient', () => {
  it('is sent one at a time, in order', async () => {
    const target = await held()
    const { port, send, settled } = setup()
    const ids = ['d1', 'd2', 'd3', 'd4', 'd5']

    send(...ids.map((deliveryId) => ({ deliveryId, url: target.url })))
    for (let sent = 1; sent <= ids.length; sent++) {
      await until(() => target.open.length > 0)
      await settle()
      expect(target.open).toHaveLength(1)
      target.answer()
    }
    await settled(ids.length)

    expect(target.received.map(({ headers }) => headers['webhook-id'])).toEqual(ids)
    expect(port.results.map(({ id }) => id)).toEqual(ids)
  })

  it('is told of a key in order: what comes after a failed one waits for it', async () => {
    const target = await receiver(inTurn(say(503), say(204)))
    const { asleep, send, settled, time } = setup()
    const row = { url: target.url, key: 'host=a' }

    send({ ...row, deliveryId: 'd1' }, { ...row, deliveryId: 'd2' })
    await settled(1)
    for (let second = 0; second < 5; second++) time.advance(Math.min(await asleep(), 1_000))
    await settled(3)

    expect(target.received.map(({ headers }) => headers['webhook-id'])).toEqual(['d1', 'd1', 'd2'])
  })

  it('that never answers holds up itself alone, whatever waits for it', async () => {
    const silent = await held()
    const other = await receiver()
    const { port, send, settled } = setup()

    send(...Array.from({ length: 40 }, (_, i) => ({ deliveryId: `s${i}`, url: silent.url })))
    await until(() => silent.open.length === 1)
    send({ deliveryId: 'd1', url: other.url })
    await settled(1)

    expect(port.stateOf('d1')).toBe('delivered')
    expect(silent.open).toHaveLength(1)
  })

  it('is one of sixteen at once', async () => {
    const targets = await Promise.all(Array.from({ length: 20 }, held))
    const { send, settled } = setup()
    const asked = () => targets.filter(({ received }) => received.length > 0).length

    send(...targets.map(({ url }, i) => ({ deliveryId: `d${i}`, url })))
    await until(() => asked() === 16)
    await settle()
    expect(asked()).toBe(16)
    for (let answered = 1; answered <= 20; answered++) {
      targets.find(({ open }) => open.length > 0)!.answer()
      await settled(answered)
      await until(() => asked() === Math.min(16 + answered, 20))
    }
  })
})

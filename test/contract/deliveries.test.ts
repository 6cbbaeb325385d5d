/** SPEC.md, Outbound events: firings told to subscribed addresses, over real HTTP, with time moved by hand. */
import { Webhook } from 'standardwebhooks'
import { afterEach, describe, expect, it } from 'vitest'
import { check } from '../../schemas/index.ts'
import type { DeliveriesResult, Delivery, FiringMessage, SubscriptionCreated } from '../../schemas/types.ts'
import { type Answer, type Receiver, say, startReceiver } from '../engine/net/egress/receiver.ts'
import type { Fields } from './instance.ts'
import { type Sending, startSending } from './sending.ts'

let svc: Sending
let receiver: Receiver
afterEach(async () => {
  await svc?.stop()
  await receiver?.close()
})

const SOURCE = {
  name: 'app',
  connector: 'webhook',
  config: { event_type_field: 'type', labels: [{ name: 'service', field: 'service', primary: true }] },
}

/** An instance with a source, a trigger for every event and one address that is told. */
async function open({
  answer = say(204),
  ...how
}: {
  answer?: Answer
  secured?: boolean
  allowPrivate?: boolean
} = {}) {
  receiver = await startReceiver(answer)
  svc = await startSending(how)
  const { ingest_key } = await svc.post<{ ingest_key: string }>('/api/sources', SOURCE)
  await svc.post('/api/triggers', {
    name: 'errs',
    sources: ['app'],
    condition: { event: 'any' },
    cooldown: '1s',
  })
  const post = (service = 'pay') => svc.post(`/ingest/${ingest_key}`, { service, type: 'error' })
  const subscribe = (body: Fields = {}) =>
    svc.post<SubscriptionCreated>('/subscribe', { trigger: 'errs', url: `${receiver.url}hook`, ...body })
  const deliveries = async (query = '') =>
    (await svc.get<DeliveriesResult>(`/api/deliveries${query}`)).deliveries
  return { post, subscribe, deliveries }
}

describe('a subscribed address', () => {
  it('is posted each firing, signed as Standard Webhooks says', async () => {
    const { post, subscribe, deliveries } = await open()
    const { secret, subscription_id } = await subscribe({ name: 'ops' })
    await post()
    await svc.settled(1)
    const [{ method, path, headers, body }] = receiver.received as [(typeof receiver.received)[0]]
    expect([method, path, headers['content-type']]).toEqual(['POST', '/hook', 'application/json'])
    const message = JSON.parse(body) as FiringMessage
    expect(check('firing-message.json', message)).toBeNull()
    const [delivery] = await deliveries()
    expect(delivery).toMatchObject({
      delivery_id: headers['webhook-id'],
      dispatch_id: message.dispatch_id,
      status: 'delivered',
      trigger: 'errs',
      key: 'pay',
      recipient: { kind: 'webhook', subscription_id, name: 'ops' },
      attempts: [{ status: 204, error: null }],
    })
    expect(message).toMatchObject({
      delivery_id: delivery!.delivery_id,
      trigger: 'errs',
      key: 'pay',
      events: 1,
    })
    expect(message.payload).toContain('=== firing · errs · pay')
    expect(await svc.get(`/api/deliveries/${delivery!.delivery_id}/message`)).toEqual(message)
    // The library checks the time too, by the wall clock.
    const now = String(Math.floor(Date.now() / 1_000))
    expect(headers['webhook-timestamp']).toBe(String(Math.floor(svc.clock.at / 1_000)))
    const webhook = new Webhook(secret!)
    const signature = webhook.sign(delivery!.delivery_id, new Date(svc.clock.at), body)
    expect(headers['webhook-signature']).toBe(signature)
    expect(() => webhook.verify(body, { ...headers, 'webhook-timestamp': now })).toThrow()
  })

  it('that fails is tried again under the same id, with longer waits, until it takes it', async () => {
    const answers = [500, 503, 200]
    const { post, subscribe, deliveries } = await open({
      answer: (received, response) => say(answers[receiver.received.length - 1] ?? 500)(received, response),
    })
    await subscribe()
    await post()
    await svc.settled(1)
    expect(await deliveries()).toMatchObject([
      { status: 'running', tries: 1, reason: expect.stringContaining('500') as unknown as string },
    ])
    await svc.pass(5_000)
    await svc.settled(2)
    await svc.pass(30_000)
    await svc.settled(3)
    const [delivery] = await deliveries()
    expect(delivery).toMatchObject({ status: 'delivered', tries: 3, reason: null })
    // Newest first.
    expect(delivery!.attempts.map(({ status }) => status)).toEqual([200, 503, 500])
    expect(new Set(receiver.received.map(({ headers }) => headers['webhook-id']))).toEqual(
      new Set([delivery!.delivery_id]),
    )
    expect(new Set(receiver.received.map(({ body }) => body)).size).toBe(1)
  })

  it('that says how long to wait is left alone for so long', async () => {
    const { post, subscribe, deliveries } = await open({ answer: say(429, { 'retry-after': '120' }) })
    await subscribe()
    await post()
    await svc.settled(1)
    expect(Date.parse((await deliveries())[0]!.due_at!)).toBe(svc.clock.at + 120_000)
  })

  it('that refuses it has failed, until a person sends it again', async () => {
    let status = 404
    const { post, subscribe, deliveries } = await open({
      answer: (received, response) => say(status)(received, response),
    })
    await subscribe()
    await post()
    await svc.settled(1)
    const [failed] = await deliveries('?status=failed')
    expect(failed).toMatchObject({ status: 'failed', tries: 1, accepts: ['redeliver'] })
    expect(failed!.reason).toContain('404')
    status = 200
    await svc.post(`/api/deliveries/${failed!.delivery_id}/redeliver`)
    await svc.settled(2)
    expect(await deliveries()).toMatchObject([{ delivery_id: failed!.delivery_id, status: 'delivered' }])
    expect((await svc.call('POST', `/api/deliveries/${failed!.delivery_id}/redeliver`)).status).toBe(200)
    expect((await svc.call('POST', '/api/deliveries/dlv_none/redeliver')).status).toBe(404)
  })

  it('that is gone is switched off, and what failed there is sent again to nobody', async () => {
    const { post, subscribe, deliveries } = await open({ answer: say(410) })
    await subscribe()
    await post()
    await svc.settled(1)
    const [gone] = await deliveries('?status=failed')
    expect(gone).toMatchObject({ reason: 'HTTP 410', accepts: [] })
    expect((await svc.call('POST', `/api/deliveries/${gone!.delivery_id}/redeliver`)).status).toBe(409)
    const { subscriptions } = await svc.get<{ subscriptions: Fields[] }>('/api/subscriptions')
    expect(subscriptions).toMatchObject([{ disabled_at: expect.any(String) as unknown as string }])
    await svc.pass(60_000)
    await post()
    expect(receiver.received).toHaveLength(1)
  })

  it('that is gone says so of what waits for it', async () => {
    const statuses = [500, 410]
    const { post, subscribe, deliveries } = await open({
      answer: (received, response) => say(statuses[receiver.received.length - 1]!)(received, response),
    })
    await subscribe()
    await post('pay')
    await svc.settled(1)
    await svc.pass(1_000)
    await post('cart')
    await svc.settled(2)
    await svc.pass(60_000)
    const reasons = (await deliveries()).map(({ reason }) => reason).sort()
    expect(reasons).toEqual(['HTTP 410', 'its subscription was switched off after HTTP 410'])
    expect(receiver.received).toHaveLength(2)
  })

  it('gets the firings of a key in their order, also while one of them fails', async () => {
    let first = true
    const { post, subscribe } = await open({
      answer: (received, response) => {
        const isFirst = first && received.body.includes('"key":"pay"')
        if (isFirst) first = false
        say(isFirst ? 500 : 200)(received, response)
      },
    })
    await subscribe()
    await post('pay')
    await svc.pass(2_000)
    await post('pay')
    await post('cart')
    await svc.settled(2)
    await svc.pass(5_000)
    await svc.settled(4)
    const told = receiver.received.map(({ body }) => JSON.parse(body) as FiringMessage)
    expect(told.map(({ key }) => key).sort()).toEqual(['cart', 'pay', 'pay', 'pay'])
    const pay = told.filter(({ key }) => key === 'pay').map(({ event_ids }) => event_ids[0])
    expect(pay).toEqual(['evt_1', 'evt_1', 'evt_2'])
  })

  it('is told once of a firing, however it is subscribed, and of triggers made later', async () => {
    const { post, deliveries } = await open()
    const { id } = await svc.post<{ id: string }>('/api/projects', {
      template: 'custom',
      name: 'Shop',
      objects: [{ kind: 'trigger', name: 'errs' }],
    })
    const url = `${receiver.url}hook`
    await svc.post(`/api/projects/${id}/subscribe`, { url })
    await svc.post('/subscribe', { trigger: 'errs', url })
    await post()
    await svc.settled(1)
    const [told, ...more] = await deliveries()
    expect(more).toEqual([])
    // Both know of it, and neither of what its address was told before, or of what is not of its project.
    const { id: far } = await svc.post<{ id: string }>('/api/projects', { template: 'custom', name: 'Far' })
    await svc.post(`/api/projects/${far}/subscribe`, { url })
    const lastOf = async (query: string) =>
      (await svc.get<{ subscriptions: Fields[] }>(`/api/${query}`)).subscriptions.map((row) => [
        row.trigger ?? row.project,
        (row.last_delivery as Fields | null)?.dispatch_id,
      ])
    expect((await lastOf('subscriptions')).toSorted()).toEqual(
      [
        ['errs', told!.dispatch_id],
        [far, undefined],
        [id, told!.dispatch_id],
      ].toSorted(),
    )
    expect(await svc.get(`/api/projects/${id}/external-agents`)).toMatchObject({
      agents: [{ last_delivery: { ok: true, dispatch_id: told!.dispatch_id } }],
    })
    await svc.post('/api/triggers', {
      name: 'later',
      sources: ['app'],
      condition: { event: 'any' },
      project: id,
    })
    await post('cart')
    await svc.settled(3)
    const triggers = receiver.received.map(({ body }) => (JSON.parse(body) as FiringMessage).trigger)
    expect(triggers.sort()).toEqual(['errs', 'errs', 'later'])
  })
})

describe('a subscription', () => {
  it('is the one there is when it is made again, and shows its address masked', async () => {
    const { subscribe } = await open()
    const first = await svc.call<SubscriptionCreated>('POST', '/subscribe', {
      trigger: 'errs',
      url: `${receiver.url}hooks/T0/B0/very-secret`,
    })
    expect(first.status).toBe(201)
    const again = await subscribe({ url: `${receiver.url}hooks/T0/B0/very-secret` })
    expect(again).toEqual({ subscription_id: first.body.subscription_id, existing: true })
    const { text } = await svc.call('GET', '/api/subscriptions')
    expect(text).not.toContain('very-secret')
    expect(text).not.toContain(first.body.secret!)
  })

  it.each([
    ['not an address', 'must be an absolute http or https address'],
    ['ftp://example.com/x', 'must begin with http:// or https://'],
    ['https://user:word@example.com/', 'must not contain a user name or a password'],
    ['http://169.254.169.254/latest', 'target address is not allowed'],
    ['http://[::ffff:169.254.169.254]/', 'target address is not allowed'],
  ])('to %s is refused', async (url, rule) => {
    await open()
    expect(await svc.refused('POST', '/subscribe', { trigger: 'errs', url })).toEqual([400, `url: ${rule}`])
  })

  it('to a trigger that is not there is refused', async () => {
    await open()
    expect(await svc.refused('POST', '/subscribe', { trigger: 'none', url: receiver.url })).toEqual([
      404,
      'no trigger is named none',
    ])
  })

  it('of a key is its own: others do not see it, and it goes with the key', async () => {
    const { post } = await open({ secured: true, allowPrivate: true })
    const keyOf = (name: string) =>
      svc.post<{ id: string; secret: string }>('/api/keys', { name, scopes: ['read'] })
    const [ann, bob] = [await keyOf('ann'), await keyOf('bob')]
    const url = `${receiver.url}hook`
    const mine = await svc.as(ann.secret).post<SubscriptionCreated>('/subscribe', { trigger: 'errs', url })
    const seen = async (client: Pick<Sending, 'get'>) =>
      (await client.get<{ subscriptions: Fields[] }>('/api/subscriptions')).subscriptions.length
    expect([await seen(svc), await seen(svc.as(ann.secret)), await seen(svc.as(bob.secret))]).toEqual([
      1, 1, 0,
    ])
    const { subscription_id } = mine
    expect((await svc.as(bob.secret).call('POST', '/unsubscribe', { subscription_id })).status).toBe(403)
    await post()
    await svc.settled(1)
    await svc.del(`/api/keys/${ann.id}`)
    expect(await seen(svc)).toBe(0)
    await svc.pass(60_000)
    await post()
    expect(receiver.received).toHaveLength(1)
  })

  it('is listed in pages, and one that is removed in between takes nothing along', async () => {
    await open()
    for (const name of ['a', 'b', 'c', 'd'])
      await svc.post('/subscribe', { trigger: 'errs', url: `${receiver.url}${name}` })
    const page = (query: string) =>
      svc.get<{ subscriptions: { subscription_id: string }[]; next_before: string | null }>(
        `/api/subscriptions${query}`,
      )
    const idsOf = ({ subscriptions }: Awaited<ReturnType<typeof page>>) =>
      subscriptions.map((one) => one.subscription_id)
    const all = idsOf(await page(''))
    const first = await page('?limit=2')
    await svc.post('/unsubscribe', { subscription_id: first.next_before })
    const second = await page(`?limit=2&before=${first.next_before}`)
    expect([idsOf(first), idsOf(second)]).toEqual([all.slice(0, 2), all.slice(2)])
    expect(second.next_before).toBeNull()
    expect(await svc.refused('GET', '/api/subscriptions?before=none')).toEqual([
      400,
      'before must be next_before of an earlier answer of the same list',
    ])
  })

  it('of a key may not point inside the network, one of an operator may', async () => {
    await open({ secured: true })
    const { secret } = await svc.post<{ secret: string }>('/api/keys', { name: 'k', scopes: ['read'] })
    const body = { trigger: 'errs', url: receiver.url }
    expect(await svc.as(secret).refused('POST', '/subscribe', body)).toEqual([
      400,
      'url: target address is not allowed',
    ])
    expect((await svc.call('POST', '/subscribe', body)).status).toBe(201)
  })

  it('goes with its trigger, and what waits is withdrawn', async () => {
    const { post, subscribe, deliveries } = await open({ answer: say(500) })
    await subscribe()
    await post()
    await svc.settled(1)
    await svc.del('/api/triggers/errs')
    expect((await svc.get<{ subscriptions: Fields[] }>('/api/subscriptions')).subscriptions).toEqual([])
    expect(await deliveries()).toMatchObject([{ status: 'failed', reason: 'its subscription was removed' }])
    await svc.pass(60_000)
    expect(receiver.received).toHaveLength(1)
  })

  it('is removed by its id, twice too, and an id that none has is refused by name', async () => {
    const { post, subscribe } = await open()
    const { subscription_id } = await subscribe()
    expect(await svc.post('/unsubscribe', { subscription_id })).toEqual({ ok: true })
    expect(await svc.post('/unsubscribe', { subscription_id })).toEqual({ ok: true })
    expect(await svc.refused('POST', '/unsubscribe', { subscription_id: 'nosuch' })).toEqual([
      404,
      'no subscription has the id nosuch',
    ])
    await post()
    expect((await svc.get<{ deliveries: Delivery[] }>('/api/deliveries')).deliveries).toEqual([])
  })
})

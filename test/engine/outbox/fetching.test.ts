/** Firings that are fetched: one holder, a lease, handed out again when it ends, failed after the last. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createWaiting, fetchFiringBy } from '../../../engine/outbox/fetching.ts'
import { manualTime } from '../net/egress/manual-time.ts'
import { BY, openWorld, type World } from '../triggers/trigger-world.ts'

const ME = { id: 'key:a', name: 'agent a' }
const MINE = { by: ME, own: true }
const LEASE = 60_000
const error = (service = 'pay') => ({ service, type: 'error' })

async function subscribed(options: Parameters<typeof openWorld>[0] = {}) {
  const world = await openWorld(options)
  await world.trigger({ condition: { event: 'any' }, cooldown: '1s' })
  const { subscription_id: id, secret } = await world.engine.subscribe(
    { trigger: 't' },
    { url: null, audience: 'caller' },
    ME,
  )
  expect(secret).toBeUndefined()
  return { world, id }
}

const fetch = (world: World, id: string, timeoutMs = 0, signal?: AbortSignal) =>
  world.engine.fetchFiring(id, { timeoutMs, leaseMs: LEASE, signal }, MINE).then(({ delivery }) => delivery)

/** The dispatcher of the daemon does this when the next lease ends. */
const sweep = (world: World) => world.engine.claimDeliveries(16, [])

const statusOf = async (world: World, delivery: string) => {
  const { status, tries, reason, recipient } = await world.engine.getDelivery(delivery)
  return { status, tries, reason, kind: recipient.kind }
}

describe('a firing that is fetched', () => {
  it('is held by who fetched it until it is acknowledged, and is delivered then', async () => {
    const { world, id } = await subscribed()
    expect(await fetch(world, id)).toBeNull()
    await world.post(error())
    const held = (await fetch(world, id))!
    expect(held).toMatchObject({ tries: 1, message: { trigger: 't', key: 'pay' } })
    expect(Date.parse(held.lease_until)).toBe(world.clock.at + LEASE)
    expect(await fetch(world, id)).toBeNull()
    expect(await statusOf(world, held.delivery_id)).toMatchObject({ status: 'running', kind: 'mcp' })
    const holding = { deliveryId: held.delivery_id, lease: held.lease }
    await world.engine.acknowledgeFiring(id, holding, MINE)
    expect(await statusOf(world, held.delivery_id)).toMatchObject({ status: 'delivered', reason: null })
    await expect(world.engine.acknowledgeFiring(id, holding, MINE)).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringContaining('acknowledged already'),
    })
  })

  it('is given to one of two who wait, and to the other when the lease ends', async () => {
    const { world, id } = await subscribed()
    const waits = [fetch(world, id, 55_000), fetch(world, id, 55_000)]
    await world.post(error())
    const first = await Promise.race(waits)
    const other = Promise.all(waits).then((both) => both.find((one) => one !== first)!)
    world.clock.at += LEASE
    await sweep(world)
    const second = (await other)!
    expect(second.delivery_id).toBe(first!.delivery_id)
    expect([second.tries, second.lease === first!.lease]).toEqual([2, false])
    const late = { deliveryId: first!.delivery_id, lease: first!.lease }
    await expect(world.engine.acknowledgeFiring(id, late, MINE)).rejects.toThrow('lease: it ended')
    await world.engine.acknowledgeFiring(id, { ...late, lease: second.lease }, MINE)
  })

  it('is held longer when the lease is extended', async () => {
    const { world, id } = await subscribed()
    await world.post(error())
    const { delivery_id: deliveryId, lease } = (await fetch(world, id))!
    world.clock.at += LEASE - 1
    await world.engine.extendLease(id, { deliveryId, lease }, LEASE, MINE)
    world.clock.at += LEASE - 1
    await sweep(world)
    expect(await fetch(world, id)).toBeNull()
    await world.engine.acknowledgeFiring(id, { deliveryId, lease }, MINE)
  })

  it('is never held shorter than it was, however short it is extended', async () => {
    const { world, id } = await subscribed()
    await world.post(error())
    const { delivery_id: deliveryId, lease, lease_until } = (await fetch(world, id))!
    const extended = await world.engine.extendLease(id, { deliveryId, lease }, LEASE / 2, MINE)
    expect(extended.lease_until).toBe(lease_until)
    world.clock.at += LEASE - 1
    await sweep(world)
    await world.engine.acknowledgeFiring(id, { deliveryId, lease }, MINE)
  })

  it('is held no longer where the clock is set back by a day, and as long as before where it is by a minute', async () => {
    const { world, id } = await subscribed()
    await world.post(error())
    const { delivery_id } = (await fetch(world, id))!
    world.clock.at -= 60_000
    await sweep(world)
    expect(await statusOf(world, delivery_id)).toMatchObject({ status: 'running', tries: 1 })
    world.clock.at -= 86_400_000
    await sweep(world)
    expect(await fetch(world, id)).toMatchObject({ delivery_id, tries: 2 })
  })

  it('has failed after it was handed out five times, until a person sends it again', async () => {
    const { world, id } = await subscribed()
    await world.post(error())
    let last = ''
    for (let n = 1; n <= 5; n++) {
      const held = (await fetch(world, id))!
      expect(held.tries).toBe(n)
      last = held.delivery_id
      world.clock.at += LEASE
      await sweep(world)
    }
    expect(await fetch(world, id)).toBeNull()
    expect(await statusOf(world, last)).toMatchObject({
      status: 'failed',
      reason: 'its lease ended before it was acknowledged',
    })
    await world.engine.redeliver(last)
    expect((await fetch(world, id))!.tries).toBe(1)
  })

  it('waits for the one before it of the same key, not for those of others', async () => {
    const { world, id } = await subscribed()
    for (const service of ['pay', 'pay', 'cart']) {
      await world.post(error(service))
      world.pass(2_000)
    }
    const [a, b] = [(await fetch(world, id))!, (await fetch(world, id))!]
    expect([a.message.key, b.message.key, await fetch(world, id)]).toEqual(['pay', 'cart', null])
    await world.engine.acknowledgeFiring(id, { deliveryId: a.delivery_id, lease: a.lease }, MINE)
    expect((await fetch(world, id))!.message.key).toBe('pay')
  })

  it('is not taken for somebody who went away', async () => {
    const { world, id } = await subscribed()
    const gone = new AbortController()
    const waiting = fetch(world, id, 55_000, gone.signal)
    gone.abort()
    expect(await waiting).toBeNull()
    await world.post(error())
    expect((await fetch(world, id))!.tries).toBe(1)
  })

  it('is not waited for in vain: whose queue was deleted meanwhile is told so at the end of the wait', async () => {
    const { world, id } = await subscribed()
    const time = manualTime()
    const waiting = createWaiting(time, () => {})
    const claim = () => world.engine.claimFiring(id, LEASE, MINE)
    const asked = waiting.wait({ claim, giveBack: async () => {} }, 40_000, undefined)
    await expect.poll(() => time.waits()).toEqual([40_000])
    await world.engine.deleteTrigger('t', BY)
    time.advance(40_000)
    await expect(asked).rejects.toThrow('or its trigger, project or key was deleted')
  })

  it('is given back, uncounted, by who went away while it was read', async () => {
    const { world, id } = await subscribed()
    await world.post(error())
    const gone = new AbortController()
    const deliveryMessage = (delivery: string) => {
      gone.abort()
      return world.engine.deliveryMessage(delivery)
    }
    const waiting = createWaiting({ after: () => () => {} }, (fault) => {
      throw fault
    })
    const asked = fetchFiringBy({ ...world.engine, deliveryMessage }, waiting)
    expect(await asked(id, { timeoutMs: 0, leaseMs: LEASE, signal: gone.signal }, MINE)).toEqual({
      delivery: null,
    })
    expect((await fetch(world, id))!.tries).toBe(1)
  })

  it('stays with its holder over a restart', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'svc-fetch-'))
    const dataFile = join(folder, 'svc.db')
    const { world, id } = await subscribed({ dataFile })
    await world.post([error('pay'), error('cart')])
    const held = (await fetch(world, id))!
    await world.engine.close()
    const again = await openWorld({ dataFile, clock: world.clock })
    expect((await fetch(again, id))!.delivery_id).not.toBe(held.delivery_id)
    await again.engine.acknowledgeFiring(id, { deliveryId: held.delivery_id, lease: held.lease }, MINE)
    expect(await statusOf(again, held.delivery_id)).toMatchObject({ status: 'delivered' })
    await again.engine.close()
    rmSync(folder, { recursive: true })
  })
})

describe('a subscription that fetches', () => {
  it('is the one there is for the same caller and name, and another for another', async () => {
    const { world, id } = await subscribed()
    const again = (by: typeof ME, name?: string) =>
      world.engine.subscribe({ trigger: 't' }, { url: null, name, audience: 'caller' }, by)
    expect(await again(ME)).toEqual({ subscription_id: id, existing: true })
    expect((await again(ME, 'night')).existing).toBeUndefined()
    expect((await again({ id: 'key:b', name: 'b' })).existing).toBeUndefined()
  })

  it('is fetched by its own caller alone, and withdrawn with it', async () => {
    const { world, id } = await subscribed()
    await world.post(error())
    const stranger = { by: { id: 'key:b', name: 'b' }, own: true }
    const ask = (who: typeof MINE) => world.engine.fetchFiring(id, { timeoutMs: 0, leaseMs: LEASE }, who)
    await expect(ask(stranger)).rejects.toMatchObject({ code: 'forbidden' })
    expect((await ask({ ...stranger, own: false })).delivery).not.toBeNull()
    await world.engine.unsubscribe(id, ME, { own: true, strict: true })
    await expect(ask(MINE)).rejects.toMatchObject({ code: 'not_found' })
  })

  it('of an address that two callers subscribed is posted for each, signed with its secret', async () => {
    const { world } = await subscribed()
    const to = { url: 'https://example.com/hook', audience: 'operator' as const }
    const made = [
      await world.engine.subscribe({ trigger: 't' }, to, BY.caller),
      await world.engine.subscribe({ trigger: 't' }, to, ME),
    ]
    expect(new Set(made.map(({ secret }) => secret)).size).toBe(2)
    await world.post(error())
    const { deliveries } = await world.engine.listDeliveries({ limit: 10 })
    const told = deliveries.map(({ recipient }) => recipient.subscription_id)
    for (const { subscription_id } of made) expect(told).toContain(subscription_id)
  })

  it('is one of a hundred at most of a credential without scope admin', async () => {
    const { world, id } = await subscribed()
    const add = (n: number, audience: 'caller' | 'operator' = 'caller', by: typeof ME = ME) =>
      world.engine.subscribe({ trigger: 't' }, { url: null, name: `n${n}`, audience }, by)
    for (let n = 1; n < 100; n++) await add(n)
    await expect(add(100)).rejects.toMatchObject({ code: 'too_many' })
    expect((await add(99)).existing).toBe(true)
    expect((await add(100, 'caller', { id: 'key:b', name: 'b' })).existing).toBeUndefined()
    expect((await add(101, 'operator')).existing).toBeUndefined()
    await world.engine.unsubscribe((await add(101)).subscription_id, ME, { own: true, strict: true })
    await expect(add(102)).rejects.toMatchObject({ code: 'too_many' })
    await world.engine.unsubscribe(id, ME, { own: true, strict: true })
    expect((await add(102)).existing).toBeUndefined()
  })

  it('of an address is not fetched', async () => {
    const { world } = await subscribed()
    const to = { url: 'https://example.com/hook', audience: 'operator' as const }
    const { subscription_id: id } = await world.engine.subscribe({ trigger: 't' }, to, BY.caller)
    const asked = world.engine.fetchFiring(
      id,
      { timeoutMs: 0, leaseMs: LEASE },
      { by: BY.caller, own: false },
    )
    await expect(asked).rejects.toThrow('its firings are posted to an address')
  })
})

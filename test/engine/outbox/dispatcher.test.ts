import { describe, expect, it } from 'vitest'
import { SvcError } from '../../../engine/errors.ts'
import { receiver } from '../net/egress/setup.ts'
import { gate, settle, setup, until } from './setup.ts'

const broken = () => {
  throw new Error('the port is broken')
}

describe('a nudge', () => {
  it('needs no timer', async () => {
    const target = await receiver()
    const { send, time } = setup()
    const before = time.now()
    send({ deliveryId: 'd1', url: target.url })
    await target.arrived(1)
    expect(time.now()).toBe(before)
  })

  it('during a claim is not lost', async () => {
    const target = await receiver()
    const { worker, port, send, settled } = setup()
    const { opened, open } = gate()
    // What the claim finds was decided before the row was there.
    const claim = port.claim
    port.claim = async (...args) => {
      const found = await claim(...args)
      await opened
      return found
    }
    worker.nudge()
    await until(() => port.calls.claim === 1)
    await settle()
    send({ deliveryId: 'd1', url: target.url })
    open()
    await settled(1)
  })

  it.each([0, 1, 2, 3, 4, 5, 6, 8, 12])('%d steps after the last look is not lost', async (steps) => {
    const target = await receiver()
    const { worker, port, send, settled } = setup()
    const { opened, open } = gate()
    port.nextDue = async () => {
      await opened
      return null
    }
    worker.nudge()
    await settle()
    open()
    for (let step = 0; step < steps; step++) await Promise.resolve()
    send({ deliveryId: 'd1', url: target.url })
    await settled(1)
  })

  it('of many costs no claim each', async () => {
    const { worker, port } = setup()
    for (let i = 0; i < 1_000; i++) worker.nudge()
    await settle()
    expect(port.calls.claim).toBeLessThanOrEqual(2)
  })
})

describe('with nothing to do', () => {
  it('it waits for a nudge', async () => {
    const { worker, port, time } = setup()
    worker.nudge()
    await settle()
    expect(time.waits()).toEqual([])
    expect(port.calls.claim).toBe(1)
  })

  it('it waits for what is due later', async () => {
    const target = await receiver()
    const { asleep, send, settled, time } = setup()
    send({ deliveryId: 'd1', url: target.url, dueAt: time.now() + 12_345 })
    expect(await asleep()).toBe(12_345)
    expect(target.received).toHaveLength(0)
    time.advance(12_345)
    await settled(1)
  })

  it('it does not trust a long wait, for the wall clock may be set', async () => {
    const { asleep, send, time } = setup()
    send({ deliveryId: 'd1', url: 'http://127.0.0.1/', dueAt: time.now() + 86_400_000 })
    expect(await asleep()).toBe(30_000)
  })

  it('it looks once a second while something due cannot be claimed', async () => {
    const { asleep, worker, port, time } = setup()
    port.nextDue = async () => 0
    worker.nudge()
    for (let second = 1; second <= 3; second++) {
      expect(await asleep()).toBe(1_000)
      await settle()
      expect(port.calls.claim).toBe(second)
      time.advance(1_000)
    }
  })
})

describe('a port that fails', () => {
  it('at a claim is told of, and asked again after pauses that grow', async () => {
    const target = await receiver()
    const { asleep, worker, errors, port, send, settled, time } = setup()
    port.before.claim = broken
    send({ deliveryId: 'd1', url: target.url })
    for (const pause of [1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]) {
      expect(await asleep()).toBe(pause)
      const { claim } = port.calls
      worker.nudge()
      await settle()
      expect(port.calls.claim).toBe(claim)
      expect(errors).toHaveLength(claim)
      time.advance(pause)
    }
    await asleep()
    port.before.claim = () => {}
    time.advance(30_000)
    await settled(1)
    expect(new Set(errors)).toEqual(new Set(['the port is broken']))

    port.before.nextDue = broken
    worker.nudge()
    expect(await asleep()).toBe(1_000)
  })

  it('to settle is asked again, and nothing is sent twice', async () => {
    const target = await receiver()
    const other = await receiver()
    const { asleep, errors, port, send, settled, time } = setup()
    port.before.settle = broken
    send({ deliveryId: 'd1', url: target.url }, { deliveryId: 'd2', url: target.url })
    expect(await asleep()).toBe(1_000)
    expect(errors).toEqual(['the port is broken'])
    delete port.before.settle
    send({ deliveryId: 'd3', url: other.url })
    await settled(1)
    time.advance(1_000)
    await settled(3)
    expect(port.results.map(({ id }) => id)).toEqual(['d3', 'd1', 'd2'])
    expect(target.received).toHaveLength(2)
  })

  it.each(['not_found', 'wrong_state'] as const)('to settle for good (%s) is told of once', async (code) => {
    const target = await receiver()
    const { errors, port, send, settled, time } = setup()
    port.before.settle = () => {
      delete port.before.settle
      throw new SvcError(code, 'it cannot be settled')
    }
    send({ deliveryId: 'd1', url: target.url }, { deliveryId: 'd2', url: target.url })
    await settled(1)
    expect(port.results).toMatchObject([{ id: 'd2', event: 'acknowledge' }])
    expect(errors).toEqual(['it cannot be settled'])
    expect(time.waits()).toEqual([])
  })

  it('to make a message is told of, and the try counts', async () => {
    const target = await receiver()
    const { errors, port, send, settled, time } = setup()
    port.before.message = () => {
      delete port.before.message
      broken()
    }
    send({ deliveryId: 'd1', url: target.url }, { deliveryId: 'd2', url: target.url })
    await settled(2)
    expect(errors).toEqual(['the port is broken'])
    expect(port.results).toMatchObject([
      { id: 'd1', event: 'retry', reason: 'the message could not be made', dueAt: time.now() + 5_000 },
      { id: 'd2', event: 'acknowledge' },
    ])
  })
})

describe('a stop', () => {
  it('lets what is under way end, and gives back what waits', async () => {
    let answer = () => {}
    const target = await receiver((_received, response) => {
      answer = () => void response.writeHead(204).end()
    })
    const { worker, port, send, time } = setup()
    send({ deliveryId: 'd1', url: target.url }, { deliveryId: 'd2', url: target.url })
    await target.arrived(1)
    const stopped = worker.stop()
    answer()
    await stopped
    expect(port.results).toMatchObject([
      { id: 'd1', event: 'acknowledge', status: 204 },
      { id: 'd2', event: 'interrupted' },
    ])
    expect(target.received).toHaveLength(1)
    expect(time.waits()).toEqual([])
  })

  it('cuts off after five seconds what does not end', async () => {
    const silent = await receiver(() => {})
    const { worker, port, send, time } = setup()
    send({ deliveryId: 'd1', url: silent.url })
    await silent.arrived(1)
    const stopped = worker.stop()
    time.advance(4_999)
    await settle()
    expect(port.results).toEqual([])
    time.advance(1)
    await stopped
    expect(port.results).toMatchObject([{ id: 'd1', event: 'interrupted', status: null }])
    expect(port.stateOf('d1')).toBe('pending')
  })

  it('gives back what a claim under way brings', async () => {
    const target = await receiver()
    const { worker, port, send } = setup()
    const { opened, open } = gate()
    port.before.claim = () => opened
    send({ deliveryId: 'd1', url: target.url })
    const stopped = worker.stop()
    open()
    await stopped
    expect(port.results).toMatchObject([{ id: 'd1', event: 'interrupted' }])
    expect(target.connections).toBe(0)
  })

  it('claims no more, whatever is due or nudges', async () => {
    const { asleep, worker, port, send, time } = setup()
    send({ deliveryId: 'd1', url: 'http://127.0.0.1/', dueAt: time.now() + 1_000 })
    await asleep()
    await worker.stop()
    const { claim } = port.calls
    time.advance(1_000)
    worker.nudge()
    await settle()
    expect(port.calls.claim).toBe(claim)
  })

  it('ends even if the port does not answer', async () => {
    const target = await receiver()
    const { worker, port, send, time } = setup()
    port.before.settle = () => new Promise(() => {})
    send({ deliveryId: 'd1', url: target.url })
    await until(() => port.calls.settle === 1)
    const stopped = worker.stop()
    time.advance(5_000)
    await settle()
    time.advance(2_000)
    await stopped
  })

  it('does not wait out a pause, but asks the port once more', async () => {
    const target = await receiver()
    const { asleep, worker, errors, port, send } = setup()
    port.before.settle = broken
    send({ deliveryId: 'd1', url: target.url })
    await asleep()
    delete port.before.settle
    await worker.stop()
    expect(port.results).toMatchObject([{ id: 'd1', event: 'acknowledge' }])
    expect(errors).toHaveLength(1)
  })

  it('can be asked for twice', async () => {
    const { worker } = setup()
    await Promise.all([worker.stop(), worker.stop()])
  })
})

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { BY, MINUTE, openWorld, T0 } from './trigger-world.ts'

const iso = (ms: number) => new Date(ms).toISOString()
const errors = { aggregate: 'count', predicate: '> 2', window: '5m' } as const
const error = { service: 'checkout', type: 'error' }
const OPERATOR = { by: { id: 'open', name: 'op' }, own: false }

describe('a trigger whose resolve', () => {
  const saved = async (condition: object) => {
    const world = await openWorld()
    const window = '5m'
    return world.engine.createTrigger(
      { name: 't', sources: ['app'], condition: { window, ...condition } } as never,
      BY,
    )
  }
  const avg = { aggregate: 'avg', field: 'ms' }

  it.each([
    [{ aggregate: 'count', predicate: '> 1', resolve: '< 1000' }],
    [{ aggregate: 'count', predicate: '> 1', resolve: '<= 2' }],
    [{ ...avg, predicate: '> 1', resolve: '< 2' }],
    [{ ...avg, predicate: '>= 5', resolve: '<= 5' }],
    [{ ...avg, predicate: '< 5', resolve: '== 4' }],
    [{ ...avg, predicate: '> 1', resolve: '> 7' }],
    [{ aggregate: 'rate', predicate: '> 1/s', resolve: '< 61/m' }],
  ])('%j holds while its predicate does is refused', async (condition) => {
    await expect(saved(condition)).rejects.toThrow(
      `condition.resolve (${condition.resolve}) must not hold while condition.predicate (${condition.predicate}) does`,
    )
  })

  it.each([
    [{ aggregate: 'count', predicate: '> 1', resolve: '< 2' }],
    [{ aggregate: 'distinct', predicate: '>= 2.5', resolve: '< 3' }],
    [{ ...avg, predicate: '> 5', resolve: '<= 5' }],
    [{ ...avg, predicate: '< 5', resolve: '== 5' }],
    [{ ...avg, predicate: '== 5', resolve: '> 5' }],
    [{ aggregate: 'rate', predicate: '> 1/s', resolve: '< 60/m' }],
  ])('%j begins where it ends is saved', async (condition) => {
    const field = condition.aggregate === 'distinct' ? { field: 'region' } : {}
    expect(await saved({ ...condition, ...field })).toMatchObject({ name: 't' })
  })
})

it('an aggregate that is not known is told those there are', async () => {
  const world = await openWorld()
  const condition = { aggregate: 'p95', field: 'ms', predicate: '> 1', window: '5m' }
  await expect(
    world.engine.createTrigger({ name: 't', sources: ['app'], condition } as never, BY),
  ).rejects.toThrow('condition.aggregate must be one of count, rate, distinct, sum, avg, max, min, any')
})

describe('a firing', () => {
  it('is over by the clock also where something else was declared meanwhile', async () => {
    const { engine, trigger, post, pass, clock, firings } = await openWorld()
    await trigger({ condition: { ...errors, resolve: true }, cooldown: '1s' })
    const at = iso(clock.at - MINUTE)
    await post([1, 2, 3, 4].map((n) => ({ ...error, at, msg: `m${n}` })))
    await engine.createSource({ name: 'other', connector: 'webhook' }, BY, false)
    engine.tick()
    pass(5 * MINUTE)
    expect(await firings()).toMatchObject([{ resolves: null }, { resolves: expect.any(String) }])
  })

  it('compares and tells the digits of a payload, which no filter may give as a rounded number', async () => {
    const { engine, trigger, firings } = await openWorld()
    await trigger({
      name: 'equal',
      condition: { event: 'any' },
      filters: [{ field: 'payload.order', op: 'eq', value: '12345678901234567891' }],
    })
    await trigger({
      name: 'above',
      condition: { event: 'any' },
      filters: [{ field: 'payload.order', op: 'gt', value: '12345678901234567890' }],
    })
    const { ingest_key: ingestKey } = (await engine.listSources()).find(({ name }) => name === 'app')!
    const of = (order: string) => `{"service":${order},"order":${order},"msg":"m"}`
    const body = Buffer.from(`[${of('12345678901234567890')},${of('12345678901234567891')}]`)
    await engine.ingest({ ingestKey: ingestKey!, body, bypassCooldown: false, caller: 'open' })
    expect((await firings()).map(({ trigger: name, entity }) => [name, entity?.value]).sort()).toEqual([
      ['above', '12345678901234567891'],
      ['equal', '12345678901234567891'],
    ])
    await expect(
      trigger({
        name: 'rounded',
        condition: { event: 'any' },
        // A double has no other: JSON.parse made it of 12345678901234567891.
        filters: [{ field: 'payload.order', op: 'in', value: ['a', 2 ** 63] }],
      }),
    ).rejects.toThrow('filters[0].value has more digits than a number keeps; put it in quotes')
  })

  it('is there with the answer to the events that tripped it, and carries them', async () => {
    const { post, trigger, firings, clock } = await openWorld()
    await trigger({ condition: errors, filters: [{ field: 'event_type', op: 'eq', value: 'error' }] })
    const ids = [...(await post([error, { ...error, type: 'info' }, error])), ...(await post(error))]
    expect(await firings()).toMatchObject([
      {
        trigger: 't',
        kind: 't',
        state: 'fired',
        key: 'checkout',
        entity: { label: 'service', value: 'checkout' },
        fired_at: iso(clock.at),
        value: 3,
        predicate: '> 2',
        window: '5m',
        events: 3,
        event_ids: [ids[0], ids[2], ids[3]],
        key_count: 1,
        subscribers: 0,
      },
    ])
  })

  it('names its kind and the projects it reached', async () => {
    const { engine, post, trigger, firings } = await openWorld()
    await trigger({ condition: { event: 'any' }, emit: { kind: 'error_burst' } })
    const { id } = await engine.createProject(
      { template: 'custom', name: 'Shop', objects: [{ kind: 'trigger', name: 't' }] },
      BY,
    )
    await engine.createAgent({ name: 'first-look', prompt: 'Look.', trigger: 't', project: id }, BY)
    await engine.switchAgent('first-look', true, id, BY)
    await post(error)
    expect(await firings()).toMatchObject([{ kind: 'error_burst', projects: [id], subscribers: 1 }])
  })

  it('is told with the timeline of its entity across sources, as it was', async () => {
    const { engine, post, trigger, firings, clock } = await openWorld()
    await post({ service: 'checkout', type: 'deploy', msg: 'v2 is out' }, { source: 'deploys' })
    await trigger({ condition: { event: 'any' } })
    clock.at += 1_000
    await post({ ...error, msg: 'cannot pay' })
    const [firing] = await firings()
    const before = (await engine.getFiring(firing!.dispatch_id)).payload
    clock.at += 1_000
    await post({ ...error, msg: 'cannot pay again' })
    const { payload, sentence, aggregate } = await engine.getFiring(firing!.dispatch_id)
    expect(payload).toBe(before)
    expect(payload).toContain('=== firing · t · checkout')
    expect(payload).toContain('v2 is out')
    expect(payload).toContain('cannot pay')
    expect(payload).not.toContain('again')
    expect(sentence).toBe('When an event arrives on app')
    expect(aggregate).toBeNull()
  })

  it('says of a firing what its value counts, whatever words the trigger has for itself', async () => {
    const { engine, trigger, post, firings } = await openWorld()
    await trigger({ description: 'checkout is on fire', condition: { ...errors, predicate: '> 0' } })
    await post(error)
    const [firing] = await firings()
    expect(await engine.getFiring(firing!.dispatch_id)).toMatchObject({
      sentence: expect.stringContaining('checkout is on fire'),
      aggregate: 'count',
      value: 1,
    })
  })

  it('waits its cooldown per key, unless the post asks to wake now', async () => {
    const { post, trigger, firings, clock } = await openWorld()
    await trigger({ condition: { event: 'any' }, cooldown: '10m' })
    await post(error)
    clock.at += 9 * MINUTE
    await post([error, { service: 'cart' }])
    clock.at += 1_000
    await post(error, { bypass: true })
    clock.at += 10 * MINUTE
    await post(error)
    expect((await firings()).map(({ key, fired_at }) => [key, fired_at])).toEqual([
      ['checkout', iso(T0)],
      ['cart', iso(T0 + 9 * MINUTE)],
      ['checkout', iso(T0 + 9 * MINUTE + 1_000)],
      ['checkout', iso(T0 + 19 * MINUTE + 1_000)],
    ])
  })
})

describe('a trigger', () => {
  it('shows when it fired last, and how often in each of the last seven days', async () => {
    const { engine, post, trigger, pass } = await openWorld()
    await trigger({ condition: { event: 'any' }, cooldown: '1s' })
    const day = 24 * 60 * MINUTE
    for (const wait of [0, day, MINUTE, 3 * day, MINUTE]) {
      pass(wait)
      await post(error)
    }
    pass(MINUTE)
    expect(await engine.getTrigger('t')).toMatchObject({
      last_fired: iso(T0 + 4 * day + 2 * MINUTE),
      firings_24h: 2,
      spark: [0, 0, 1, 2, 0, 0, 2],
    })
  })
})

describe('a change of the definition', () => {
  it('takes effect with the next event: an edit, a pause, a delete', async () => {
    const { engine, post, trigger, firings } = await openWorld()
    await trigger({ condition: { event: 'any' }, cooldown: '1s' })
    await engine.moveTrigger('t', 'pause', BY)
    const [paused] = await post(error)
    await engine.moveTrigger('t', 'resume', BY)
    await post(error)
    await engine.updateTrigger(
      't',
      {
        name: 't',
        sources: ['app'],
        condition: { event: 'any' },
        filters: [{ field: 'region', op: 'eq', value: 'eu' }],
      },
      BY,
    )
    await post({ ...error, service: 'cart' })
    await post({ ...error, service: 'cart', region: 'eu' })
    await engine.deleteTrigger('t', BY)
    await post({ ...error, service: 'gone', region: 'eu' })
    expect((await firings()).map(({ key }) => key)).toEqual(['checkout', 'cart'])
    await engine.undoChangeSet((await engine.listChangeSets({ limit: 1 })).version, false, BY)
    expect((await engine.why(paused!)).records).toMatchObject([{ trigger: 't' }])
  })

  it('keeps what was counted before it was made', async () => {
    const { post, trigger, firings } = await openWorld()
    await post([error, error])
    await trigger({ condition: errors })
    await post(error)
    expect(await firings()).toMatchObject([{ events: 3 }])
  })
})

describe('silence', () => {
  it('fires once for a key that stops, and again after it has come back', async () => {
    const { post, trigger, firings, pass } = await openWorld()
    await trigger({ condition: { absent_for: '10m' }, cooldown: '1s' })
    await post([{ service: 'a' }, { service: 'b' }])
    pass(9 * MINUTE)
    await post({ service: 'a' })
    pass(2 * MINUTE)
    expect((await firings()).map(({ key, fired_at }) => [key, fired_at])).toEqual([
      ['b', iso(T0 + 10 * MINUTE)],
    ])
    pass(60 * MINUTE)
    await post({ service: 'b' })
    pass(11 * MINUTE)
    expect((await firings()).map(({ key }) => key)).toEqual(['b', 'a', 'b'])
  })
})

describe('a schedule', () => {
  it('says of a cooldown that it does nothing, and is saved', async () => {
    const { engine } = await openWorld()
    const write = { name: 't', sources: ['app'], condition: { every: '60s' }, cooldown: '10m' }
    const { warnings } = await engine.createTrigger(write, BY)
    expect(warnings).toEqual([
      'trigger t: cooldown does nothing: a schedule fires at its own times, and has none',
    ])
  })

  it('tells how many slots it missed, one or more', async () => {
    const { trigger, pass, firings, clock, engine } = await openWorld()
    await trigger({ condition: { every: '10m' } })
    pass(0)
    for (const missed of [2, 3]) {
      clock.at += missed * 10 * MINUTE
      engine.tick()
    }
    expect((await firings()).map(({ reason }) => reason.split('; ')[1])).toEqual([
      undefined,
      '1 before it was missed',
      '2 before it were missed',
    ])
  })

  it('fires when it is made and every interval, with a summary', async () => {
    const { engine, post, trigger, firings, pass } = await openWorld()
    await post([error, error, { service: 'cart' }])
    await trigger({ condition: { every: '10m', summary: 'rich' } })
    pass(0)
    pass(20 * MINUTE)
    const all = await firings()
    expect(all.map(({ key, fired_at, entity }) => [key, fired_at, entity])).toEqual([
      ['t', iso(T0), null],
      ['t', iso(T0 + 10 * MINUTE), null],
      ['t', iso(T0 + 20 * MINUTE), null],
    ])
    const { payload } = await engine.getFiring(all[1]!.dispatch_id)
    expect(payload).toContain('by entity')
    expect(payload).toContain('last 10 min')
  })

  it('lists what was found by its headline, else by the first sentence of its note', async () => {
    const { engine, trigger, firings, pass } = await openWorld()
    const { id } = await engine.createProject({ template: 'custom', name: 'Shop', objects: [] }, BY)
    const record = (finding: object) => engine.recordFinding(id, finding as never, 'scout', OPERATOR)
    await record({ entity: 'pay', finding: '\n## **Pay** is slow. Since noon.\n\nMore of it.' })
    await record({ entity: 'cart', finding: 'Long.', headline: 'Cart fails', verdict: 'deploy' })
    await trigger({ condition: { every: '10m', summary: 'rich' } })
    pass(10 * MINUTE)
    const [firing] = await firings()
    const { payload } = await engine.getFiring(firing!.dispatch_id)
    expect(payload).toMatch(/scout on pay: Pay is slow\.$/m)
    expect(payload).toMatch(/scout on cart: deploy, Cart fails$/m)
  })

  it('does not fire while it is paused, and makes up for nothing after', async () => {
    const { engine, trigger, firings, pass } = await openWorld()
    await trigger({ condition: { every: '10m' } })
    pass(0)
    await engine.moveTrigger('t', 'pause', BY)
    pass(35 * MINUTE)
    await engine.moveTrigger('t', 'resume', BY)
    pass(0)
    expect(await firings()).toHaveLength(1)
    pass(5 * MINUTE)
    expect(await firings()).toHaveLength(2)
  })
})

describe('a burst', () => {
  it('is one firing of every event and every key, with the first cause', async () => {
    const { engine, post, trigger, firings, pass } = await openWorld()
    await trigger({
      condition: { event: 'any' },
      cooldown: '1s',
      storm: { quiet: '30s', max_wait: '5m' },
    })
    const all: string[] = []
    for (let n = 0; n < 1_000; n++) {
      all.push(...(await post({ service: `s${n % 50}` })))
      pass(10)
    }
    expect(await firings()).toMatchObject([{ state: 'gathering', events: 1_000 }])
    pass(30_000)
    const [firing, ...others] = await firings()
    expect(others).toEqual([])
    expect(firing).toMatchObject({
      state: 'fired',
      events: 1_000,
      key: 's0',
      first_event: all[0],
      key_count: 50,
    })
    expect(firing!.keys).toHaveLength(20)
    expect((await engine.firingEvents(firing!.dispatch_id)).event_ids).toEqual(all)
  })

  it('beyond a limit is held back and told with the next firing: nothing is lost', async () => {
    const { engine, post, trigger, firings, pass } = await openWorld()
    await trigger({
      condition: { event: 'any' },
      cooldown: '1s',
      storm: { limits: [{ max: 3, per: '1h' }] },
    })
    const all: string[] = []
    for (let n = 0; n < 1_000; n++) {
      all.push(...(await post({ service: `s${n % 50}` })))
      pass(10)
    }
    expect((await firings()).map(({ state }) => state)).toEqual(['fired', 'fired', 'fired', 'held'])
    pass(60 * MINUTE)
    const told = await firings()
    expect(told.map(({ state }) => state)).toEqual(['fired', 'fired', 'fired', 'fired'])
    expect(told[3]).toMatchObject({ held_back: expect.any(Number), events: expect.any(Number) })
    const union = new Set<string>()
    for (const { dispatch_id } of told)
      for (const id of (await engine.firingEvents(dispatch_id)).event_ids) union.add(id)
    const cooled = (await engine.evaluations('t', { reason: 'cooldown', limit: 1 })).evaluations
    expect(cooled).toEqual([])
    expect([...union].sort()).toEqual([...all].sort())
  })

  it('of too few events is let pass', async () => {
    const { post, trigger, firings, pass } = await openWorld()
    await trigger({ condition: { event: 'any' }, storm: { quiet: '30s', min_count: 5 } })
    await post([error, error])
    pass(MINUTE)
    expect((await firings()).map(({ state }) => state)).toEqual(['dropped'])
  })
})

describe('a threshold that is over', () => {
  it('fires once while it lasts, and tells addresses when it is over', async () => {
    const { post, trigger, firings, pass, clock } = await openWorld()
    await trigger({ condition: { ...errors, resolve: true }, cooldown: '1s' })
    await post([error, error, error])
    pass(10_000)
    await post(error)
    expect(await firings()).toHaveLength(1)
    pass(10 * MINUTE)
    const [began, over, ...more] = await firings()
    expect(more).toEqual([])
    expect(over).toMatchObject({ resolves: began!.dispatch_id, key: 'checkout', state: 'fired' })
    expect(Date.parse(over!.fired_at!)).toBeLessThanOrEqual(clock.at)
    await post([error, error, error])
    expect(await firings()).toHaveLength(3)
  })
})

describe('an edit while a key fires', () => {
  it.each([
    ['its condition', { condition: { ...errors, resolve: true, predicate: '> 90' } }],
    ['how it ends', { condition: errors }],
    ['its filters', { filters: [{ field: 'msg', op: 'exists' }] }],
  ])(
    'to %s tells that it is over, closes its incident, and it fires once for what goes on',
    async (_, edit) => {
      const { engine, post, trigger, firings, pass } = await openWorld()
      const write = { condition: { ...errors, resolve: true as const }, cooldown: '1s' }
      await trigger(write)
      await post([error, error, error])
      await engine.updateTrigger('t', { sources: ['app'], ...write, ...edit } as never, BY)
      pass(2_000)
      const [began, over, ...more] = await firings()
      expect(more).toEqual([])
      expect(over).toMatchObject({
        resolves: began!.dispatch_id,
        reason: 'over: what the trigger watches or its condition was changed, and it begins anew',
      })
      expect(await engine.listIncidents({ state: 'active', limit: 10 }, null)).toMatchObject({
        incidents: [],
      })
      await engine.updateTrigger('t', { sources: ['app'], ...write } as never, BY)
      pass(2_000)
      await post(error)
      expect((await firings()).map(({ resolves }) => resolves !== null)).toEqual([false, true, false])
    },
  )

  it('to what it is not judged by changes nothing of it', async () => {
    const { engine, post, trigger, firings, pass } = await openWorld()
    const write = { condition: { ...errors, resolve: true as const }, cooldown: '1s' }
    await trigger(write)
    await post([error, error, error])
    await engine.updateTrigger(
      't',
      { sources: ['app'], ...write, cooldown: '2s', severity: 'critical' } as never,
      BY,
    )
    pass(5_000)
    expect(await firings()).toHaveLength(1)
  })
})

describe('what is decided', () => {
  it('outlives the process: cooldowns, bursts, silence, schedules, what is not over', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'svc-triggers-'))
    const dataFile = join(folder, 'svc.db')
    const first = await openWorld({ dataFile })
    const cases = {
      cooled: { condition: { event: 'any' }, cooldown: '1h' },
      burst: { condition: { event: 'any' }, storm: { quiet: '30s' } },
      silent: { condition: { absent_for: '10m' } },
      timed: { condition: { every: '10m' } },
      lasting: { condition: { ...errors, resolve: true }, cooldown: '1s' },
      counted: { condition: { aggregate: 'count', predicate: '> 4', window: '1h' } },
    } as const
    for (const [name, write] of Object.entries(cases)) await first.trigger({ name, ...write })
    first.pass(0)
    await first.post([error, error, error])
    await first.engine.close()

    const { post, pass, firings, engine } = await openWorld({ dataFile, clock: first.clock })
    const states = async () =>
      (await firings()).map(({ trigger, state, key }) => `${trigger} ${key} ${state}`)
    const before = [
      'timed timed fired',
      'cooled checkout fired',
      'burst checkout gathering',
      'lasting checkout fired',
    ]
    expect((await states()).sort()).toEqual([...before].sort())
    await post([error, error])
    expect((await states()).sort()).toEqual([...before, 'counted checkout fired'].sort())
    pass(31_000)
    expect(await firings('burst')).toMatchObject([{ state: 'fired', events: 5 }])
    pass(20 * MINUTE)
    expect((await firings('silent')).map(({ key }) => key)).toEqual(['checkout'])
    expect(await firings('timed')).toHaveLength(3)
    expect(await firings('lasting')).toMatchObject([{ resolves: null }, { resolves: expect.any(String) }])
    await engine.close()
    rmSync(folder, { recursive: true })
  })
})

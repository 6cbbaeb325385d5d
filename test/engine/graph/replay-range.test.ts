/** A replay of a range: pages, windows, what waits, the graph of then, and what is gone. */
import { afterEach, describe, expect, it } from 'vitest'
import { check } from '../../../schemas/index.ts'
import type { Replay, ReplayMoment, TriggerWrite } from '../../../schemas/types.ts'
import { openRunWorld, type RunWorld } from '../agents/runs/run-world.ts'
import { BY, MINUTE, T0 } from '../triggers/trigger-world.ts'
import { at, conclude, errors, openChain, script, story, whole } from './replay-world.ts'

let world: RunWorld
afterEach(async () => {
  await world?.close()
})

/** A trigger of the project. */
async function trigger(write: Partial<TriggerWrite> & Pick<TriggerWrite, 'condition'>): Promise<void> {
  await world.engine.createTrigger(
    { name: 't', sources: ['app'], project: world.project, ...write } as TriggerWrite,
    BY,
  )
}

const bare = ({ n: _n, ...moment }: ReplayMoment) => moment

/** All pages from the start on. */
async function pages(limit: number, more: Parameters<typeof whole>[1] = {}): Promise<Replay[]> {
  const found: Replay[] = []
  let from = at(T0)
  for (;;) {
    const page = await whole(world, { ...more, limit, from })
    expect(check('replay.json', page)).toBeNull()
    found.push(page)
    if (page.next_from === null) return found
    expect(page.next_from > from).toBe(true)
    from = page.next_from
  }
}

describe('pages', () => {
  it('lose and repeat no moment, also where many came at one instant', async () => {
    world = await openRunWorld()
    await trigger({ condition: { aggregate: 'count', window: '1h', predicate: '>= 1000' } })
    for (let i = 0; i < 6; i++) {
      world.clock.at += 1_000
      await world.post(
        Array.from({ length: i === 3 ? 25 : 3 }, (_, n) => ({ service: 'a', type: 'e', msg: `${i}.${n}` })),
      )
    }
    const all = await whole(world)
    expect(story(all, ['event'])).toHaveLength(40)
    for (const limit of [1, 7, 10, 60]) {
      const found = await pages(limit)
      expect(
        found.flatMap(({ moments }) => moments.map(bare)),
        `${limit} a page`,
      ).toEqual(all.moments.map(bare))
      // An instant that holds more than a page is told whole.
      for (const { moments } of found)
        if (moments.length > limit) expect(new Set(moments.map((moment) => moment.at)).size).toBe(1)
    }
  })

  it('tell what a trigger made of events that came at once in the order of the events', async () => {
    world = await openRunWorld()
    await trigger({
      condition: { aggregate: 'count', window: '1h', predicate: '>= 3', resolve: true },
      key_field: 'service',
      cooldown: '1s',
    })
    world.clock.at += 1_000
    await world.post(['a', 'b', 'a', 'a', 'b', 'a', 'b'].map((service) => ({ service, type: 'e', msg: 'm' })))
    await world.settled()
    const { moments } = await whole(world)
    expect(new Set(moments.filter(({ kind }) => kind === 'event').map((moment) => moment.at)).size).toBe(1)
    const judged = moments.filter(({ kind }) => kind === 'evaluation' || kind === 'firing')
    expect(judged.map(({ title }) => title)).toEqual([
      't: 1 event in 1h, not at least 3',
      't: 1 event in 1h, not at least 3',
      't: 2 events in 1h, not at least 3',
      't fired for a: 3 events in 1h, at least 3 (3 events)',
      't: 2 events in 1h, not at least 3',
      't: 4 events in 1h, at least 3; it fired for this before and is not resolved yet',
      't fired for b: 3 events in 1h, at least 3 (3 events)',
    ])
  })

  it('of many chains agree with the rows: each firing, end and handoff is told once', async () => {
    world = await openChain()
    script(world)
    for (const service of ['a', 'b', 'c']) await errors(world, 3, { service })
    await world.settled()
    const found = (await pages(12)).flatMap(({ moments }) => moments)
    const told = (kind: string, phases: string[], id: keyof ReplayMoment) =>
      found
        .filter((moment) => moment.kind === kind && phases.includes(moment.phase))
        .map((moment) => moment[id])
        .sort()
    const { runs } = await world.engine.listRuns({ limit: 50, offset: 0 })
    const { deliveries } = await world.engine.listDeliveries({ limit: 50 })
    expect(runs).toHaveLength(6)
    expect(told('run', ['succeeded'], 'run_id')).toEqual(runs.map(({ id }) => id).sort())
    expect(told('firing', ['fired'], 'dispatch_id')).toEqual(
      (await world.firings()).map(({ dispatch_id }) => dispatch_id).sort(),
    )
    expect(told('delivery', ['delivered'], 'delivery_id')).toEqual(
      deliveries.map(({ delivery_id }) => delivery_id).sort(),
    )
    expect(told('handoff', ['started'], 'run_id')).toEqual(
      runs
        .filter(({ depth }) => depth === 1)
        .map(({ id }) => id)
        .sort(),
    )
    const steps = (await Promise.all(runs.map(({ id }) => world.run(id)))).flatMap(({ id, steps: all }) =>
      all.map(({ n }) => `${id}/${n}`),
    )
    expect(
      found
        .filter(({ kind }) => kind === 'step')
        .map((m) => `${m.run_id}/${m.step}`)
        .sort(),
    ).toEqual(steps.sort())
    // What led to what is told in that order.
    const place = (test: (moment: ReplayMoment) => boolean) => found.findIndex(test)
    for (const { id, parent_run_id, dispatch_id } of runs) {
      const of = (phase: string) => place((m) => m.kind === 'run' && m.run_id === id && m.phase === phase)
      expect([of('queued'), of('running'), of('succeeded')]).toEqual(
        [of('queued'), of('running'), of('succeeded')].sort((a, b) => a - b),
      )
      const cause =
        parent_run_id === null
          ? place((m) => m.phase === 'fired' && m.dispatch_id === dispatch_id)
          : place((m) => m.kind === 'run' && m.run_id === parent_run_id && m.phase === 'succeeded')
      expect(cause).toBeGreaterThanOrEqual(0)
      expect(cause).toBeLessThan(of('queued'))
    }
  })
})

describe('the window of a trigger', () => {
  it('is worked out again by the definition of then where it was not recorded, and marked', async () => {
    world = await openRunWorld()
    await trigger({ condition: { aggregate: 'count', window: '1h', predicate: '>= 100' } })
    const post = (n: number) => world.post(Array.from({ length: n }, () => ({ service: 'a', type: 'e' })))
    await post(20)
    world.clock.at += 10_000
    await post(10)
    world.clock.at += MINUTE
    await world.engine.updateTrigger(
      't',
      {
        name: 't',
        sources: ['app'],
        condition: { aggregate: 'count', window: '1h', predicate: '>= 31' },
      } as TriggerWrite,
      BY,
    )
    world.clock.at += 1_000
    await post(1)
    const replay = await whole(world)
    const filled = replay.moments.filter(({ window }) => window)
    expect(filled.map(({ window }) => window!.value)).toEqual(Array.from({ length: 31 }, (_, n) => n + 1))
    // Of each reason 20 a minute are recorded.
    expect(filled.map(({ recomputed }) => recomputed)).toEqual(filled.map((_, n) => n >= 20 && n < 30))
    expect(filled.at(-1)).toMatchObject({ kind: 'firing', window: { threshold: 31 } })
    expect(filled[25]).toMatchObject({
      kind: 'evaluation',
      phase: 'below',
      window: { trigger: 't', key: 'a', threshold: 100, window: '1h' },
    })
    expect(replay.gaps.map(({ kind }) => kind)).toEqual(['sampled'])
  })
})

describe('a trigger that goes by joined entities', () => {
  it('is worked out by the entities of then, not by those of now', async () => {
    world = await openRunWorld()
    await trigger({ joined: true, condition: { aggregate: 'count', window: '1h', predicate: '>= 100' } })
    const post = (service: string, n: number) =>
      world.post(Array.from({ length: n }, () => ({ service, type: 'e' })))
    await post('a', 20)
    await post('b', 5)
    world.clock.at += MINUTE
    await world.engine.createJoinedEntity({ name: 'ab', is: ['service=a', 'service=b'] }, BY)
    world.clock.at += 1_000
    await post('b', 20)
    await post('b', 5)
    world.clock.at += MINUTE
    await world.engine.deleteJoinedEntity('ab', BY)
    const windows = (await whole(world)).moments
      .filter(({ recomputed }) => recomputed)
      .map(({ window }) => [window!.key, window!.value])
    expect(windows).toEqual([
      // Apart, as they were until the entity was made.
      ...[1, 2, 3, 4, 5].map((n) => ['b', n]),
      // Together, while it was there.
      ...[46, 47, 48, 49, 50].map((n) => ['a', n]),
    ])
  })
})

describe('what waits', () => {
  it('is told as it was: a cooldown, a burst that gathered, was held, was let pass', async () => {
    world = await openRunWorld()
    const error = { service: 'a', type: 'e' }
    await trigger({ name: 'cool', condition: { event: 'any' }, cooldown: '10m' })
    await trigger({
      name: 'burst',
      condition: { event: 'any' },
      cooldown: '1s',
      storm: { quiet: '10s', limits: [{ max: 1, per: '5m' }] },
    })
    await trigger({
      name: 'few',
      condition: { event: 'any' },
      cooldown: '1s',
      storm: { quiet: '20s', min_count: 3 },
    })
    await world.post(error)
    world.pass(MINUTE)
    await world.post(error)
    world.pass(10 * MINUTE)
    const replay = await whole(world)
    const of = (name: string, kinds = ['firing']) =>
      replay.moments
        .filter(({ kind, nodes }) => kinds.includes(kind) && nodes[0] === `trigger:${name}`)
        .map((moment) => [moment.phase, (Date.parse(moment.at) - T0) / 1_000])
    expect(of('cool', ['firing', 'evaluation'])).toEqual([
      ['fired', 0],
      ['cooldown', 60],
    ])
    expect(replay.moments.find(({ phase }) => phase === 'cooldown')!.cooldown).toEqual({
      node: 'trigger:cool',
      key: 'a',
      until: at(T0 + 10 * MINUTE),
    })
    expect(of('burst')).toEqual([
      ['gathering', 0],
      ['fired', 10],
      ['gathering', 60],
      ['held', 70],
      ['fired', 310],
    ])
    expect(of('few')).toEqual([
      ['gathering', 0],
      ['dropped', 20],
      ['gathering', 60],
      ['dropped', 80],
    ])
    const { start } = await whole(world, { from: at(T0 + 75_000) })
    expect(start.held.map(({ node, phase }) => [node, phase])).toEqual([
      ['trigger:burst', 'held'],
      ['trigger:few', 'gathering'],
    ])
    expect(start.cooldowns).toEqual([{ node: 'trigger:cool', key: 'a', until: at(T0 + 10 * MINUTE) }])
    expect(start.counts).toMatchObject({
      'source:app': 2,
      'feeds:app>cool': 2,
      'trigger:cool': 1,
      'trigger:burst': 1,
      'trigger:few': 0,
    })
  })

  it('runs at work when it begins, and what they and others had carried that day', async () => {
    world = await openChain()
    script(world)
    await errors(world, 3)
    const [first, second] = await world.settled()
    const { start, moments } = await whole(world, { from: at(Date.parse(second!.started_at!) + 1) })
    expect(start.running).toEqual([{ run_id: second!.id, node: 'agent:digger' }])
    expect(start.counts).toMatchObject({
      'source:app': 3,
      'trigger:t': 1,
      'agent:first-look': 1,
      'wakes:t>first-look': 1,
      'hands_off:first-look/go>digger': 1,
      'agent:digger': 1,
    })
    expect(start.cooldowns).toEqual([
      { node: 'trigger:t', key: 'checkout', until: at(T0 + 3_000 + 30 * MINUTE) },
      {
        node: 'hands_off:first-look/go>digger',
        key: 'checkout',
        until: at(Date.parse(first!.finished_at!) + 60 * MINUTE),
      },
    ])
    expect(moments.map(({ run_id }) => run_id)).not.toContain(first!.id)
  })

  it('a handoff that may not be says why', async () => {
    world = await openChain()
    script(world)
    await errors(world, 3)
    await world.settled()
    world.clock.at += 40 * MINUTE
    await errors(world, 3)
    const runs = await world.settled()
    expect(runs).toHaveLength(3)
    const refused = (await whole(world)).moments.find(
      ({ kind, phase }) => kind === 'handoff' && phase === 'refused',
    )
    expect(refused).toMatchObject({
      title:
        'first-look would hand checkout over to digger on go, and may not: it did so for the same too short a time ago',
      cooldown: { until: at(Date.parse(runs[0]!.finished_at!) + 60 * MINUTE) },
    })
  })
})

describe('the graph', () => {
  it('is that of then: what was deleted since is back, with its events', async () => {
    world = await openChain()
    script(world)
    await errors(world, 3)
    await world.settled()
    const before = world.clock.at
    world.clock.at += MINUTE
    await world.engine.deleteTrigger('t', BY)
    world.clock.at += MINUTE
    await errors(world, 1)
    const replay = await whole(world, { from: at(before) })
    const names = replay.versions.map(({ graph }) => graph.nodes.map(({ id }) => id))
    expect(replay.versions).toHaveLength(2)
    expect(names[0]).toContain('trigger:t')
    expect(names[1]).not.toContain('trigger:t')
    expect(replay.versions[0]!.graph.edges.map(({ id }) => id)).toContain('wakes:t>first-look')
    expect(replay.versions[1]).toMatchObject({ at: at(before + MINUTE), by: 'test' })
    // Nobody of the project watches the source any more.
    expect(story(replay, ['event', 'change'])).toEqual(['change api'])
    const all = await whole(world)
    expect(story(all, ['firing', 'finding'])).toEqual(['firing fired', 'finding go', 'finding finding'])
  })

  it('shows no secret', async () => {
    world = await openRunWorld()
    await world.engine
      .createMcpServer(
        {
          name: 'docs',
          url: 'https://u:canary-1@docs.test/mcp?key=canary-2',
          auth_value: 'canary-3',
        } as never,
        BY,
      )
      .catch(() =>
        world.engine.createMcpServer(
          {
            name: 'docs',
            url: 'https://docs.test/mcp',
            auth_header: 'x-key',
            auth_value: 'canary-3',
          } as never,
          BY,
        ),
      )
    await world.agent({
      name: 'a',
      model: 'm1',
      mcp_servers: ['docs'],
      webhook_url: 'https://hook.test/canary-4',
      webhook_token: 'canary-5',
    })
    const replay = await whole(world)
    expect(replay.versions.at(-1)!.graph.nodes.map(({ id }) => id)).toContain('mcp_server:docs')
    expect(JSON.stringify(replay)).not.toContain('canary')
  })
})

describe('what is gone', () => {
  it('is named as a gap, and nothing is invented for it', async () => {
    world = await openRunWorld({ retention: { maxAgeMs: 60 * MINUTE, maxBytes: null } })
    await trigger({ condition: { aggregate: 'count', window: '10m', predicate: '>= 3' } })
    await errors(world, 3)
    world.clock.at += 59 * MINUTE
    await errors(world, 1)
    world.clock.at += 2 * MINUTE
    while (world.engine.maintain());
    const replay = await whole(world)
    expect(story(replay, ['event'])).toEqual(['event error'])
    expect(story(replay, ['firing'])).toEqual([])
    expect(replay.gaps[0]).toMatchObject({
      kind: 'purged',
      from: at(T0),
      to: at(T0 + 3_000 + 59 * MINUTE + 1_000),
    })
  })

  it('is told of a firing whose events were purged with their source', async () => {
    world = await openChain()
    world.models.reply('m1', [conclude({ verdict: 'stop' }), conclude({ verdict: 'go' })])
    world.models.reply('m2', () => conclude())
    await errors(world, 3)
    const [run] = await world.settled()
    await world.engine.deleteSource('app', { cascade: true, purgeEvents: true }, BY)
    while (world.engine.maintain());
    const replay = await whole(world, { result: run!.id, from: undefined, to: undefined })
    expect(story(replay, ['event'])).toEqual([])
    expect(story(replay, ['firing'])).toEqual(['firing fired'])
    const messages = replay.gaps.filter(({ kind }) => kind === 'purged').map(({ message }) => message)
    expect(messages).toContainEqual('3 of the 3 events of a firing of t are no longer kept')
    expect(messages).toContain('events of source app were purged')
  })
})

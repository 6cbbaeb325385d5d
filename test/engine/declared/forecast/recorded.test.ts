/** Events in a file: what is exported of them, and that a plan over the file says what one over the store does. */
import { expect, it } from 'vitest'
import { createEngine } from '../../../../engine/local.ts'
import type { ExportedEvent } from '../../../../schemas/types.ts'
import { BY, MINUTE, openWorld, T0, type World } from '../../triggers/trigger-world.ts'

const ASKED = { window: '1h', limit: 5_000, sample: 100 }

async function sent(world: World): Promise<void> {
  await world.trigger({ name: 'any', sources: ['app'], condition: { event: 'any' }, cooldown: '10m' })
  await world.trigger({
    name: 'slow',
    sources: ['app'],
    filters: [{ field: 'payload.note', op: 'contains', value: 'x' }],
    condition: { aggregate: 'max', field: 'ms', predicate: '> 3', window: '5m' },
  })
  for (let n = 0; n < 9; n++) {
    world.pass(MINUTE)
    const service = `s${n % 3}`
    await world.post({
      service,
      region: n % 2 ? 'eu' : 'us',
      state: 'up',
      ms: n,
      note: `x${n}`,
      password: 'hunter2222',
    })
  }
  world.pass(MINUTE)
}

async function exported(world: World, limit: number): Promise<ExportedEvent[]> {
  const events: ExportedEvent[] = []
  let page = await world.engine.exportEvents({ ...ASKED, limit })
  for (;;) {
    events.push(...page.events)
    if (page.next_after === null) return events
    page = await world.engine.exportEvents({ ...ASKED, limit, to: page.to, after: page.next_after })
  }
}

it('exports what is stored in its order, page by page, without secrets', async () => {
  const world = await openWorld()
  await sent(world)
  const events = await exported(world, 4)
  expect(events.map(({ id }) => id)).toEqual(Array.from({ length: 9 }, (_, n) => `evt_${n + 1}`))
  expect(events[1]).toMatchObject({
    ...{ source: 'app', entity: 'service', stored_at: new Date(T0 + 2 * MINUTE).toISOString() },
    labels: { service: 's1', region: 'eu', state: 'up', ms: 1 },
  })
  expect(JSON.stringify(events)).not.toContain('hunter2222')
  const some = await world.engine.exportEvents({ ...ASKED, sample: 50 })
  const kept = new Set(some.events.map(({ labels }) => labels.service))
  // All events of an entity, or none.
  expect(some.events).toHaveLength(kept.size * 3)
  expect(kept.size).toBeLessThan(3)
  await expect(world.engine.exportEvents({ ...ASKED, sources: ['none'] })).rejects.toMatchObject({
    code: 'not_found',
  })
})

it('says over the file what it says over the store, of triggers and of labels', async () => {
  const world = await openWorld()
  await sent(world)
  const yaml = await world.engine.exportCatalog()
  const changed = yaml
    .replace('cooldown: 10m', 'cooldown: 2m')
    .replace('"> 3"', '"> 5"')
    .replace('field: region', 'field: note')
  expect(changed).not.toBe(yaml)
  const asked = { yaml: changed, prune: true, window: '1h' }
  const expected = await world.engine.backtestChange(asked)
  // slow: s1 and s2 pass the higher bound later, s0 at the same event.
  expect(expected.triggers.map(({ added, gone }) => [added, gone])).toEqual([
    [6, 0],
    [2, 2],
  ])
  expect(expected.labels[0]!.labels[0]).toMatchObject({ label: 'region', changed: 9 })

  const events = await exported(world, 5_000)
  const engine = createEngine({ dataFile: null, clock: world.clock })
  await engine.importCatalog({ yaml }, BY)
  const recorded = { from: T0, to: world.clock.at, events }
  const told = await engine.backtestChange(asked, true, undefined, recorded)
  const pathOf = ({ labels }: typeof told) =>
    labels.map((one) => ({ ...one, labels: one.labels.map(({ examples: _, ...label }) => label) }))
  expect({ ...told, labels: pathOf(told) }).toEqual({ ...expected, labels: pathOf(expected) })
  await engine.close()
})

it('knows a source of the file by each name that it had, and that the change gives it', async () => {
  const world = await openWorld()
  await sent(world)
  const yaml = await world.engine.exportCatalog()
  const events = await exported(world, 5_000)
  const named = (name: string, moved = '') => moved + yaml.replaceAll(/\bapp\b/g, name)
  const toShop = 'moved:\n  - { source: app, to: shop }\n'
  const [before, renamed, onwards] = [
    yaml,
    named('shop', toShop),
    named('store', `${toShop.replace('shop', 'store')}  - { source: shop, to: store }\n`),
  ]
  const told = async (base: string, changed: string, recorded = 'app') => {
    const engine = createEngine({ dataFile: null, clock: world.clock })
    await engine.importCatalog({ yaml: base, name: 'shop' }, BY)
    const file = { from: T0, to: world.clock.at, events: events.map((one) => ({ ...one, source: recorded })) }
    const faster = changed.replace('cooldown: 10m', 'cooldown: 2m')
    const asked = { yaml: faster, name: 'shop', prune: true, window: '1h' }
    const { triggers, notes } = await engine.backtestChange(asked, true, undefined, file)
    await engine.close()
    return { fired: triggers.map(({ trigger, added, same, gone }) => [trigger, added, same, gone]), notes }
  }
  const expected = await told(before, before)
  expect(expected.fired).toEqual([['any', 6, 3, 0]])
  // The change gives the name; it was given before; it is given again; it is taken back.
  expect(await told(before, renamed)).toEqual(expected)
  expect(await told(renamed, renamed)).toEqual(expected)
  expect(await told(renamed, renamed, 'shop')).toEqual(expected)
  expect(await told(renamed, onwards)).toEqual(expected)
  expect(await told(renamed, before)).toEqual(expected)
  expect(await told(renamed, before, 'shop')).toEqual(expected)
  expect((await told(renamed, renamed, 'other')).notes).toContainEqual(
    'events of other are left out: the file before has no such source',
  )
})

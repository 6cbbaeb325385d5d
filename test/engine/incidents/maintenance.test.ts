/** What is held back: told when a snooze ends, and while planned work lasts told to nobody. */
import { describe, expect, it } from 'vitest'
import type { MaintenanceCreate } from '../../../schemas/types.ts'
import { BY, MINUTE, openWorld, type World } from '../triggers/trigger-world.ts'

const MARA = { by: 'mara', via: 'console' } as const
const HOUR = 60 * MINUTE
const error = { service: 'checkout', type: 'error', msg: 'POST /orders 503' }
const isoAt = (at: number): string => new Date(at).toISOString()
const one = async ({ engine }: World, number = 1) => engine.getIncident(`inc_${number}`, null)

const subscribe = async ({ engine }: World): Promise<unknown> =>
  engine.subscribe({ trigger: 't' }, { url: null, name: 'hook', audience: 'operator' }, BY.caller)

/** Each event fires after a cooldown of a minute, wakes an agent, and is told to who fetches. */
async function open(more: object = {}): Promise<World> {
  const world = await openWorld()
  await world.trigger({ condition: { event: 'any' }, cooldown: '1m', ...more })
  const { engine } = world
  await subscribe(world)
  const [project] = (await engine.getTrigger('t')).projects
  await engine.createAgent({ name: 'first-look', prompt: 'look', trigger: 't', project: project! }, BY)
  await engine.switchAgent('first-look', true, project!, BY)
  return world
}

async function again(world: World, more: object = {}, after = 2 * MINUTE): Promise<void> {
  world.pass(after)
  await world.post({ ...error, ...more })
}

/** Of each firing, the first before the others: whether it is held back, by what, and how many it reached. */
const told = async (world: World) =>
  (await world.firings()).map(({ suppressed_by, subscribers, resolves }) => [
    resolves ? 'over' : 'fires',
    suppressed_by,
    subscribers,
  ])

describe('what a snooze held back', () => {
  const until = (world: World) => ({ action: 'snooze', until: isoAt(world.clock.at + HOUR) }) as const

  it('is told when its time is over: the newest firing, once, and an agent looks', async () => {
    const world = await open()
    await world.post(error)
    await world.engine.actOnIncident('inc_1', until(world), MARA)
    await again(world)
    await again(world)
    expect(await told(world)).toEqual([
      ['fires', null, 2],
      ['fires', 'snooze', 0],
      ['fires', 'snooze', 0],
    ])
    const { pending } = world
    world.pass(HOUR)
    const after = [
      ['fires', null, 2],
      ['fires', 'snooze', 0],
      ['fires', null, 2],
    ]
    expect(await told(world)).toEqual(after)
    expect(world.pending).toBeGreaterThan(pending)
    expect(await one(world)).toMatchObject({ state: 'open', snoozed: null })
    world.pass(HOUR)
    expect(await told(world)).toEqual(after)
  })

  it('is told when a person ends it, and not when one takes the incident', async () => {
    const world = await open()
    const { engine } = world
    await world.post(error)
    await engine.actOnIncident('inc_1', { action: 'snooze' }, MARA)
    await again(world)
    await engine.actOnIncident('inc_1', { action: 'acknowledge' }, MARA)
    expect((await told(world)).at(-1)).toEqual(['fires', 'snooze', 0])
    await engine.actOnIncident('inc_1', { action: 'snooze' }, MARA)
    await engine.actOnIncident('inc_1', { action: 'unsnooze' }, MARA)
    expect((await told(world)).at(-1)).toEqual(['fires', null, 2])
  })

  it('is nothing where nothing fired meanwhile', async () => {
    const world = await open()
    await world.post(error)
    await world.engine.actOnIncident('inc_1', until(world), MARA)
    world.pass(HOUR)
    expect(await told(world)).toEqual([['fires', null, 2]])
  })
})

/** Plans an hour from now on. */
const plan = (world: World, of: Partial<MaintenanceCreate>) =>
  world.engine.createMaintenance(
    { reason: 'Upgrade of the database', until: isoAt(world.clock.at + HOUR), ...of },
    MARA,
  )

describe('while maintenance lasts', () => {
  it('what fires of it opens an incident that is snoozed until the end, and what is then not over is told', async () => {
    const world = await open()
    const window = await plan(world, { entities: ['service=checkout'] })
    expect(window).toMatchObject({ id: 'mnt_1', state: 'active', by: 'mara', held: 0, ended_at: null })
    await world.post(error)
    const at = isoAt(world.clock.at)
    expect(await one(world)).toMatchObject({
      state: 'snoozed',
      snoozed: { by: 'mara', at, until: window.until, maintenance: 'mnt_1' },
      activity: [{ action: 'snoozed', by: 'mara', text: 'Upgrade of the database' }, { action: 'opened' }],
    })
    await again(world)
    // Another entity is told as ever.
    await world.post({ ...error, service: 'search' })
    expect(await told(world)).toEqual([
      ['fires', 'maintenance', 0],
      ['fires', 'maintenance', 0],
      ['fires', null, 2],
    ])
    expect((await world.engine.listMaintenance('active')).windows).toMatchObject([{ id: 'mnt_1', held: 2 }])
    world.pass(HOUR)
    expect(await told(world)).toEqual([
      ['fires', 'maintenance', 0],
      ['fires', null, 2],
      ['fires', null, 2],
    ])
    expect(await one(world)).toMatchObject({ state: 'open', snoozed: null })
    expect((await world.engine.listMaintenance()).windows).toEqual([])
    expect((await world.engine.listMaintenance('all')).windows).toMatchObject([
      { id: 'mnt_1', state: 'over', held: 2 },
    ])
  })

  it.each(['warning', 'none'] as const)(
    'what is over before the end is told to nobody: severity %s',
    async (severity) => {
      const world = await openWorld()
      await world.trigger({
        severity,
        condition: {
          event: 'any',
          resolve: { filters: [{ field: 'state', op: 'eq', value: 'resolved' }], equal: ['msg'] },
        },
        filters: [{ field: 'state', op: 'neq', value: 'resolved' }],
        cooldown: '1m',
      })
      await subscribe(world)
      await plan(world, { entities: ['service=checkout'] })
      await world.post({ ...error, state: 'firing' })
      world.pass(MINUTE)
      await world.post({ ...error, state: 'resolved' })
      expect(await told(world)).toEqual([
        ['fires', 'maintenance', 0],
        ['over', 'maintenance', 0],
      ])
      world.pass(HOUR)
      expect(await told(world)).toEqual([
        ['fires', 'maintenance', 0],
        ['over', 'maintenance', 0],
      ])
      if (severity === 'none') return
      expect(await one(world)).toMatchObject({ state: 'handled', handled: { how: 'resolved' } })
    },
  )

  it('an incident that somebody has is snoozed, too, and theirs again after it; a worse one waits as well', async () => {
    const world = await open({ severity_field: 'payload.sev' })
    const { engine } = world
    await world.post({ ...error, sev: 'warning' })
    await engine.actOnIncident('inc_1', { action: 'acknowledge' }, MARA)
    await plan(world, { triggers: ['t'] })
    await again(world, { sev: 'critical' })
    expect(await one(world)).toMatchObject({ state: 'snoozed', severity: 'critical' })
    expect((await told(world)).at(-1)).toEqual(['fires', 'maintenance', 0])
    // What a person snoozed for longer stays so.
    await engine.actOnIncident('inc_1', { action: 'snooze', until: isoAt(world.clock.at + 3 * HOUR) }, MARA)
    await again(world, { sev: 'critical' })
    expect((await one(world)).snoozed).toMatchObject({ until: isoAt(world.clock.at + 3 * HOUR - 2 * MINUTE) })
  })

  it('it is of what all of its parts say: by an event of the entity, by a trigger of the project', async () => {
    const world = await open({ key_field: 'region' })
    const [project] = (await world.engine.getTrigger('t')).projects
    await plan(world, { entities: ['service=search'], project: project! })
    await world.post({ ...error, region: 'eu' })
    await again(world, { service: 'search', region: 'eu' })
    await world.trigger({ name: 'other', condition: { event: 'any' }, cooldown: '1m' })
    await plan(world, { triggers: ['other'], entities: ['service=billing'] })
    await again(world, { service: 'billing', region: 'us' })
    const held = (await world.firings()).map(({ trigger, key, suppressed_by }) => [
      trigger,
      key,
      suppressed_by,
    ])
    expect(held).toEqual([
      ['t', 'eu', null],
      ['t', 'eu', 'maintenance'],
      ['t', 'us', null],
      ['other', 'billing', 'maintenance'],
    ])
  })

  it('a burst is held back where all of its events are of it, and else told: nothing else is hidden', async () => {
    const world = await open({ storm: { quiet: '30s' } })
    await plan(world, { entities: ['service=checkout'] })
    const both = async (one: string, other: string) => {
      for (const service of [one, other]) await world.post({ ...error, service, region: one })
      world.pass(2 * MINUTE)
    }
    await both('checkout', 'search')
    await plan(world, { entities: ['service=checkout', 'service=search'] })
    world.pass(HOUR / 2)
    await both('checkout', 'search')
    const held = (await world.firings()).map(({ key_count, suppressed_by }) => [key_count, suppressed_by])
    expect(held).toEqual([
      [2, null],
      [2, 'maintenance'],
    ])
  })

  it('that is to come, that was moved or ended: each holds as long as it says', async () => {
    const world = await open()
    const { engine } = world
    const { id } = await plan(world, {
      entities: ['service=checkout'],
      from: isoAt(world.clock.at + 10 * MINUTE),
    })
    await world.post(error)
    expect((await engine.listMaintenance('planned')).windows).toMatchObject([{ id, state: 'planned' }])
    await again(world, {}, 10 * MINUTE)
    expect(await told(world)).toEqual([
      ['fires', null, 2],
      ['fires', 'maintenance', 0],
    ])
    const later = isoAt(world.clock.at + 2 * HOUR)
    expect(await engine.setMaintenanceEnd(id, later, MARA)).toMatchObject({ until: later, state: 'active' })
    world.pass(HOUR)
    expect(await one(world)).toMatchObject({ state: 'snoozed', snoozed: { until: later, maintenance: id } })
    expect(await engine.endMaintenance(id, MARA)).toMatchObject({
      state: 'over',
      ended_at: isoAt(world.clock.at),
    })
    expect((await told(world)).at(-1)).toEqual(['fires', null, 2])
    await again(world)
    expect((await told(world)).at(-1)).toEqual(['fires', null, 2])
    await expect(engine.endMaintenance(id, MARA)).rejects.toThrow('maintenance window mnt_1 is over since')
    await expect(engine.setMaintenanceEnd('mnt_9', later, MARA)).rejects.toThrow(
      'no maintenance window has the id mnt_9',
    )
  })

  it.each([
    [{}, 'entities, triggers or project must say what the maintenance is of'],
    [{ triggers: ['t'], for: '1h' }, 'until or for must say when it ends, and not both'],
    [
      { triggers: ['t'], until: undefined, for: 'soon' },
      'for must be a number above 0 and one of s, m, h, d',
    ],
    [{ entities: ['checkout'] }, 'entities[0] must be label=value, such as service=checkout'],
    [{ triggers: ['t', 'gone'] }, 'triggers[1]: no trigger is named gone'],
    [{ project: 'gone' }, 'project: no project has the id or name gone'],
    [{ triggers: ['t'], until: '2020-01-01T00:00:00Z' }, 'until must be in the future'],
    [
      { triggers: ['t'], from: '2098-01-01T00:00:00Z', until: '2097-01-01T00:00:00Z' },
      'until must be later than from',
    ],
    [{ triggers: ['t'], until: '2097-01-01T00:00:00Z' }, 'until must be within a year of the beginning'],
    [{ triggers: ['t'], reason: ' ' }, 'reason must say what the work is'],
  ])('refuses %j', async (of, message) => {
    const world = await open()
    await expect(plan(world, of)).rejects.toThrow(message)
    expect((await world.engine.listMaintenance('all')).windows).toEqual([])
  })

  it('goes on with another window of it that lasts longer: nothing is told between the two', async () => {
    const world = await open()
    const { engine } = world
    await plan(world, { entities: ['service=checkout'] })
    await world.post(error)
    const hours = (n: number) => isoAt(world.clock.at + n * HOUR)
    const [two, three] = [hours(2), hours(3)]
    for (const until of [two, three]) await plan(world, { triggers: ['t'], until })
    world.pass(HOUR)
    expect(await one(world)).toMatchObject({
      state: 'snoozed',
      snoozed: { until: three, maintenance: 'mnt_3' },
    })
    await engine.endMaintenance('mnt_3', MARA)
    expect(await one(world)).toMatchObject({
      state: 'snoozed',
      snoozed: { until: two, maintenance: 'mnt_2' },
    })
    expect((await told(world)).at(-1)).toEqual(['fires', 'maintenance', 0])
    await engine.endMaintenance('mnt_2', MARA)
    expect(await one(world)).toMatchObject({ state: 'open', snoozed: null })
    expect((await told(world)).at(-1)).toEqual(['fires', null, 2])
  })

  it('is kept under another name of its trigger', async () => {
    const world = await open()
    await plan(world, { triggers: ['t'] })
    await world.engine.renamePart('trigger', 't', 'paid', BY)
    expect((await world.engine.listMaintenance()).windows).toMatchObject([{ triggers: ['paid'] }])
    await world.post(error)
    expect((await told(world)).at(-1)).toEqual(['fires', 'maintenance', 0])
  })
})

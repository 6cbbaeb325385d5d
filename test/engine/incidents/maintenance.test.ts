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
    expect(await engine.endMaintenance(id, false, MARA)).toMatchObject({
      state: 'over',
      ended_at: isoAt(world.clock.at),
    })
    expect((await told(world)).at(-1)).toEqual(['fires', null, 2])
    await again(world)
    expect((await told(world)).at(-1)).toEqual(['fires', null, 2])
    await expect(engine.endMaintenance(id, false, MARA)).rejects.toThrow(
      'maintenance window mnt_1 is over since',
    )
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
    await engine.endMaintenance('mnt_3', false, MARA)
    expect(await one(world)).toMatchObject({
      state: 'snoozed',
      snoozed: { until: two, maintenance: 'mnt_2' },
    })
    expect((await told(world)).at(-1)).toEqual(['fires', 'maintenance', 0])
    await engine.endMaintenance('mnt_2', false, MARA)
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

describe('maintenance that repeats', () => {
  /** Each day at 02:00 in Paris, for an hour. */
  const nightly = (world: World, more: Partial<MaintenanceCreate> = {}) =>
    world.engine.createMaintenance(
      {
        ...{ reason: 'Nightly backup', entities: ['service=checkout'], for: '1h' },
        ...{ repeat: { cron: '0 2 * * *', time_zone: 'Europe/Paris' }, ...more },
      },
      MARA,
    )
  /** Fires at an instant. @returns whether it is held back, by what, and how many it reached */
  async function firesAt(world: World, iso: string): Promise<unknown[]> {
    world.pass(Date.parse(iso) - world.clock.at)
    await world.post(error)
    return (await told(world)).at(-1)!
  }
  const HELD = ['fires', 'maintenance', 0]
  const TOLD = ['fires', null, 2]
  async function openAt(iso: string): Promise<World> {
    const world = await open()
    world.pass(Date.parse(iso) - world.clock.at)
    return world
  }
  const list = async (world: World) => (await world.engine.listMaintenance()).windows

  it('begins at its times and lasts as long each time; between them firings are delivered, and what it held back, too', async () => {
    const world = await openAt('2098-03-26T12:00:00Z')
    expect(await nightly(world)).toMatchObject({
      ...{ id: 'mnt_1', state: 'planned', for: '1h', ended_at: null },
      ...{ from: '2098-03-27T01:00:00.000Z', until: '2098-03-27T02:00:00.000Z' },
      repeat: { cron: '0 2 * * *', time_zone: 'Europe/Paris' },
    })
    expect(await firesAt(world, '2098-03-27T00:59:00Z')).toEqual(TOLD)
    expect(await firesAt(world, '2098-03-27T01:00:00Z')).toEqual(HELD)
    expect(await one(world)).toMatchObject({ snoozed: { until: '2098-03-27T02:00:00.000Z' } })
    expect(await list(world)).toMatchObject([{ state: 'active', held: 1 }])
    world.pass(HOUR)
    expect((await told(world)).at(-1)).toEqual(TOLD)
    expect(await one(world)).toMatchObject({ state: 'open', snoozed: null })
    expect(await list(world)).toMatchObject([{ state: 'planned', from: '2098-03-28T01:00:00.000Z' }])
    expect(await firesAt(world, '2098-03-28T01:30:00Z')).toEqual(HELD)
    // Summer time begins in the night to the 30th: an hour earlier by UTC.
    expect(await firesAt(world, '2098-03-31T00:10:00Z')).toEqual(HELD)
    expect(await firesAt(world, '2098-03-31T01:10:00Z')).toEqual(TOLD)
  })

  it('lasts at once where one begins now, and not before its first beginning', async () => {
    const world = await openAt('2098-03-26T01:00:00Z')
    expect(await nightly(world)).toMatchObject({ state: 'active', until: '2098-03-26T02:00:00.000Z' })
    const from = '2098-03-28T00:00:00Z'
    expect(await nightly(world, { from })).toMatchObject({
      state: 'planned',
      from: '2098-03-28T01:00:00.000Z',
    })
    await world.engine.endMaintenance('mnt_1', true, MARA)
    expect(await firesAt(world, '2098-03-27T01:30:00Z')).toEqual(TOLD)
    expect(await firesAt(world, '2098-03-28T01:30:00Z')).toEqual(HELD)
  })

  it('that lasts takes longer, or ends; one that is to come is left out; and each time the next is as ever', async () => {
    const world = await openAt('2098-03-20T12:00:00Z')
    const { engine } = world
    await nightly(world)
    expect(await firesAt(world, '2098-03-21T01:30:00Z')).toEqual(HELD)
    const longer = '2098-03-21T03:00:00.000Z'
    expect(await engine.setMaintenanceEnd('mnt_1', longer, MARA)).toMatchObject({ until: longer })
    expect(await one(world)).toMatchObject({ state: 'snoozed', snoozed: { until: longer } })
    expect(await firesAt(world, '2098-03-21T02:30:00Z')).toEqual(HELD)
    expect(await engine.endMaintenance('mnt_1', false, MARA)).toMatchObject({
      ...{ state: 'planned', ended_at: null },
      ...{ from: '2098-03-22T01:00:00.000Z', until: '2098-03-22T02:00:00.000Z' },
    })
    expect((await told(world)).at(-1)).toEqual(TOLD)
    expect(await firesAt(world, '2098-03-21T02:45:00Z')).toEqual(TOLD)
    for (const from of ['2098-03-23T01:00:00.000Z', '2098-03-24T01:00:00.000Z'])
      expect(await engine.endMaintenance('mnt_1', false, MARA)).toMatchObject({ state: 'planned', from })
    expect(await firesAt(world, '2098-03-23T01:30:00Z')).toEqual(TOLD)
    expect(await firesAt(world, '2098-03-24T01:30:00Z')).toEqual(HELD)
    expect(await engine.endMaintenance('mnt_1', true, MARA)).toMatchObject({
      ...{ state: 'over', from: '2098-03-24T01:00:00.000Z', ended_at: '2098-03-24T01:30:00.000Z' },
    })
    expect((await told(world)).at(-1)).toEqual(TOLD)
    expect(await firesAt(world, '2098-03-25T01:30:00Z')).toEqual(TOLD)
    expect(await list(world)).toEqual([])
  })

  it('its end is moved only while it lasts, and not past its next beginning', async () => {
    const world = await openAt('2098-03-20T12:00:00Z')
    await nightly(world)
    const move = (until: string) => world.engine.setMaintenanceEnd('mnt_1', until, MARA)
    await expect(move('2098-03-21T03:00:00Z')).rejects.toThrow('repeats and does not last now')
    world.pass(Date.parse('2098-03-21T01:30:00Z') - world.clock.at)
    await expect(move('2098-03-22T01:00:01Z')).rejects.toThrow(
      'until must not be after 2098-03-22T01:00:00.000Z, when it begins again',
    )
    await expect(move('2098-03-21T01:20:00Z')).rejects.toThrow('until must be in the future')
  })

  it.each([
    [{ until: '2099-01-01T00:00:00Z' }, 'until must not be set where it repeats'],
    [{ for: undefined }, 'for must say how long each lasts'],
    [{ for: '24h' }, 'for must be shorter than from one beginning to the next'],
    [
      { for: '45m', repeat: { cron: '0,30 2 * * *' } },
      'for must be shorter than from one beginning to the next',
    ],
    [{ repeat: { cron: '0 25 * * *' } }, 'repeat.cron has 25 as its hour, which must be from 0 to 23'],
    [{ repeat: { cron: '0 2 30 2 *' } }, 'repeat.cron never comes'],
    [
      { repeat: { cron: '0 2 * * *', time_zone: 'Mars/Olympus' } },
      'repeat.time_zone must be an IANA time zone',
    ],
    [{ from: '2199-01-01T00:00:00Z' }, 'from must be within a year'],
  ])('refuses %j', async (of, message) => {
    const world = await openAt('2098-03-20T12:00:00Z')
    await expect(nightly(world, of)).rejects.toThrow(message)
    expect((await world.engine.listMaintenance('all')).windows).toEqual([])
  })
})

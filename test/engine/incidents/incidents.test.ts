/** 19, step 2: an incident is the firings of one trigger for one key, from the first until it is handled. */
import { describe, expect, it } from 'vitest'
import type { Incident, Verdict } from '../../../schemas/types.ts'
import { BY, MINUTE, openWorld, type World } from '../triggers/trigger-world.ts'

const MARA = { by: 'mara', via: 'console' } as const
const JONAS = { by: 'jonas', via: 'key' } as const
const HOUR = 60 * MINUTE
const any = { event: 'any' } as const
const error = { service: 'checkout', type: 'error', msg: 'POST /orders 503' }

const all = async ({ engine }: World, state?: Incident['state']): Promise<Incident[]> =>
  (await engine.listIncidents({ state, limit: 200 }, null)).incidents
const one = async (world: World, number = 1) => world.engine.getIncident(`inc_${number}`, null)

/** A world in which each event fires, after a cooldown of a minute. */
async function open(more: object = {}): Promise<World> {
  const world = await openWorld()
  await world.trigger({ condition: any, cooldown: '1m', ...more })
  return world
}

/** Fires again, so long after. */
async function again(world: World, more: object = {}, after = 2 * MINUTE): Promise<void> {
  world.clock.at += after
  await world.post({ ...error, ...more })
}

async function subscribe({ engine }: World): Promise<void> {
  await engine.subscribe({ trigger: 't' }, { url: null, name: 'hook', audience: 'operator' }, BY.caller)
}

describe('firings of one trigger for one key', () => {
  it('are one incident, counted, from the first until it is handled', async () => {
    const world = await open()
    await world.post(error)
    await again(world)
    await again(world)
    await again(world, { service: 'search' })
    const incidents = await all(world)
    expect(incidents.map(({ id, key, firings, state }) => [id, key, firings, state])).toEqual([
      ['inc_2', 'search', 1, 'open'],
      ['inc_1', 'checkout', 3, 'open'],
    ])
    expect(incidents[1]).toMatchObject({
      severity: 'warning',
      trigger: 't',
      entity: { label: 'service', value: 'checkout' },
      headline: 'POST /orders 503',
      sentence: 'When an event arrives on app',
      opened_at: '2026-11-20T12:00:00.000Z',
      last_fired_at: '2026-11-20T12:04:00.000Z',
      assignee: null,
      acknowledged: null,
      handled: null,
      previous: null,
      result: null,
      claims: null,
      run: null,
      accepts: ['acknowledge', 'assign', 'snooze', 'handle', 'severity'],
    })
    expect(incidents[1]!.spark).toHaveLength(24)
    expect(incidents[1]!.spark.at(-1)).toBe(3)
    const firings = await world.firings()
    expect(firings.map(({ incident, severity }) => [incident, severity])).toEqual([
      ['inc_1', 'warning'],
      ['inc_1', 'warning'],
      ['inc_1', 'warning'],
      ['inc_2', 'warning'],
    ])
  })

  it('leave one row of the activity for each step, and one for repeats in a row', async () => {
    const world = await open()
    await world.post(error)
    await again(world)
    await again(world)
    await world.engine.actOnIncident('inc_1', { action: 'acknowledge', version: 1 }, MARA)
    await again(world)
    const { activity, firings, firings_total } = await one(world)
    expect(
      activity.map(({ n, action, by, via, from, to, firings }) => ({
        n,
        action,
        by,
        via,
        from,
        to,
        firings,
      })),
    ).toEqual([
      { n: 4, action: 'fired', by: 'svc', via: 'svc', from: 'acknowledged', to: 'acknowledged', firings: 1 },
      {
        n: 3,
        action: 'acknowledged',
        by: 'mara',
        via: 'console',
        from: 'open',
        to: 'acknowledged',
        firings: null,
      },
      { n: 2, action: 'fired', by: 'svc', via: 'svc', from: 'open', to: 'open', firings: 2 },
      { n: 1, action: 'opened', by: 'svc', via: 'svc', from: null, to: 'open', firings: null },
    ])
    expect([firings.length, firings_total]).toEqual([4, 4])
  })

  it('show the event that tripped the last of them, on one line, until it is purged', async () => {
    const world = await open()
    await world.post({ ...error, msg: 'POST /orders\n  503' })
    const [first] = (await world.firings())[0]!.event_ids
    expect((await one(world)).event).toEqual({ id: first, source: 'app', text: 'POST /orders 503' })
    await again(world, { msg: 'x'.repeat(400) })
    const [incident] = await all(world)
    expect(incident!.event).toMatchObject({ source: 'app', text: `${'x'.repeat(299)}…` })
    await world.engine.deleteSource('app', { cascade: true, purgeEvents: true }, BY)
    while (world.engine.maintain());
    expect((await one(world)).event).toBeNull()
  })

  it('open a new one after it was handled, which links the last', async () => {
    const world = await open()
    await world.post(error)
    await world.engine.actOnIncident('inc_1', { action: 'handle', version: 1 }, JONAS)
    await world.engine.actOnIncident('inc_1', { action: 'notes', text: 'rolled back' }, JONAS)
    await again(world)
    expect(await one(world, 2)).toMatchObject({
      state: 'open',
      previous: 'inc_1',
      firings_total: 1,
      happened_before: {
        days: 30,
        count: 1,
        incidents: [{ id: 'inc_1', note: 'rolled back', handled: { by: 'jonas', how: 'person' } }],
      },
    })
    expect((await all(world, 'handled')).map(({ id }) => id)).toEqual(['inc_1'])
  })
})

describe('severity', () => {
  it('is that of the trigger, warning by default; none opens none, as schedules do by default', async () => {
    const world = await openWorld()
    await world.trigger({ name: 'loud', condition: any, severity: 'critical' })
    await world.trigger({ name: 'mute', condition: any, severity: 'none' })
    await world.trigger({ name: 'hourly', condition: { every: '1h' } })
    await world.trigger({ name: 'daily', condition: { every: '1h' }, severity: 'info' })
    await world.post(error)
    world.pass(HOUR)
    expect((await all(world)).map(({ trigger, severity }) => [trigger, severity])).toEqual([
      ['loud', 'critical'],
      ['daily', 'info'],
    ])
    const { engine } = world
    expect((await engine.listTriggers()).map(({ name, severity }) => [name, severity])).toEqual([
      ['daily', 'info'],
      ['hourly', 'none'],
      ['loud', 'critical'],
      ['mute', 'none'],
    ])
    expect((await world.firings('mute'))[0]).toMatchObject({ incident: null, severity: null })
  })

  it.each([
    ['critical', 'critical'],
    ['page', 'critical'],
    ['P1', 'critical'],
    ['error', 'critical'],
    ['fatal', 'critical'],
    ['warn', 'warning'],
    ['p2', 'warning'],
    ['info', 'info'],
    ['High', 'critical'],
    ['SEV-1', 'critical'],
    ['medium', 'warning'],
    ['P4', 'info'],
    ['none', 'info'],
    ['banana', 'warning'],
  ])('is read from a field where one is named: %s is %s', async (said, severity) => {
    for (const field of ['state', 'payload.alert.level']) {
      const world = await open({ severity_field: field })
      await world.post({ ...error, state: said, alert: { level: said } })
      expect(await all(world)).toMatchObject([{ severity }])
    }
  })

  it('that rises opens again what somebody has, and what is snoozed; one that falls changes nothing', async () => {
    const world = await open({ severity_field: 'state' })
    const { engine } = world
    await world.post({ ...error, state: 'info' })
    await engine.actOnIncident('inc_1', { action: 'acknowledge' }, MARA)
    await again(world, { state: 'info' })
    expect(await one(world)).toMatchObject({ state: 'acknowledged', severity: 'info', assignee: 'mara' })
    await again(world, { state: 'warn' })
    expect(await one(world)).toMatchObject({ state: 'open', severity: 'warning', acknowledged: null })
    await engine.actOnIncident('inc_1', { action: 'snooze', until: null }, MARA)
    await again(world, { state: 'info' })
    expect(await one(world)).toMatchObject({ state: 'snoozed', severity: 'warning' })
    await again(world, { state: 'page' })
    expect(await one(world)).toMatchObject({ state: 'open', severity: 'critical', snoozed: null })
    // What a person made less of stays so, while nothing worse comes.
    await engine.actOnIncident('inc_1', { action: 'severity', severity: 'info' }, MARA)
    await again(world, { state: 'page' })
    expect(await one(world)).toMatchObject({ state: 'open', severity: 'info' })
  })
})

describe('a person', () => {
  it('acknowledges: it is theirs unless it is another one’s, and deliveries go on', async () => {
    const world = await open()
    await subscribe(world)
    await world.post(error)
    expect(
      await world.engine.actOnIncident('inc_1', { action: 'acknowledge', version: 1 }, MARA),
    ).toMatchObject({
      state: 'acknowledged',
      assignee: 'mara',
      acknowledged: { by: 'mara', at: '2026-11-20T12:00:00.000Z' },
      version: 2,
    })
    await again(world)
    expect(
      (await world.firings()).map(({ subscribers, suppressed_by }) => [subscribers, suppressed_by]),
    ).toEqual([
      [1, null],
      [1, null],
    ])
    await again(world, { service: 'search' })
    await world.engine.actOnIncident('inc_2', { action: 'assign', assignee: 'jonas' }, MARA)
    const taken = await world.engine.actOnIncident('inc_2', { action: 'acknowledge' }, MARA)
    expect(taken).toMatchObject({ assignee: 'jonas', acknowledged: { by: 'mara' } })
  })

  it('takes an acknowledgement back: it is nobody’s again', async () => {
    const world = await open()
    await world.post(error)
    await world.engine.actOnIncident('inc_1', { action: 'acknowledge' }, MARA)
    expect(await world.engine.actOnIncident('inc_1', { action: 'reopen' }, MARA)).toMatchObject({
      state: 'open',
      assignee: null,
      acknowledged: null,
    })
  })

  it('who comes second is refused, and told who was first', async () => {
    const world = await open()
    await world.post(error)
    await world.engine.actOnIncident('inc_1', { action: 'acknowledge', version: 1 }, MARA)
    const late = world.engine.actOnIncident('inc_1', { action: 'handle', version: 1 }, JONAS)
    await expect(late).rejects.toMatchObject({
      code: 'conflict',
      message: 'incident inc_1 was changed since you looked: it is acknowledged by mara, version 2 and not 1',
      extra: { incident: { state: 'acknowledged', acknowledged: { by: 'mara' }, version: 2 } },
    })
    const wrong = world.engine.actOnIncident('inc_1', { action: 'acknowledge' }, JONAS)
    await expect(wrong).rejects.toMatchObject({ code: 'wrong_state', extra: { incident: { version: 2 } } })
    expect((await one(world)).activity).toHaveLength(2)
  })

  it('who saw it before it fired again is not refused for that', async () => {
    const world = await open()
    await world.post(error)
    await again(world)
    expect(await world.engine.actOnIncident('inc_1', { action: 'handle', version: 1 }, MARA)).toMatchObject({
      state: 'handled',
    })
  })

  it('snoozes: firings count, nobody is told, agents included, until the time is over', async () => {
    const world = await open()
    await subscribe(world)
    await world.engine.createAgent({ name: 'first-look', prompt: 'look', trigger: 't' } as never, BY)
    await world.post(error)
    await world.engine.actOnIncident(
      'inc_1',
      { action: 'snooze', until: new Date(world.clock.at + HOUR).toISOString() },
      JONAS,
    )
    await again(world)
    const [first, held] = await world.firings()
    expect(first).toMatchObject({ suppressed_by: null })
    expect(first!.subscribers).toBeGreaterThanOrEqual(1)
    expect(held).toMatchObject({ subscribers: 0, suppressed_by: 'snooze', incident: 'inc_1' })
    // Another key is told.
    await again(world, { service: 'search' })
    expect((await world.firings()).at(-1)).toMatchObject({ suppressed_by: null })
    world.pass(HOUR)
    expect(await one(world)).toMatchObject({
      state: 'open',
      snoozed: null,
      snoozed_until: null,
      firings_total: 2,
    })
    await again(world)
    expect((await world.firings()).at(-1)).toMatchObject({ suppressed_by: null })
  })

  it('ends a snooze: whoever had it has it again', async () => {
    const world = await open()
    await world.post(error)
    const { engine } = world
    await engine.actOnIncident('inc_1', { action: 'acknowledge' }, MARA)
    await engine.actOnIncident('inc_1', { action: 'snooze' }, MARA)
    expect(await engine.actOnIncident('inc_1', { action: 'unsnooze' }, MARA)).toMatchObject({
      state: 'acknowledged',
      acknowledged: { by: 'mara' },
    })
  })

  it.each([
    [{ action: 'snooze', until: '2026-11-20T11:59:59Z' }, 'until must be in the future'],
    [{ action: 'snooze', until: '2029-11-20T11:59:59Z' }, 'until must be within a year'],
    [{ action: 'severity' }, 'severity is required: critical, warning or info'],
    [{ action: 'notes', text: '  ' }, 'text is required: a note says something'],
  ] as const)('is told what is wrong: %j', async (act, message) => {
    const world = await open()
    await world.post(error)
    await expect(world.engine.actOnIncident('inc_1', act, MARA)).rejects.toMatchObject({
      code: 'invalid',
      message,
    })
    await expect(world.engine.actOnIncident('inc_7', act, MARA)).rejects.toMatchObject({ code: 'not_found' })
  })

  it('acts on many at once: those whose state does not take it are told, an unknown one refuses all', async () => {
    const world = await open()
    for (const service of ['a', 'b', 'c']) await world.post({ ...error, service })
    const { engine } = world
    await engine.actOnIncident('inc_2', { action: 'handle' }, MARA)
    await expect(
      engine.actOnIncidents({ ids: ['inc_1', 'inc_9'], action: 'acknowledge' }, MARA),
    ).rejects.toMatchObject({ code: 'not_found' })
    expect((await one(world)).state).toBe('open')
    expect(
      await engine.actOnIncidents({ ids: ['inc_1', 'inc_2', 'inc_3'], action: 'acknowledge' }, MARA),
    ).toMatchObject({
      incidents: [
        { id: 'inc_1', state: 'acknowledged' },
        { id: 'inc_3', state: 'acknowledged' },
      ],
      skipped: [{ id: 'inc_2', state: 'handled', reason: 'it is handled and does not accept acknowledge' }],
      counts: { open: { critical: 0, warning: 0, info: 0 }, acknowledged: 2, snoozed: 0 },
    })
  })

  it('leaves of many those that somebody changed since they were seen', async () => {
    const world = await open()
    for (const service of ['a', 'b']) await world.post({ ...error, service })
    const { engine } = world
    const ids = ['inc_1', 'inc_2']
    const { incidents } = await engine.actOnIncidents({ ids, action: 'acknowledge' }, MARA)
    await engine.actOnIncident('inc_2', { action: 'handle' }, JONAS)
    const versions = Object.fromEntries(incidents.map(({ id, version }) => [id, version]))
    const undone = await engine.actOnIncidents({ ids, versions, action: 'reopen' }, MARA)
    expect(undone).toMatchObject({
      incidents: [{ id: 'inc_1', state: 'open' }],
      skipped: [
        {
          ...{ id: 'inc_2', state: 'handled' },
          reason: 'was changed since you looked: it is handled by jonas, version 3 and not 2',
        },
      ],
    })
  })
})

describe('an incident is handled', () => {
  it('by a firing that resolves it, which is told to whoever was told of it', async () => {
    const world = await openWorld()
    await world.trigger({
      condition: { aggregate: 'count', predicate: '> 1', window: '5m', resolve: true },
      cooldown: '1m',
    })
    await subscribe(world)
    await world.post([error, error])
    await world.engine.actOnIncident('inc_1', { action: 'snooze' }, MARA)
    world.pass(10 * MINUTE)
    expect(await one(world)).toMatchObject({
      state: 'handled',
      handled: { how: 'resolved', by: 'svc' },
      snoozed: null,
    })
    const resolved = (await world.firings()).at(-1)!
    expect(resolved).toMatchObject({ incident: 'inc_1', suppressed_by: null, subscribers: 1 })
    expect(resolved.resolves).not.toBeNull()
  })

  it('when nothing fired for 24 hours', async () => {
    const world = await open()
    await world.post(error)
    world.pass(12 * HOUR)
    await world.post(error)
    world.pass(24 * HOUR - 1)
    expect((await one(world)).state).toBe('open')
    world.pass(1)
    expect(await one(world)).toMatchObject({
      state: 'handled',
      handled: { how: 'quiet', by: 'svc', at: '2026-11-22T00:00:00.000Z' },
    })
  })

  it('once its trigger is deleted, which nothing would end; an undo opens it again, and who had it has it', async () => {
    const world = await open()
    const { engine } = world
    await world.post(error)
    const deleteAndUndo = async () => {
      await engine.deleteTrigger('t', BY)
      const gone = await one(world)
      expect(gone).toMatchObject({ state: 'handled', handled: { how: 'deleted', by: 'svc' } })
      expect((await engine.home([])).state).toBe('quiet')
      const [newest] = (await engine.listChangeSets({ limit: 1 })).change_sets
      await engine.undoChangeSet(newest!.id, false, BY)
    }
    await deleteAndUndo()
    expect(await one(world)).toMatchObject({ state: 'open', handled: null })
    await engine.actOnIncident('inc_1', { action: 'acknowledge' }, MARA)
    const { acknowledged } = await one(world)
    await deleteAndUndo()
    expect(await one(world)).toMatchObject({ state: 'acknowledged', handled: null, acknowledged })
  })

  it('not while what its trigger watches still lasts', async () => {
    const world = await openWorld()
    await world.trigger({
      condition: { aggregate: 'max', field: 'ms', predicate: '> 5', window: '48h', resolve: '< 3' },
      cooldown: '1m',
    } as never)
    await world.post({ ...error, ms: 9 })
    world.pass(30 * HOUR)
    expect((await one(world)).state).toBe('open')
    world.pass(40 * HOUR)
    expect(await one(world)).toMatchObject({ state: 'handled', handled: { how: 'resolved' } })
  })

  it('and reopened stays so for a day', async () => {
    const world = await open()
    await world.post(error)
    world.pass(25 * HOUR)
    await world.engine.actOnIncident('inc_1', { action: 'reopen' }, MARA)
    world.pass(23 * HOUR)
    expect((await one(world)).state).toBe('open')
    world.pass(HOUR)
    expect((await one(world)).state).toBe('handled')
  })

  it('and a second one of its key is open: it is not reopened beside it', async () => {
    const world = await open()
    await world.post(error)
    await world.engine.actOnIncident('inc_1', { action: 'handle' }, MARA)
    await again(world)
    await expect(world.engine.actOnIncident('inc_1', { action: 'reopen' }, MARA)).rejects.toMatchObject({
      code: 'conflict',
      message: 'incident inc_1 was followed by inc_2, which is not handled; act on that one',
    })
  })
})

describe('the list', () => {
  it('goes by severity, then last firing, and pages; counts are of all', async () => {
    const world = await open({ severity_field: 'state' })
    const said = ['info', 'page', 'warn', 'page', 'info']
    for (const [i, state] of said.entries()) await again(world, { service: `s${i}`, state })
    const pages: string[][] = []
    let before: string | undefined
    do {
      const page = await world.engine.listIncidents({ limit: 2, before }, null)
      pages.push(page.incidents.map(({ key }) => key))
      expect(page.counts).toEqual({ open: { critical: 2, warning: 1, info: 2 }, acknowledged: 0, snoozed: 0 })
      before = page.next_before ?? undefined
    } while (before)
    expect(pages).toEqual([['s3', 's1'], ['s2', 's4'], ['s0']])
    const keys = async (filter: object) =>
      (await world.engine.listIncidents({ limit: 50, ...filter }, null)).incidents.map(({ key }) => key)
    expect(await keys({ severity: 'critical' })).toEqual(['s3', 's1'])
    expect(await keys({ entity: 'service=s2' })).toEqual(['s2'])
    expect(await keys({ q: '#1' })).toEqual(['s0'])
    expect(await keys({ q: 's4' })).toEqual(['s4'])
    await expect(keys({ trigger: 'nothing' })).rejects.toThrow('no trigger is named nothing')
    await world.engine.actOnIncident('inc_3', { action: 'assign', assignee: 'mara' }, MARA)
    expect(await keys({ assignee: 'mara' })).toEqual(['s2'])
    expect(await keys({ assignee: 'none' })).toHaveLength(4)
    await world.engine.actOnIncident('inc_2', { action: 'handle' }, MARA)
    expect(await keys({})).toEqual(['s3', 's2', 's4', 's0'])
    expect(await keys({ state: 'all' })).toEqual(['s3', 's1', 's2', 's4', 's0'])
    const first = await world.engine.listIncidents({ state: 'all', limit: 2 }, null)
    expect(await keys({ state: 'all', before: first.next_before })).toEqual(['s2', 's4', 's0'])
    const { opened_at } = await world.engine.getIncident('inc_3', null)
    expect(await keys({ state: 'all', opened_since: opened_at })).toEqual(['s3', 's2', 's4'])
    await expect(keys({ opened_since: 'lately' })).rejects.toMatchObject({ code: 'invalid' })
    await expect(keys({ before: 'x' })).rejects.toMatchObject({ code: 'invalid' })
  })
})

it('a verdict has closes, which is kept', async () => {
  const { engine } = await openWorld()
  const verdicts: Verdict[] = [{ verdict: 'false_alarm', closes: true }]
  await engine.createAgent({ name: 'a', prompt: 'look', verdicts } as never, BY)
  expect(await engine.getAgent('a')).toMatchObject({ verdicts })
})

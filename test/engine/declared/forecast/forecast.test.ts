/** What a change would have done: what it names, counts and says it does not know. */
import { describe, expect, it } from 'vitest'
import type { Operation, PlanBacktest } from '../../../../schemas/types.ts'
import { BY, MINUTE, openWorld, T0, type World } from '../../triggers/trigger-world.ts'

const put = (kind: Operation['kind'], name: string, spec: object): Operation => ({
  ...{ op: 'put', kind, name },
  spec: { ...spec },
})
const any = { sources: ['app'], condition: { event: 'any' as const }, cooldown: '10m' }

/** Six events of two services, a minute apart. */
async function sent(world: World): Promise<void> {
  for (let n = 0; n < 6; n++) {
    world.pass(MINUTE)
    await world.post({ service: n % 2 ? 'pay' : 'cart', region: 'eu', state: n < 3 ? 'up' : 'down', ms: n })
  }
  world.pass(MINUTE)
}

const asked = (world: World, ...operations: Operation[]): Promise<PlanBacktest> =>
  world.engine.backtestChange({ operations, window: '30m' })

describe('the backtest of a change', () => {
  it('tells firings before and after by time and key, and what a cooldown suppressed', async () => {
    const world = await openWorld()
    await world.trigger({ name: 't', ...any })
    await sent(world)
    const { triggers, scanned, unreached } = await asked(
      world,
      put('trigger', 't', { ...any, cooldown: '2m' }),
    )
    expect([scanned, unreached]).toEqual([6, 0])
    expect(triggers[0]).toMatchObject({
      ...{ trigger: 't', change: 'changed', added: 4, gone: 0, same: 2, key_count: 2, is_cut: false },
      before: { firings: 2, cooldown: 4 },
      after: { firings: 6, cooldown: 0 },
      keys: [
        { key: 'cart', before: 1, after: 3 },
        { key: 'pay', before: 1, after: 3 },
      ],
    })
    expect(triggers[0]!.list.map(({ is, key }) => `${is} ${key}`)).toEqual([
      ...['added pay', 'added cart', 'added pay', 'added cart', 'same pay', 'same cart'],
    ])
    expect(triggers[0]!.buckets.reduce((sum, { after }) => sum + after, 0)).toBe(6)
  })

  it('counts bursts that a storm gathers, holds back and drops', async () => {
    const world = await openWorld()
    await world.trigger({ name: 't', ...any })
    await sent(world)
    const gathered = { ...any, storm: { quiet: '90s', max_wait: '20m', min_count: 9 } }
    const [dropped] = (await asked(world, put('trigger', 't', gathered))).triggers
    expect(dropped!.after).toMatchObject({ firings: 0, folded: 6, dropped: 0 })
    world.pass(2 * MINUTE)
    expect((await asked(world, put('trigger', 't', gathered))).triggers[0]!.after).toMatchObject({
      ...{ folded: 6, dropped: 1 },
    })
    const limited = { ...any, cooldown: '1s', storm: { limits: [{ max: 2, per: '1h' }] } }
    expect((await asked(world, put('trigger', 't', limited))).triggers[0]!.after).toMatchObject({
      ...{ firings: 2, held: 4 },
    })
  })

  it('leaves out triggers that it does not reach, and words that decide nothing', async () => {
    const world = await openWorld()
    await world.trigger({ name: 't', ...any })
    await world.trigger({ name: 'other', ...any })
    await sent(world)
    const said = put('trigger', 't', { ...any, description: 'anything happens', severity: 'critical' })
    expect(await asked(world, said)).toMatchObject({ triggers: [], unreached: 2, scanned: 0 })
  })

  it('knows a part by the name that the change gives it: nothing but what else changes fires otherwise', async () => {
    const world = await openWorld()
    await world.trigger({ name: 't', ...any })
    await sent(world)
    const moved = `moved:
  - { source: app, to: shop }
  - { trigger: t, to: noise }
`
    const yaml = await world.engine.exportCatalog()
    const renamed = moved + yaml.replaceAll(/\bapp\b/g, 'shop').replaceAll(/\bt\b/g, 'noise')
    expect(await world.engine.backtestChange({ yaml: renamed, window: '30m' })).toMatchObject({
      ...{ triggers: [], scanned: 0, unreached: 1 },
    })
    const also = renamed.replace('cooldown: 10m', 'cooldown: 2m')
    expect((await world.engine.backtestChange({ yaml: also, window: '30m' })).triggers).toMatchObject([
      { trigger: 'noise', change: 'changed', added: 4, gone: 0, same: 2 },
    ])
  })

  it('knows a part that gets its name back, without a word of the file', async () => {
    const world = await openWorld()
    await world.trigger({ name: 't', ...any })
    await sent(world)
    const yaml = await world.engine.exportCatalog()
    const renamed = `moved:\n  - { source: app, to: shop }\n${yaml.replaceAll(/\bapp\b/g, 'shop')}`
    for (const text of [yaml, renamed]) await world.engine.importCatalog({ yaml: text, name: 'shop' }, BY)
    const back = { yaml, name: 'shop', prune: true, window: '30m' }
    expect(await world.engine.backtestChange(back)).toMatchObject({ triggers: [], scanned: 0 })
    const also = { ...back, yaml: yaml.replace('cooldown: 10m', 'cooldown: 2m') }
    expect((await world.engine.backtestChange(also)).triggers).toMatchObject([
      { trigger: 't', change: 'changed', added: 4, gone: 0, same: 2 },
    ])
  })

  it('labels events of a changed source anew, and tells which labels they lose, gain and change', async () => {
    const world = await openWorld()
    await world.trigger({ name: 't', ...any, condition: { event: 'any' } })
    await sent(world)
    const labels = [
      { name: 'service', field: 'service', map: { pay: 'payments' }, primary: true },
      { name: 'region', field: 'zone' },
      { name: 'state', field: 'state' },
      { name: 'level', field: 'ms', type: 'number' },
    ]
    const change: Operation = { op: 'patch', kind: 'source', name: 'app', spec: { config: { labels } } }
    const { triggers, labels: found } = await asked(world, change)
    expect(triggers[0]).toMatchObject({ change: 'source', added: 1, gone: 1, same: 1 })
    expect(triggers[0]!.keys.map(({ key }) => key).sort()).toEqual(['cart', 'pay', 'payments'])
    expect(found).toEqual([
      {
        ...{ source: 'app', events: 6, not_stored: 0, unreadable: 0 },
        labels: [
          { label: 'level', lost: 0, gained: 6, changed: 0, examples: expect.anything() },
          { label: 'ms', lost: 6, gained: 0, changed: 0, examples: expect.anything() },
          {
            ...{ label: 'region', lost: 6, gained: 0, changed: 0 },
            examples: [
              { event: 'evt_1', from: 'eu', to: null },
              { event: 'evt_2', from: 'eu', to: null },
              { event: 'evt_3', from: 'eu', to: null },
            ],
          },
          { label: 'service', lost: 0, gained: 0, changed: 3, examples: expect.anything() },
        ],
      },
    ])
  })

  it('keeps labels that came of headers, which are not stored', async () => {
    const world = await openWorld()
    const { ingest_key } = await world.engine.createSource(
      {
        ...{ name: 'hub', connector: 'webhook' },
        config: {
          labels: [
            { name: 'event', field: 'header.linear-event', primary: true },
            { name: 'to', field: 'to' },
          ],
        },
      },
      BY,
      false,
    )
    await world.trigger({ name: 't', sources: ['hub'], condition: { event: 'any' } })
    world.pass(MINUTE)
    const headers = { 'linear-event': 'Issue' }
    const body = Buffer.from(JSON.stringify({ to: 'a', by: 'b' }))
    await world.engine.ingest({
      ingestKey: ingest_key!,
      body,
      bypassCooldown: false,
      caller: 'open',
      headers,
    })
    const labels = [
      { name: 'event', field: 'header.linear-event', primary: true },
      { name: 'to', field: 'by' },
    ]
    const found = await asked(world, {
      op: 'patch',
      kind: 'source',
      name: 'hub',
      spec: { config: { labels } },
    })
    expect(found.labels[0]!.labels).toMatchObject([{ label: 'to', changed: 1 }])
    expect(found.triggers[0]).toMatchObject({ same: 1, keys: [{ key: 'Issue', before: 1, after: 1 }] })
  })

  it('says what it cannot know: of new sources, of what was not stored yet, of silence and of intervals', async () => {
    const world = await openWorld()
    await sent(world)
    const { notes, triggers } = await asked(
      world,
      put('source', 'new', { connector: 'webhook' }),
      put('trigger', 'silent', { sources: ['new'], condition: { absent_for: '5m' } }),
      put('trigger', 'timed', { sources: ['app'], condition: { every: '10m' } }),
      put('trigger', 'changed', { sources: ['app'], condition: { change_of: 'state' } }),
    )
    expect(notes.join('\n')).toContain('source new is new: it has no stored events')
    expect(notes.join('\n')).toContain('the oldest stored event is of 2026-11-20T12:01:00.000Z')
    const notesOf = (name: string) => triggers.find(({ trigger }) => trigger === name)!.notes.join('\n')
    expect(notesOf('silent')).toContain('new: new, without stored events')
    expect(notesOf('timed')).toContain('count from the start of the span')
    expect(notesOf('changed')).toContain('its first value in it is no change')
    expect(triggers.find(({ trigger }) => trigger === 'timed')).toMatchObject({ change: 'created', added: 4 })
  })

  it('fires nothing for what is paused, and nothing of a source that takes no more', async () => {
    const world = await openWorld()
    await world.trigger({ name: 't', ...any })
    await sent(world)
    const paused = await asked(world, { op: 'move', kind: 'trigger', name: 't', event: 'pause' })
    expect(paused.triggers[0]).toMatchObject({ change: 'changed', gone: 2, after: { firings: 0 } })
    const silent = await asked(world, { op: 'move', kind: 'source', name: 'app', event: 'pause' })
    expect(silent.triggers[0]).toMatchObject({ change: 'source', gone: 2, after: { firings: 0 } })
  })

  it('expects runs and dollars of a week from past runs, and says where there are none', async () => {
    const world = await openWorld()
    await world.trigger({ name: 't', ...any })
    await sent(world)
    const wiring = [put('agent', 'first', { prompt: 'Look.' })]
    const [project] = await world.engine.listProjects()
    const woken: Operation = {
      ...{ op: 'patch', kind: 'project', name: project!.id },
      spec: { wakes: { t: { first: { enabled: true } } } },
    }
    const { agents, triggers, notes } = await asked(world, ...wiring, woken)
    expect(triggers[0]).toMatchObject({ change: 'wiring', same: 2 })
    expect(agents[0]).toMatchObject({
      ...{ agent: 'first', triggers: ['t'], firings_before: 0, firings_after: 2, past_runs: 0 },
      ...{ usd_after: null, usd_per_run: null },
    })
    expect(agents[0]!.runs_after.expected).toBe(672)
    expect(agents[0]!.basis).toContain('no runs yet')
    expect(notes.join()).toContain('hand over to')
  })

  it('takes a catalog file, a proposal and a plan alike, and exactly one of them', async () => {
    const world = await openWorld()
    await world.trigger({ name: 't', ...any })
    await sent(world)
    const operations = [put('trigger', 't', { ...any, cooldown: '2m' })]
    const expected = await asked(world, ...operations)
    const yaml = (await world.engine.exportCatalog()).replace('cooldown: 10m', 'cooldown: 2m')
    expect(await world.engine.backtestChange({ yaml, window: '30m' })).toEqual(expected)
    const { id } = await world.engine.propose({ operations }, BY)
    expect(await world.engine.backtestChange({ proposal: id, window: '30m' })).toEqual(expected)
    await expect(world.engine.backtestChange({ proposal: id, yaml })).rejects.toThrow('exactly one')
    await expect(world.engine.backtestChange({ proposal: 'prop_0' })).rejects.toMatchObject({
      code: 'not_found',
    })
    await expect(world.engine.backtestChange({ yaml: 'sources: 3' })).rejects.toMatchObject({
      code: 'invalid',
    })
    const told: number[] = []
    await world.engine.backtestChange({ operations, window: '30m' }, true, ({ done, of }) =>
      told.push(done / of),
    )
    expect(told.at(-1)).toBe(1)
    expect(T0).toBeLessThan(world.clock.at)
  })
})

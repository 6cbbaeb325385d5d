/** What a plan says a change would have fired is what fires when the same events come to a fresh instance with it. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Operation, PlanBacktestTrigger } from '../../../../schemas/types.ts'
import { longOr } from '../../../chaos/scale.ts'
import { BY, MINUTE, openWorld, T0, type World } from '../../triggers/trigger-world.ts'

const SOURCES = ['app', 'db'] as const
const SECOND = 1_000

const filters = fc.option(
  fc.array(
    fc.oneof(
      fc.constantFrom<object>(
        { field: 'state', op: 'eq', value: 'up' },
        { field: 'state', op: 'in', value: ['down', 'up'] },
        { field: 'region', op: 'prefix', value: 'e' },
        { field: 'event_type', op: 'eq', value: 'error' },
        { field: 'payload.host', op: 'neq', value: 'h2' },
        { field: 'text', op: 'contains', value: 'b' },
        { field: 'region', op: 'regex', value: '^[eu]+$' },
        { field: 'service', op: 'exists', value: true },
        { field: 'source', op: 'neq', value: 'db' },
      ),
      fc.integer({ min: 0, max: 90 }).map((value) => ({ field: 'ms', op: 'gte', value })),
    ),
    { maxLength: 2 },
  ),
  { nil: undefined },
)

const minutes = (min: number, max: number) => fc.integer({ min, max }).map((n) => `${n}m`)

const groups = fc.constantFrom(['region'], ['service', 'state'], ['key_value'], ['source', 'event_type'])

/** Changes that each of the four tests tries. */
const CHANGES = longOr(50, 25)

/**
 * Of a change that fails so many smaller ones are tried: each takes as long as one of the others, and there are thousands,
 * so that without an end the test would be ended before it tells what failed.
 */
const SMALLER = 150

/** Every kind there is, by the field that makes it. */
const KINDS = ['event', 'aggregate', 'absent_for', 'change_of', 'sequence', 'every', 'cron'] as const

const up = { filters: [{ field: 'state', op: 'eq', value: 'up' }] }
const down = { filters: [{ field: 'state', op: 'eq', value: 'down' }] }
const errors = { filters: [{ field: 'event_type', op: 'eq', value: 'error' }] }

const condition = fc.oneof(
  fc.record({ event: fc.constant('any'), group_by: groups }, { requiredKeys: ['event'] }),
  fc.record(
    {
      aggregate: fc.constant('count'),
      predicate: fc.integer({ min: 0, max: 4 }).map((n) => `> ${n}`),
      window: minutes(1, 20),
      group_by: groups,
      resolve: fc.constantFrom(true as const, '< 1'),
    },
    { requiredKeys: ['aggregate', 'predicate', 'window'] },
  ),
  fc.record(
    {
      aggregate: fc.constantFrom('avg', 'max', 'sum', 'min', 'any'),
      field: fc.constantFrom('ms', 'payload.ms'),
      predicate: fc.integer({ min: 10, max: 120 }).map((n) => `> ${n}`),
      window: minutes(1, 20),
      resolve: fc.constantFrom(true as const, '< 10'),
    },
    { requiredKeys: ['aggregate', 'field', 'predicate', 'window'] },
  ),
  fc.record({
    aggregate: fc.constant('rate'),
    predicate: fc.constantFrom('> 0.2/m', '>= 10/h'),
    window: minutes(2, 10),
  }),
  fc.record({
    aggregate: fc.constant('distinct'),
    field: fc.constantFrom('state', 'payload.host'),
    predicate: fc.constantFrom('> 1', '>= 2'),
    window: minutes(1, 20),
  }),
  fc.record({ absent_for: minutes(2, 15), group_by: fc.constantFrom(['service'], ['region']) }),
  fc.record(
    {
      change_of: fc.constantFrom('state', 'region', 'payload.host'),
      from: fc.constantFrom('down', 'us'),
      to: fc.constantFrom('up', 'eu'),
      group_by: groups,
    },
    { requiredKeys: ['change_of'] },
  ),
  fc.record(
    {
      sequence: fc.constantFrom([up, down], [down, up, down], [errors, up]),
      within: minutes(1, 15),
      group_by: groups,
    },
    { requiredKeys: ['sequence', 'within'] },
  ),
  fc.constant({ every: '7m' }),
  fc.constant({ cron: '*/9 * * * *' }),
  fc.constant({ cron: '20 8 * * *', time_zone: 'America/New_York' }),
)

const limits = fc.constantFrom([{ max: 2, per: '30m' }], [{ max: 1, per: '5m' }], [{ max: 1, per: '2m' }])
const storm = fc.oneof(
  fc.record(
    {
      quiet: fc.constantFrom('30s', '2m'),
      max_wait: fc.constantFrom('3m', '8m'),
      min_count: fc.integer({ min: 1, max: 3 }),
      limits,
    },
    { requiredKeys: ['quiet'] },
  ),
  fc.record({ limits }),
)

/** A storm only where the condition takes one. */
const trigger = fc
  .record({
    sources: fc.constantFrom(['app'], ['db'], ['app', 'db'], ['db', 'app']),
    filters,
    condition,
    cooldown: fc.constantFrom(undefined, '1s', '3m', '10m'),
    max_late: fc.constantFrom(undefined, undefined, '4m'),
    key_field: fc.constantFrom(undefined, undefined, 'region'),
    storm: fc.option(storm, { nil: undefined }),
    paused: fc.constantFrom(false, false, false, true),
  })
  .map(({ storm: gather, ...rest }) => {
    const takes = !('resolve' in rest.condition || 'every' in rest.condition || 'cron' in rest.condition)
    return Object.fromEntries(
      Object.entries({ ...rest, ...(takes && gather ? { storm: gather } : {}) }).filter(
        ([, value]) => value !== undefined,
      ),
    )
  })

/** Of a source: what its events are labelled and typed by. */
const config = fc
  .record({
    service: fc.constantFrom(
      { field: 'service' },
      { field: 'host' },
      { field: 'service', map: { a: 'z' } },
      null,
    ),
    region: fc.constantFrom(
      { field: 'region' },
      { field: 'region', pattern: '^(.).*$', replace: '$1' },
      null,
    ),
    ms: fc.constantFrom('ms', 'size'),
    primary: fc.constantFrom('service', 'region'),
    event_type_field: fc.constantFrom('type', 'state'),
    event_time_field: fc.constantFrom('at', 'at', undefined),
  })
  .map(({ service, region, ms, primary, event_type_field, event_time_field }) => ({
    event_type_field,
    ...(event_time_field ? { event_time_field } : {}),
    text_template: '{host} {state}',
    labels: [
      ...(service
        ? [{ name: 'service', ...service, ...(primary === 'service' ? { primary: true } : {}) }]
        : []),
      ...(region ? [{ name: 'region', ...region, ...(primary === 'region' ? { primary: true } : {}) }] : []),
      { name: 'state', field: 'state' },
      { name: 'ms', field: ms, type: 'number' },
    ],
  }))

const steps = fc.array(
  fc.record({
    gap: fc.oneof(fc.constant(1), fc.integer({ min: 1, max: 4 * MINUTE })),
    source: fc.constantFrom(...SOURCES),
    items: fc.array(
      fc.record(
        {
          service: fc.constantFrom('a', 'b'),
          region: fc.constantFrom('eu', 'us', 'ea'),
          host: fc.constantFrom('h1', 'h2', 'b3'),
          state: fc.constantFrom('up', 'down'),
          type: fc.constantFrom('error', 'info'),
          ms: fc.integer({ min: 0, max: 100 }),
          size: fc.integer({ min: 0, max: 100 }),
          lag: fc.oneof(
            fc.constant(0),
            fc.integer({ min: 0, max: 8 * 60 }).map((seconds) => seconds * SECOND),
          ),
        },
        { requiredKeys: ['state', 'lag', 'type'] },
      ),
      { minLength: 1, maxLength: 3 },
    ),
  }),
  { minLength: 8, maxLength: 40 },
)

const scene = fc.record({
  steps,
  configs: fc.tuple(config, config),
  triggers: fc.tuple(trigger, trigger, trigger),
  change: fc.record({
    triggers: fc.tuple(fc.option(trigger), fc.option(trigger)),
    deletes: fc.boolean(),
    made: fc.option(trigger),
    config: fc.option(config),
    pauses: fc.constantFrom(false, false, false, true),
  }),
})

type Scene = typeof scene extends fc.Arbitrary<infer S> ? S : never

const put = (kind: Operation['kind'], name: string, spec: object): Operation => ({
  ...{ op: 'put', kind, name },
  spec: { ...spec },
})

function changeOf({ change }: Scene): Operation[] {
  const [first, second] = change.triggers
  return [
    ...(change.config ? [put('source', 'app', { connector: 'webhook', config: change.config })] : []),
    ...(change.pauses ? [{ op: 'move', kind: 'source', name: 'db', event: 'pause' } as Operation] : []),
    ...(first ? [put('trigger', 't0', first)] : []),
    ...(second ? [put('trigger', 't1', second)] : []),
    ...(change.deletes ? [{ op: 'delete', kind: 'trigger', name: 't2' } as Operation] : []),
    ...(change.made ? [put('trigger', 't3', change.made)] : []),
  ]
}

/**
 * Sends the events; a source that is paused takes none. Each post has a millisecond of its seconds to itself: a firing
 * that is due in the same one reads as of then, and an event that comes after such a read is stored one later, which
 * would be another time in each of the two instances.
 */
async function live(world: World, { steps: all }: Scene): Promise<void> {
  world.pass(0)
  const { sources } = { sources: await world.engine.listSources() }
  const paused = new Set(sources.filter((one) => one.paused).map(({ name }) => name))
  for (const [n, { gap, source, items }] of all.entries()) {
    const earliest = world.clock.at + gap
    const own = (((n + 1 - earliest) % SECOND) + SECOND) % SECOND
    world.pass(gap + own)
    const { at } = world.clock
    const bodies = items.map(({ lag, ...item }) => ({ ...item, at: new Date(at - lag).toISOString() }))
    if (!paused.has(source)) await world.post(bodies, { source })
  }
  world.pass(20 * MINUTE)
}

type Told = [at: string, key: string, resolved: boolean]

async function firedIn(world: World, trigger: string): Promise<Told[]> {
  const fired = (await world.firings(trigger)).filter(({ state }) => state === 'fired')
  return inOrder(fired.map(({ fired_at, key, resolves }): Told => [fired_at!, key, resolves !== null]))
}

const inOrder = (told: readonly Told[]): Told[] =>
  [...told].sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1))

const toldOf = ({ list }: PlanBacktestTrigger, not: 'added' | 'gone'): Told[] =>
  inOrder(list.filter(({ is }) => is !== not).map(({ at, key, resolved }): Told => [at, key, resolved]))

/** What the changes came to; `seen`: firings by kind of condition, and by what became of what did not fire at once. */
const all = { reached: 0, differing: 0, relabelled: 0, firings: 0, seen: {} as Record<string, number> }

async function requireSameFirings(one: Scene): Promise<void> {
  const world = await openWorld()
  await world.post([], { source: 'db' }).catch(() => undefined)
  const operations: Operation[] = [
    put('source', 'app', { connector: 'webhook', config: one.configs[0] }),
    put('source', 'db', { connector: 'webhook', config: one.configs[1] }),
    ...one.triggers.map((spec, n) => put('trigger', `t${n}`, spec)),
  ]
  await world.engine.applyChangeSet({ operations }, BY)
  await live(world, one)
  const change = changeOf(one)
  if (change.length === 0) return void (await world.engine.close())
  const window = `${(world.clock.at - T0) / 1_000}s`
  const backtest = await world.engine.backtestChange({ operations: change, window })
  for (const trigger of backtest.triggers)
    if (trigger.before) expect(toldOf(trigger, 'added')).toEqual(await firedIn(world, trigger.trigger))

  const told = new Set(backtest.triggers.map(({ trigger }) => trigger))
  const others = ['t0', 't1', 't2', 't3'].filter((name) => !told.has(name))
  const fired = new Map<string, Told[]>()
  for (const name of others) fired.set(name, await firedIn(world, name))
  await world.engine.applyChangeSet({ operations: change }, BY)
  const yaml = await world.engine.exportCatalog()
  await world.engine.close()
  const fresh = await openWorld()
  await fresh.post([], { source: 'db' }).catch(() => undefined)
  await fresh.engine.importCatalog({ yaml }, BY)
  await live(fresh, one)
  for (const trigger of backtest.triggers) {
    if (trigger.after) expect(toldOf(trigger, 'gone')).toEqual(await firedIn(fresh, trigger.trigger))
    all.reached++
    all.differing += trigger.added + trigger.gone > 0 ? 1 : 0
    all.firings += trigger.same + trigger.added + trigger.gone
    note(all.seen, trigger, one)
  }
  // What it does not name fires as before.
  for (const name of others) expect(await firedIn(fresh, name)).toEqual(fired.get(name))
  all.relabelled += backtest.labels.some(({ labels }) => labels.length > 0) ? 1 : 0
  await fresh.engine.close()
}

describe('a plan says what fires before a change, and what fires in a fresh instance with it', () => {
  // Four tests: each has a limit of its own, and a machine that others use takes ten times as long for all.
  it.each([1, 2, 3, 4])(`of ${CHANGES} random changes, the %s. time`, async () => {
    let smaller: number | null = null
    await fc.assert(
      fc.asyncProperty(scene, async (one) => {
        if (smaller !== null && smaller++ >= SMALLER) return
        try {
          await requireSameFirings(one)
        } catch (error) {
          smaller ??= 0
          throw error
        }
      }),
      { numRuns: CHANGES },
    )
  })

  it('of changes that reach something: all kinds of conditions, firings and what holds them back', () => {
    expect(all.reached).toBeGreaterThan(4 * CHANGES)
    expect(all.differing).toBeGreaterThan(2 * CHANGES)
    expect(all.relabelled).toBeGreaterThan(0.6 * CHANGES)
    expect(all.firings).toBeGreaterThan(10 * CHANGES)
    for (const what of [
      ...KINDS,
      'resolved',
      'cooldown',
      'folded',
      'held',
      'dropped',
      'late',
      'both sources',
    ])
      expect(all.seen[what] ?? 0, what).toBeGreaterThan(CHANGES / 12.5)
  })
})

function note(seen: Record<string, number>, told: PlanBacktestTrigger, { triggers, change }: Scene): void {
  const add = (what: string, n: number) => {
    seen[what] = (seen[what] ?? 0) + n
  }
  for (const side of [told.before, told.after])
    for (const what of ['resolved', 'cooldown', 'folded', 'held', 'dropped', 'late'] as const)
      add(what, side?.[what] ?? 0)
  const place = Number(told.trigger.slice(1))
  const spec = change.triggers[place] ?? triggers[place] ?? change.made
  const fields = Object.keys(spec?.condition ?? {})
  for (const kind of KINDS) if (fields.includes(kind)) add(kind, told.same + told.added + told.gone)
  const sources = spec?.sources
  if (Array.isArray(sources) && sources.length > 1) add('both sources', told.same + told.added + told.gone)
}

/** What holds of the check whatever a model or a person writes into a plan. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { checkPlan, type SetupWorld } from '../../../../engine/declared/setup/check.ts'
import { describeConnectors } from '../../../../engine/sources/connectors/index.ts'

import { faults } from '../../../../schemas/index.ts'
import { differing } from '../../../differing.ts'
import { proposal } from './setup-world.ts'

const TAKEN = ['gateway', 'gateway-2', 'triage', 'runbook', 'errors']
const world: SetupWorld = {
  connectors: describeConnectors(),
  source: (name) =>
    TAKEN.includes(name)
      ? { connector: 'webhook', labels: [{ name: 'ms', field: 'ms', type: 'number' }] }
      : undefined,
  has: (_kind, name) => TAKEN.includes(name),
  isProject: (name) => name === 'Gateway watch',
}

const name = fc.constantFrom(
  'gateway',
  'Gateway!',
  'errors',
  'triage',
  'w1',
  'k1',
  'runbook',
  '<name>',
  '',
  'ü ber',
)
const words = fc.constantFrom('', 'Look \u2014 at it.', '<what>', 'your-token', 'one\n\ntwo', 'credential:x')
const anything = fc.oneof(fc.constant(null), fc.integer(), words, fc.constant([]), fc.constant({}))
const condition = fc.oneof(
  fc.record({
    aggregate: fc.constantFrom('count', 'sum', 'rate', 'nonsense'),
    field: fc.option(fc.constantFrom('ms', 'payload.ms', 'other'), { nil: undefined }),
    predicate: fc.constantFrom('> 0', '>= 5', '>5.5', '< 3', '== 0', '> 9999999', '> 5/m', 'many'),
    window: fc.constantFrom('30s', '10m', '90m', '3d', 'soon'),
  }),
  fc.constantFrom(
    { event: 'any' },
    { absent_for: '2h' },
    { every: '30m' },
    { every: '90m' },
    { cron: '0 9 * * *' },
  ),
  anything,
)
const loose = <T>(shape: fc.Arbitrary<T>) =>
  fc.array(fc.oneof({ weight: 5, arbitrary: shape }, { weight: 1, arbitrary: anything }), { maxLength: 4 })
const knob = fc.record({
  id: fc.constantFrom('threshold', 'window_minutes', 'cooldown_minutes', 'every_minutes', 'other'),
  value: fc.oneof(fc.integer({ min: -10, max: 200_000 }), fc.double({ noNaN: true }), fc.constant('5')),
})
const plan = fc.record({
  goal: fc.constantFrom('Find out why', '', 'x'.repeat(201)),
  name: fc.oneof(name, fc.constant('Gateway watch')),
  who: fc.constantFrom('svc', 'own', 'nobody'),
  watches: loose(
    fc.record({
      key: fc.constantFrom('w1', 'w2', '', 'W 1'),
      existing: fc.boolean(),
      name,
      connector: fc.constantFrom('webhook', 'postgres', 'github', 'prometheus', 'finding', 'none', ''),
      poll: fc.constantFrom(undefined, '1m', '1ms', '<interval>'),
      config: fc.oneof(
        anything,
        fc.record({
          labels: loose(fc.record({ name: fc.constantFrom('service', 'ms'), primary: fc.boolean() })),
          dsn: fc.constantFrom(undefined, 'postgres://u:p@h/db', '<dsn>'),
          table: fc.constantFrom(undefined, 'orders'),
        }),
      ),
      sample: anything,
    }),
  ),
  wakes: loose(
    fc.record({
      key: fc.constantFrom('k1', 'k2', ''),
      name,
      sources: fc.array(name, { maxLength: 3 }),
      filters: loose(
        fc.record({
          field: fc.constantFrom('ms', ''),
          op: fc.constantFrom('eq', 'gt', 'near'),
          value: anything,
        }),
      ),
      condition,
      cooldown: fc.constantFrom('', '15m', '45s', '2d', 'never'),
      window: fc.constantFrom('', '1h', 'long'),
      knobs: fc.array(knob, { maxLength: 3 }),
    }),
  ),
  agents: loose(
    fc.record({
      key: fc.constantFrom('a1', 'a2', ''),
      existing: fc.boolean(),
      name,
      trigger: name,
      prompt: words,
      verdicts: loose(fc.record({ verdict: fc.constantFrom('investigate', 'no_op', 'Two words') })),
      handoffs: loose(fc.record({ verdict: fc.constantFrom('investigate', ''), agent: name })),
      mcp_servers: fc.array(name, { maxLength: 2 }),
      optional: fc.boolean(),
      enabled: fc.boolean(),
    }),
  ),
  own_agent: fc.oneof(anything, fc.record({ name, wake: fc.constantFrom('poll', 'webhook', 'x') })),
  tools: loose(
    fc.record({
      key: fc.constantFrom('t1', ''),
      name,
      url: fc.constantFrom('', 'https://a.example/mcp', 'https://u:p@a/', '<url>'),
      existing: fc.boolean(),
      enabled: fc.boolean(),
    }),
  ),
  skills: loose(
    fc.record({
      key: fc.constantFrom('s1', ''),
      name,
      description: words,
      body: words,
      existing: fc.boolean(),
    }),
  ),
  notes: loose(words),
})

const RUNS = { numRuns: 150 }

/** A plan that is right, of a connector. */
const rightPlan = (connector: string) => ({
  goal: 'Find out why',
  name: 'Errors of the gateway',
  who: 'svc',
  watches: [
    {
      key: 'w1',
      name: 'access',
      connector,
      poll: '1m',
      config: {
        ...{ url: 'https://a.example/x', dsn: 'postgres://u:p@h/db', table: 'orders', repositories: ['a/b'] },
        text_template: '{msg}',
        labels: [
          { name: 'service', primary: true },
          { name: 'ms', field: 'payload.ms', type: 'number' },
        ],
      },
      sample: { service: 'pay' },
    },
  ],
  wakes: [
    {
      key: 'k1',
      name: 'slow',
      sources: ['access'],
      filters: [{ field: 'payload.status', op: 'gte', value: 500 }],
      condition: { aggregate: 'sum', field: 'ms', predicate: '>= 5', window: '10m' },
      knobs: [{ id: 'threshold', value: 5 }],
    },
  ],
  agents: [
    {
      key: 'a1',
      name: 'look',
      trigger: 'slow',
      prompt: 'Say why.',
      verdicts: [{ verdict: 'investigate', when: 'orders fail' }],
      handoffs: [{ verdict: 'investigate', agent: 'dig', cooldown: '5m' }],
      mcp_servers: ['logs'],
    },
    { key: 'a2', name: 'dig', prompt: 'Find it.' },
  ],
  own_agent: { name: 'mine', wake: 'poll' },
  tools: [
    { key: 't1', name: 'logs', url: 'https://a.example/mcp', enabled: true, why: 'logs', can_act: true },
  ],
  skills: [{ key: 's1', name: 'roll-back', description: 'How to', body: 'Look twice.' }],
  notes: ['one'],
})

const ODD = [null, 5, '', 'constructor', [], [null], [[]], {}, { name: null }]

describe('the check of a plan', () => {
  it('changes nothing of a plan it has checked, and finds the same', () => {
    fc.assert(
      fc.property(fc.oneof(plan, anything), fc.boolean(), (given, withSecrets) => {
        const once = checkPlan(given, world, { withSecrets })
        const asked = once.problems.filter(({ message }) => message !== 'who must be svc or own')
        expect(checkPlan(once.plan, world, { withSecrets })).toEqual({ plan: once.plan, problems: asked })
      }),
      RUNS,
    )
  })

  it.each(['webhook', 'postgres', 'github'])(
    'says what is wrong, whatever stands in one place of a plan with a source of %s',
    (connector) => {
      for (const given of differing(rightPlan(connector), ODD)) {
        const once = checkPlan(given, world)
        const asked = once.problems.filter(({ message }) => message !== 'who must be svc or own')
        expect(checkPlan(once.plan, world)).toEqual({ plan: once.plan, problems: asked })
      }
    },
  )

  it('gives a plan of the schema, with free names, whatever it is given', () => {
    fc.assert(
      fc.property(plan, (given) => {
        const { plan: checked } = checkPlan(given, world)
        const told = faults('plan.json', checked).map(({ path }) => path)
        // What breaks a schema of its own is told as a problem, and shown as it is.
        const isOwn = (path: readonly (string | number)[]) => /filters|handoffs|verdicts/.test(path.join('/'))
        expect(told.filter((path) => !isOwn(path))).toEqual([])
        for (const row of [...checked.watches, ...checked.agents, ...checked.tools, ...checked.skills])
          if (!row.existing && row.name) expect(TAKEN).not.toContain(row.name)
        // Filters and configs hold values of other systems, which stay as they are.
        expect(JSON.stringify([checked.name, checked.agents, checked.skills, checked.notes])).not.toContain(
          '\u2014',
        )
      }),
      RUNS,
    )
  })
})

describe('knobs', () => {
  const wake = (change: object, knobs: object[] = []) =>
    checkPlan({ goal: 'g', ...proposal(), wakes: [{ ...proposal().wakes[0], ...change, knobs }] }, world).plan
      .wakes[0]!

  it('rewrite the condition and the cooldown, within their bounds', () => {
    const turned = wake({}, [
      { id: 'threshold', value: 0 },
      { id: 'window_minutes', value: 120 },
      { id: 'cooldown_minutes', value: 5_000 },
    ])
    expect(turned).toMatchObject({
      condition: { predicate: '>= 1', window: '2h' },
      cooldown: '24h',
      knobs: [{ value: 1 }, { value: 120 }, { value: 1_440 }],
      sentence: expect.stringContaining('at least 1 within 2 h'),
      cooldown_sentence: 'At most once every 24 h per entity',
    })
  })

  it('leave a number alone that none can hold, and say "more than none" as "at least one"', () => {
    expect(wake({ condition: { aggregate: 'count', predicate: '> 0', window: '30s' } })).toMatchObject({
      condition: { predicate: '>= 1', window: '30s' },
      knobs: [{ id: 'threshold' }, { id: 'cooldown_minutes' }],
    })
    expect(wake({ condition: { every: '90m' } })).toMatchObject({
      cooldown: '',
      knobs: [{ id: 'every_minutes', value: 90 }],
    })
  })
})

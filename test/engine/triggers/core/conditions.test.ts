/** Each kind of condition fires on a sequence of events, and not on its near miss. */
import { describe, expect, it } from 'vitest'
import type { Decision } from '../../../../engine/triggers/types.ts'
import type { Condition, Filter, TriggerSpec } from '../../../../schemas/types.ts'
import { CoreWorld, definitionOf, does, type Made, T0 } from './core-world.ts'

const MINUTE = 60_000
const a = { service: 'a' }
const b = { service: 'b' }

/** Plays events in the order given; an event's decisions in short. */
function play(spec: Partial<TriggerSpec> & Pick<TriggerSpec, 'condition'>, made: readonly Made[]) {
  const world = new CoreWorld(definitionOf({ cooldown: '1s', ...spec }))
  return made.map((one) => does([...world.pass(one.at ?? one.ts), ...world.post(one)]).join(' '))
}

const every = (n: number, part: Partial<Made>, gap = 10_000): Made[] =>
  Array.from({ length: n }, (_, i) => ({ ts: i * gap, labels: a, ...part }))

const ms = (values: readonly number[], gap = 10_000): Made[] =>
  values.map((value, i) => ({ ts: i * gap, labels: a, numbers: { ms: value } }))

const deploy: Filter[] = [{ field: 'event_type', op: 'eq', value: 'deploy' }]
const error: Filter[] = [{ field: 'event_type', op: 'eq', value: 'error' }]
const deployThenError: Condition = {
  sequence: [
    { name: 'a deploy', filters: deploy },
    { name: 'an error', filters: error },
  ],
  within: '5m',
}
const role = (value: string, ts: number, labels: Record<string, string> = a): Made => ({
  ts,
  labels: { ...labels, role: value },
})

interface Case {
  it: string
  condition: Condition
  spec?: Partial<TriggerSpec>
  events: Made[]
  does: string[]
}

const cases: Case[] = [
  { it: 'any event fires', condition: { event: 'any' }, events: every(2, {}), does: ['fire', 'fire'] },
  {
    it: 'any event without its key does not',
    condition: { event: 'any' },
    events: [{ ts: 0, labels: {} }],
    does: ['no_key'],
  },
  {
    it: 'count > 2 fires on the third',
    condition: { aggregate: 'count', predicate: '> 2', window: '5m' },
    events: every(3, {}),
    does: ['below', 'below', 'fire'],
  },
  {
    it: 'count > 2 does not when the first has just left the window',
    condition: { aggregate: 'count', predicate: '> 2', window: '5m' },
    events: [
      { ts: 0, labels: a },
      { ts: 10_000, labels: a },
      { ts: 5 * MINUTE, labels: a },
    ],
    does: ['below', 'below', 'below'],
  },
  {
    it: 'count > 2 does when it is a millisecond inside',
    condition: { aggregate: 'count', predicate: '> 2', window: '5m' },
    events: [
      { ts: 0, labels: a },
      { ts: 10_000, labels: a },
      { ts: 5 * MINUTE - 1, labels: a },
    ],
    does: ['below', 'below', 'fire'],
  },
  {
    it: 'count > 2 of two keys does not',
    condition: { aggregate: 'count', predicate: '> 2', window: '5m' },
    events: [
      { ts: 0, labels: a },
      { ts: 1, labels: b },
      { ts: 2, labels: a },
      { ts: 3, labels: b },
    ],
    does: ['below', 'below', 'below', 'below'],
  },
  {
    it: 'rate > 2/m is over the whole window',
    condition: { aggregate: 'rate', predicate: '> 2/m', window: '2m' },
    events: every(5, {}),
    does: ['below', 'below', 'below', 'below', 'fire'],
  },
  {
    it: 'distinct >= 3 fires on the third value',
    condition: { aggregate: 'distinct', field: 'user', predicate: '>= 3', window: '5m' },
    events: ['x', 'y', 'x', 'z'].map((user, i) => ({ ts: i, labels: { ...a, user } })),
    does: ['below', 'below', 'below', 'fire'],
  },
  {
    it: 'sum > 100 fires as it is passed, and not at it',
    condition: { aggregate: 'sum', field: 'ms', predicate: '> 100', window: '5m' },
    events: ms([60, 40, 1]),
    does: ['below', 'below', 'fire'],
  },
  {
    it: 'avg > 50 fires on the average, not on one value',
    condition: { aggregate: 'avg', field: 'ms', predicate: '> 50', window: '5m' },
    events: ms([0, 99, 60]),
    does: ['below', 'below', 'fire'],
  },
  {
    it: 'min < 5 fires on the smallest, and ends with it',
    condition: { aggregate: 'min', field: 'ms', predicate: '< 5', window: '1m' },
    events: [...ms([9, 4]), { ts: 2 * MINUTE, labels: a, numbers: { ms: 9 } }],
    does: ['below', 'fire', 'below'],
  },
  {
    it: 'max >= 9 fires on the largest',
    condition: { aggregate: 'max', field: 'ms', predicate: '>= 9', window: '5m' },
    events: ms([8.9, 9]),
    does: ['below', 'fire'],
  },
  {
    it: 'any is max',
    condition: { aggregate: 'any', field: 'ms', predicate: '>= 9', window: '5m' },
    events: ms([8.9, 9]),
    does: ['below', 'fire'],
  },
  {
    it: 'a number is read from the payload too',
    condition: { aggregate: 'sum', field: 'payload.took', predicate: '> 1', window: '5m' },
    events: [
      { ts: 0, labels: a, payload: { took: 2 } },
      { ts: 1, labels: a, payload: { took: 'long' } },
      { ts: 2, labels: a },
    ],
    does: ['fire', 'no_value', 'no_value'],
  },
  {
    it: 'a change fires, the same again does not, nor the first',
    condition: { change_of: 'role' },
    events: [role('primary', 0), role('primary', 1_000), role('replica', 2_000), role('primary', 9_000)],
    does: ['unchanged', 'unchanged', 'fire', 'fire'],
  },
  {
    it: 'a change from and to a value is that one only',
    condition: { change_of: 'role', from: 'primary', to: 'replica' },
    events: [
      role('replica', 0),
      role('primary', 1_000),
      role('down', 2_000),
      role('primary', 3_000),
      role('replica', 9_000),
    ],
    does: ['unchanged', 'unchanged', 'unchanged', 'unchanged', 'fire'],
  },
  {
    it: 'a change is of one key, and passes over events without the field',
    condition: { change_of: 'role' },
    events: [role('primary', 0), role('replica', 1_000, b), { ts: 2_000, labels: a }, role('primary', 3_000)],
    does: ['unchanged', 'unchanged', 'no_value', 'unchanged'],
  },
  {
    it: 'what a late event says is no change',
    condition: { change_of: 'role' },
    events: [role('primary', 10_000), { ...role('replica', 5_000), at: 11_000 }, role('primary', 12_000)],
    does: ['unchanged', 'late', 'unchanged'],
  },
  {
    it: 'a sequence fires in its order, within its time',
    condition: deployThenError,
    events: [
      { ts: 0, labels: a, type: 'deploy' },
      { ts: 5 * MINUTE, labels: a, type: 'error' },
    ],
    does: ['waiting', 'fire'],
  },
  {
    it: 'a sequence a millisecond too long does not',
    condition: deployThenError,
    events: [
      { ts: 0, labels: a, type: 'deploy' },
      { ts: 5 * MINUTE + 1, labels: a, type: 'error' },
    ],
    does: ['waiting', 'waiting'],
  },
  {
    it: 'a sequence the other way round does not, nor of two keys',
    condition: deployThenError,
    events: [
      { ts: 0, labels: a, type: 'error' },
      { ts: 1_000, labels: a, type: 'deploy' },
      { ts: 2_000, labels: b, type: 'error' },
      { ts: 3_000, labels: a, type: 'restart' },
    ],
    does: ['waiting', 'waiting', 'waiting', ''],
  },
  {
    it: 'the first step that comes late completes a sequence',
    condition: deployThenError,
    events: [
      { ts: 60_000, labels: a, type: 'error' },
      { ts: 0, at: 61_000, labels: a, type: 'deploy' },
    ],
    does: ['waiting', 'fire'],
  },
]

describe('a condition', () => {
  it.each(cases)('$it', ({ condition, spec, events, does: expected }) => {
    expect(play({ condition, ...spec }, events)).toEqual(expected)
  })

  it('that counts a late event counts it in the windows of later ones', () => {
    const events = [
      { ts: 0, labels: a },
      { ts: 50_000, labels: a },
      { ts: 30_000, at: 51_000, labels: a },
    ]
    expect(play({ condition: { aggregate: 'count', predicate: '> 2', window: '1m' } }, events)).toEqual([
      'below',
      'below',
      'fire',
    ])
  })

  it('does not count a late event in the window that begins exactly at it', () => {
    const condition = { aggregate: 'count', predicate: '> 1', window: '1m' } as const
    const late = (ts: number) => [
      { ts: 60_000, labels: a },
      { ts, at: 60_001, labels: a },
    ]
    expect(play({ condition }, late(0))).toEqual(['below', 'below'])
    expect(play({ condition }, late(1))).toEqual(['below', 'fire'])
  })

  it.each([
    ['sum', '> 15'],
    ['max', '> 9'],
    ['avg', '> 9'],
    ['distinct', '> 1'],
  ] as const)(
    '%s leaves out an event at the exact edge of its window, and takes one a millisecond inside',
    (aggregate, predicate) => {
      const condition = { aggregate, field: 'ms', predicate, window: '1m' } as Condition
      const played = (gap: number) =>
        play({ condition }, [
          { ts: 0, labels: a, numbers: { ms: 20 } },
          { ts: gap, labels: a, numbers: { ms: 8 } },
        ]).at(-1)
      expect(played(60_000)).toBe('below')
      expect(played(59_999)).toBe('fire')
    },
  )

  it('counts no event that is later than max_late', () => {
    const condition = { aggregate: 'count', predicate: '> 1', window: '1d' } as const
    const hour = 60 * MINUTE
    const late = [
      { ts: 0, at: hour + 1, labels: a },
      { ts: hour, at: hour + 2, labels: a },
    ]
    expect(play({ condition, max_late: '1h' }, late)).toEqual(['late', 'below'])
  })

  it('falls silent once, at its instant, and listens again', () => {
    const world = new CoreWorld(definitionOf({ condition: { absent_for: '10m' }, cooldown: '1s' }))
    expect(does(world.post({ ts: 0, labels: a }))).toEqual(['watch', 'waiting'])
    world.post({ ts: 0, at: 9 * MINUTE, labels: b })
    world.post({ ts: 9 * MINUTE, labels: a })
    expect(does(world.pass(19 * MINUTE - 1))).toEqual([])
    const silent = world.pass(19 * MINUTE).filter((one) => one.do === 'fire')
    expect(silent.map(({ crossing: { key, at } }) => [key, at - T0])).toEqual([
      ['b', 19 * MINUTE],
      ['a', 19 * MINUTE],
    ])
    expect(does(world.pass(60 * MINUTE))).toEqual([])
    world.post({ ts: 60 * MINUTE, labels: a })
    expect(does(world.pass(70 * MINUTE))).toEqual(['watch', 'fire'])
  })
})

const operators: [Filter, unknown, boolean][] = [
  [{ field: 'state', op: 'eq', value: 'Down' }, 'Down', true],
  [{ field: 'state', op: 'eq', value: 'Down' }, 'down', false],
  [{ field: 'state', op: 'neq', value: 'up' }, 'down', true],
  [{ field: 'state', op: 'neq', value: 'up' }, undefined, false],
  [{ field: 'state', op: 'in', value: ['UP', 'down'] }, 'Down', true],
  [{ field: 'state', op: 'in', value: ['up', 'down'] }, 'gone', false],
  [{ field: 'state', op: 'contains', value: 'OW' }, 'Down', true],
  [{ field: 'state', op: 'contains', value: 'up' }, 'Down', false],
  [{ field: 'state', op: 'prefix', value: 'Do' }, 'Down', true],
  [{ field: 'state', op: 'prefix', value: 'do' }, 'Down', false],
  [{ field: 'state', op: 'regex', value: '^d.*n$' }, 'down', true],
  [{ field: 'state', op: 'regex', value: '(?i)DOWN' }, 'is down now', true],
  [{ field: 'state', op: 'regex', value: '^own' }, 'down', false],
  [{ field: 'state', op: 'exists' }, 'x', true],
  [{ field: 'state', op: 'exists', value: false }, undefined, true],
  [{ field: 'state', op: 'exists', value: false }, 'x', false],
  [{ field: 'ms', op: 'gt', value: 5 }, 5, false],
  [{ field: 'ms', op: 'gte', value: 5 }, 5, true],
  [{ field: 'ms', op: 'lt', value: '5' }, 4.9, true],
  [{ field: 'ms', op: 'lte', value: 5 }, 5.1, false],
  [{ field: 'ms', op: 'eq', value: 500 }, 500, true],
  [{ field: 'payload.a.0.b', op: 'eq', value: 'x' }, { a: [{ b: 'x' }] }, true],
  [{ field: 'payload.a.1.b', op: 'exists' }, { a: [{ b: 'x' }] }, false],
  [{ field: 'source', op: 'eq', value: 'app' }, 'x', true],
  [{ field: 'event_type', op: 'eq', value: 'error' }, 'x', true],
  [{ field: 'key_value', op: 'eq', value: 'a' }, 'x', true],
  [{ field: 'text', op: 'contains', value: 'pay' }, 'x', true],
]

describe('a filter', () => {
  it.each(operators)('%j of %j: %s', (filter, value, holds) => {
    const made: Made = { ts: 0, labels: a, text: 'cannot pay' }
    if (filter.field.startsWith('payload')) made.payload = value
    else if (typeof value === 'number') made.numbers = { ms: value }
    else if (value !== undefined) made.labels = { ...a, state: value as string }
    const world = new CoreWorld(definitionOf({ condition: { event: 'any' }, filters: [filter] }))
    const [decision] = world.post(made)
    // An event that the index leaves out is judged by nobody.
    expect(decision?.do === 'fire').toBe(holds)
    if (!holds && decision)
      expect((decision as Extract<Decision, { do: 'note' }>).verdict.reason).toBe('filter')
  })

  it('that fails is told with what was expected and what there was', () => {
    const filters: Filter[] = [
      { field: 'state', op: 'eq', value: 'down' },
      { field: 'ms', op: 'gt', value: 5 },
    ]
    const world = new CoreWorld(definitionOf({ condition: { event: 'any' }, filters }))
    const [decision] = world.post({ ts: 0, labels: { ...a, state: 'down' }, numbers: { ms: 4 } })
    expect(decision).toMatchObject({
      do: 'note',
      verdict: { reason: 'filter', field: 'ms', expected: 'gt 5', actual: '4' },
    })
  })
})

describe('a key', () => {
  it('of several labels counts each combination for itself', () => {
    const condition: Condition = {
      aggregate: 'count',
      predicate: '> 1',
      window: '5m',
      group_by: ['key_value', 'region', 'source'],
    }
    const world = new CoreWorld(definitionOf({ condition }))
    const post = (region: string, ts: number) => world.post({ ts, labels: { ...a, region } })
    expect([...post('eu', 0), ...post('us', 1)].map(({ do: what }) => what)).toEqual(['note', 'note'])
    expect(post('eu', 2)).toMatchObject([
      { do: 'fire', crossing: { key: 'key_value=a, region=eu, source=app', value: 2 } },
    ])
    expect(does(world.post({ ts: 3, labels: a }))).toEqual(['no_key'])
  })
})

/**
 * The incremental evaluator against a naive recomputation over random histories: out of order, late,
 * of several keys, with restarts, rollbacks of memory and little memory in between.
 */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Decision } from '../../../../engine/triggers/types.ts'
import type { AggregateCondition, Filter } from '../../../../schemas/types.ts'
import { CoreWorld, definitionOf, type Made, T0 } from './core-world.ts'
import { aggregated, type Crossed, type Plain, sequenced } from './naive.ts'

const WINDOW = 60_000
const MAX_LATE = 300_000

interface Step {
  made: Made
  next: 'go on' | 'commit' | 'restart' | 'reset' | 'pass'
}

/** Event times at any millisecond, or on a grid, where many lie at the exact edges of windows and of what is read back. */
const grid = fc.constantFrom(1, 10_000, 20_000)
const onGrid = (ms: number, step: number) => Math.round(ms / step) * step

/** Events whose time of ingest goes on, and whose event time lags behind it by anything. */
const history = fc
  .tuple(
    grid,
    fc.array(
      fc.record({
        gap: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 20_000 })),
        lag: fc.oneof(
          { weight: 4, arbitrary: fc.constant(0) },
          { weight: 4, arbitrary: fc.integer({ min: -5_000, max: 90_000 }) },
          { weight: 1, arbitrary: fc.integer({ min: 200_000, max: 400_000 }) },
        ),
        key: fc.constantFrom('a', 'b'),
        value: fc.option(fc.integer({ min: -20, max: 20 }), { freq: 8 }),
        text: fc.constantFrom('x', 'y', 'z'),
        kinds: fc.subarray(['one', 'two', 'three']),
        next: fc.constantFrom<Step['next'][]>(
          'go on',
          'go on',
          'go on',
          'commit',
          'restart',
          'reset',
          'pass',
        ),
      }),
      { minLength: 1, maxLength: 60 },
    ),
  )
  .map(([step, entries]) => {
    let at = 0
    return entries.map(({ key, value, text, kinds, next, ...times }): Step => {
      const [gap, lag] = [onGrid(times.gap, step), onGrid(times.lag, step)]
      at += gap
      const labels = { service: key, word: text, ...Object.fromEntries(kinds.map((kind) => [kind, 'yes'])) }
      return { made: { ts: at - lag, at, labels, numbers: value === null ? {} : { ms: value } }, next }
    })
  })

function plainOf({ made: { ts, at = ts, labels = {}, numbers = {} } }: Step, id: number): Plain {
  return {
    id,
    ts: T0 + ts,
    at: T0 + at,
    key: labels.service!,
    value: numbers.ms ?? null,
    text: labels.word!,
    steps: ['one', 'two', 'three'].flatMap((name, n) => (labels[name] ? [n] : [])),
  }
}

/** Plays a history; `crossed` gets what each event crossed. */
function play(world: CoreWorld, steps: readonly Step[], crossed: (decisions: Decision[]) => void): void {
  for (const { made, next } of steps) {
    crossed(world.post(made).filter((decision) => decision.do === 'fire'))
    if (next !== 'go on') world.commit()
    if (next === 'restart') world.restart()
    if (next === 'reset') world.evaluator.reset()
    if (next === 'pass') world.pass(made.at ?? made.ts)
  }
}

const conditions: [Partial<AggregateCondition>, (value: number) => boolean][] = [
  [{ aggregate: 'count', predicate: '> 2' }, (value) => value > 2],
  [{ aggregate: 'count', predicate: '== 2' }, (value) => value === 2],
  [{ aggregate: 'distinct', field: 'word', predicate: '>= 3' }, (value) => value >= 3],
  [{ aggregate: 'sum', field: 'ms', predicate: '> 15' }, (value) => value > 15],
  [{ aggregate: 'avg', field: 'ms', predicate: '<= -3' }, (value) => value <= -3],
  [{ aggregate: 'min', field: 'ms', predicate: '< -15' }, (value) => value < -15],
  [{ aggregate: 'max', field: 'ms', predicate: '>= 18' }, (value) => value >= 18],
]

describe.each([
  { memory: 'much', options: {} },
  { memory: 'little', options: { entriesMax: 20 } },
])('with $memory memory', ({ options }) => {
  it.each(conditions)('$aggregate $predicate crosses when a recomputation says so', (part, holds) => {
    const condition = { window: '1m', ...part } as AggregateCondition
    const definition = definitionOf({ condition, cooldown: '0s', max_late: '5m' })
    fc.assert(
      fc.property(history, (steps) => {
        const world = new CoreWorld(definition, options)
        const judged: Plain[] = []
        const expected: Crossed[] = []
        for (const [n, step] of steps.entries()) {
          const plain = plainOf(step, n + 1)
          if (plain.at - plain.ts > MAX_LATE) continue
          judged.push(plain)
          const crossing = aggregated(judged, condition, WINDOW, holds)
          if (crossing) expected.push(crossing)
        }
        const actual: Crossed[] = []
        play(world, steps, (decisions) => {
          for (const decision of decisions)
            if (decision.do === 'fire') {
              const { eventId, value, eventIds } = decision.crossing
              actual.push({ id: eventId!, value, ids: eventIds })
            }
        })
        expect(actual).toEqual(expected)
      }),
      { numRuns: 150 },
    )
  })

  it('a sequence is met when any chain of its steps goes through the event', () => {
    const filters = (name: string): Filter[] => [{ field: name, op: 'exists', value: true }]
    const sequence = ['one', 'two', 'three'].map((name) => ({ name, filters: filters(name) }))
    const condition = { sequence, within: '1m' }
    const definition = definitionOf({ condition, cooldown: '0s', max_late: '5m' })
    fc.assert(
      fc.property(history, (steps) => {
        const world = new CoreWorld(definition, options)
        const judged: Plain[] = []
        const expected: number[] = []
        for (const [n, step] of steps.entries()) {
          const plain = plainOf(step, n + 1)
          if (plain.at - plain.ts > MAX_LATE) continue
          judged.push(plain)
          if (sequenced(judged, condition as never, WINDOW)) expected.push(plain.id)
        }
        const actual: number[] = []
        play(world, steps, (decisions) => {
          for (const decision of decisions)
            if (decision.do === 'fire') actual.push(decision.crossing.eventId!)
        })
        expect(actual).toEqual(expected)
      }),
      { numRuns: 150 },
    )
  })
})

describe('without a history', () => {
  it('decides the same, as a backtest does', () => {
    const definition = definitionOf({
      condition: { aggregate: 'count', predicate: '> 2', window: '1m' },
      cooldown: '30s',
      storm: { limits: [{ max: 2, per: '2m' }] },
      max_late: '5m',
    })
    fc.assert(
      fc.property(history, (steps) => {
        const played = [true, false].map((hasHistory) => {
          const world = new CoreWorld(definition, { history: hasHistory })
          const all: unknown[] = []
          for (const { made } of steps) {
            for (const decision of world.pass(made.at ?? made.ts)) all.push(decision)
            for (const decision of world.post(made)) all.push(decision)
          }
          return JSON.stringify(all)
        })
        expect(played[0]).toBe(played[1])
      }),
      { numRuns: 100 },
    )
  })
})

describe('what is due by the clock', () => {
  const steps = fc.array(
    fc.record({
      gap: fc.oneof(
        fc.constant(0),
        fc.constantFrom(10_000, 30_000, 60_000),
        fc.integer({ min: 0, max: 59_000 }),
      ),
      lag: fc.oneof(
        { weight: 4, arbitrary: fc.constant(0) },
        { weight: 1, arbitrary: fc.integer({ min: -5_000, max: 90_000 }) },
      ),
      key: fc.constantFrom('a', 'b'),
      ms: fc.integer({ min: 0, max: 9 }),
      bypass: fc.constantFrom(false, false, false, true),
      next: fc.constantFrom('go on', 'restart', 'reset'),
    }),
    { minLength: 1, maxLength: 40 },
  )
  type Steps = typeof steps extends fc.Arbitrary<infer T> ? T : never
  const any = { event: 'any' } as const
  const over2 = { aggregate: 'count', predicate: '> 2', window: '1m' } as const

  const specs: Parameters<typeof definitionOf>[0][] = [
    { condition: any, cooldown: '2m', storm: { quiet: '30s', max_wait: '1m' } },
    { condition: any, cooldown: '2m', storm: { quiet: '10s', min_count: 3 } },
    {
      condition: any,
      cooldown: '10s',
      storm: {
        limits: [
          { max: 2, per: '1m' },
          { max: 4, per: '5m' },
        ],
      },
    },
    { condition: any, cooldown: '30s', storm: { quiet: '10s', limits: [{ max: 1, per: '1m' }] } },
    { condition: over2, cooldown: '30s', storm: { quiet: '20s' } },
    { condition: { absent_for: '30s' }, cooldown: '2m' },
    { condition: { absent_for: '30s' }, cooldown: '1m', storm: { quiet: '10s', max_wait: '20s' } },
    { condition: { absent_for: '20s' }, cooldown: '0s', storm: { limits: [{ max: 1, per: '1m' }] } },
    { condition: { ...over2, resolve: true }, cooldown: '30s' },
    { condition: { ...over2, predicate: '< 2', resolve: '> 2' }, cooldown: '0s' },
    {
      condition: { aggregate: 'avg', field: 'ms', predicate: '> 5', window: '1m', resolve: '< 4' },
      cooldown: '0s',
    },
  ]

  /** What is decided, without what a restart gives to a burst once more. */
  function decided(spec: (typeof specs)[number], all: Steps, how: { ticks: boolean; restarts: boolean }) {
    const world = new CoreWorld(definitionOf(spec))
    const done: Decision[] = []
    let at = 0
    for (const { gap, lag, key, ms, bypass, next } of all) {
      at += gap
      if (how.ticks) done.push(...world.pass(at))
      done.push(...world.post({ ts: at - lag, at, labels: { service: key }, numbers: { ms }, bypass }))
      world.commit()
      // Silence counts from a start at the earliest, which is another rule.
      if (how.restarts && next === 'restart') world.restart('resolve' in spec.condition ? at : undefined)
      if (how.restarts && next === 'reset') world.evaluator.reset()
    }
    done.push(...world.pass(at + 600_000))
    return done.flatMap((one): unknown[] => {
      if (one.do === 'watch') return []
      if (one.do === 'note') return [[one.verdict.reason, one.verdict.eventId, one.verdict.until]]
      return [one.do === 'fold' ? [one.do, one.crossing.cause, one.dueAt] : one]
    })
  }

  it.each(specs)(
    '%j is done the same where the next event comes before the timer, and by a restart',
    (spec) => {
      fc.assert(
        fc.property(steps, (all) => {
          const right = decided(spec, all, { ticks: true, restarts: false })
          expect(decided(spec, all, { ticks: false, restarts: false })).toEqual(right)
          expect(decided(spec, all, { ticks: true, restarts: true })).toEqual(right)
        }),
        { numRuns: 150 },
      )
    },
  )
})

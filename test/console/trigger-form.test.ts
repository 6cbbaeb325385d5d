import { describe, expect, it } from 'vitest'
import { alertFields, alertsOf, lacks } from '../../console/lib/alert-trigger.ts'
import { chartBuckets, keyChanges, sliderMax, sliderStep } from '../../console/lib/backtest.ts'
import { faultAt, fieldErrors } from '../../console/lib/field-errors.ts'
import {
  draftOf,
  durationFault,
  durationOf,
  NEW_TRIGGER,
  type TriggerDraft,
} from '../../console/lib/trigger-draft.ts'
import { faultsOf } from '../../console/lib/trigger-faults.ts'
import { definitionOf, isComplete, storedDefinition, writeOf } from '../../console/lib/trigger-form.ts'
import type { BacktestResult, BacktestRun, Condition, Trigger } from '../../schemas/types.ts'

const stored = (condition: Condition, over: Partial<Trigger> = {}): Trigger => ({
  name: 'errs',
  project: null,
  sources: ['gw'],
  condition,
  filters: [],
  key_field: '',
  emit: { context_window: '15m' },
  cooldown: '5m',
  max_late: '24h',
  severity: 'warning',
  severity_field: '',
  description: '',
  paused: false,
  state: 'active',
  accepts: ['pause'],
  owned_by: null,
  customized: false,
  projects: [],
  version: 3,
  created_at: '2026-11-20T12:00:00.000Z',
  updated_at: '2026-11-20T12:00:00.000Z',
  subscribers: 0,
  wakes: [],
  subscriptions: 0,
  last_fired: null,
  sentence: 'When it breaks',
  firings_24h: 0,
  spark: [0, 0, 0, 0, 0, 0, 0],
  ...over,
})

const CONDITIONS: Condition[] = [
  { event: 'any', group_by: ['service', 'region'] },
  { aggregate: 'count', predicate: '> 5', window: '5m' },
  { aggregate: 'avg', field: 'payload.ms', predicate: '>= 0.5', window: '10m', resolve: '< 0.4' },
  { aggregate: 'rate', predicate: '> 5/m', window: '10m', resolve: true },
  { absent_for: '10m', group_by: ['host'] },
  { change_of: 'role', from: 'primary', to: 'replica' },
  {
    sequence: [
      { name: 'a deploy', filters: [{ field: 'event_type', op: 'eq', value: 'deploy' }] },
      { filters: [{ field: 'status', op: 'gte', value: 500 }] },
    ],
    within: '15m',
  },
  { every: '30m', summary_by: ['service'] },
  { cron: '0 9 * * 1-5', time_zone: 'Europe/Paris', summary: 'rich' },
]

describe('the form of a trigger', () => {
  it.each(CONDITIONS)('keeps what is stored when nothing is changed: %j', (condition) => {
    const trigger = stored(condition, {
      filters: [
        { field: 'status', op: 'gte', value: 500 },
        { field: 'code', op: 'eq', value: '007' },
        { field: 'zone', op: 'in', value: ['a', 1] },
        { field: 'gone', op: 'exists', value: false },
      ],
    })
    const draft = draftOf(trigger)
    expect(isComplete(draft)).toBe(true)
    expect(definitionOf(draft, trigger)).toEqual(storedDefinition(trigger))
    expect(writeOf(draft, trigger)).toMatchObject({ name: 'errs', condition, description: '' })
  })

  it('keeps the severity and its field, unless it becomes a schedule; the default is not written', () => {
    const trigger = stored({ event: 'any' }, { severity: 'critical', severity_field: 'payload.level' })
    const draft = draftOf(trigger)
    expect(writeOf(draft, trigger)).toMatchObject({ severity: 'critical', severity_field: 'payload.level' })
    expect(writeOf({ ...draft, kind: 'schedule', severity_field: '' }, trigger)).not.toHaveProperty(
      'severity',
    )
    expect(writeOf({ ...draft, kind: 'schedule', severity: 'info' }, trigger)).toMatchObject({
      severity: 'info',
    })
    const fresh = writeOf({ ...NEW_TRIGGER, name: 'new', sources: ['gw'] })
    expect([Object.hasOwn(fresh, 'severity'), Object.hasOwn(fresh, 'severity_field')]).toEqual([false, false])
  })

  it('over alerts takes those that come up, as severe as they say, and leaves what was chosen', () => {
    const known = [
      { name: 'am', connector: 'alertmanager' },
      { name: 'polled', connector: 'prometheus_alerts' },
      { name: 'grafana', connector: 'webhook', config: { preset: 'grafana' } },
      { name: 'logs', connector: 'webhook', config: {} },
    ]
    expect(alertsOf(['logs'], known)).toBeNull()
    expect(alertsOf(['am', 'logs'], known)).toBeNull()
    expect(alertsOf([], known)).toBeNull()
    const alerts = alertsOf(['am', 'polled'], known)!
    const draft: TriggerDraft = { ...NEW_TRIGGER, name: 'up', sources: ['am', 'polled'] }
    expect(lacks(draft, alerts)).toBe(true)
    const taken = { ...draft, ...alertFields(draft, alerts) }
    expect(writeOf(taken)).toMatchObject({
      condition: {
        event: 'any',
        resolve: {
          filters: [{ field: 'status', op: 'eq', value: 'resolved' }],
          equal: ['payload.labels'],
        },
      },
      filters: [{ field: 'status', op: 'eq', value: 'firing' }],
      severity_field: 'severity',
    })
    expect(lacks(taken, alerts)).toBe(false)
    const stored = { ...writeOf(taken), sources: taken.sources } as never
    expect(writeOf(draftOf(stored)).condition).toEqual(writeOf(taken).condition)
    // One that was made before: nothing ends its incidents.
    const endless = { ...taken, over_filters: [], over_equal: [] }
    expect(lacks(endless, alerts)).toBe(true)
    expect(alertFields(endless, alerts)).toEqual({
      over_filters: taken.over_filters,
      over_equal: taken.over_equal,
    })
    expect(alertsOf(['am', 'grafana'], known)).toBeNull()
    const chosen = { ...draft, number: '3', severity: 'info' as const }
    expect(alertFields(chosen, alerts)).toEqual({ filters: taken.filters })
    const ofPreset = alertsOf(['grafana'], known)!
    expect(writeOf({ ...draft, ...alertFields(draft, ofPreset) })).toMatchObject({
      filters: [{ field: 'status', op: 'eq', value: 'firing' }],
      severity_field: 'level',
    })
  })

  it('keeps the pauses and limits of a burst', () => {
    const storm = { quiet: '30s', max_wait: '5m', min_count: 3, limits: [{ max: 3, per: '1h' }] }
    const trigger = stored({ event: 'any' }, { storm })
    expect(definitionOf(draftOf(trigger), trigger).storm).toEqual(storm)
    expect(
      definitionOf({ ...draftOf(trigger), quiet: '', max_wait: '', min_count: '', limits: [] }),
    ).not.toHaveProperty('storm')
  })

  it('takes numbers as numbers and what only looks like one as text', () => {
    const filters = (value: string): TriggerDraft => ({
      ...NEW_TRIGGER,
      sources: ['gw'],
      filters: [{ field: 'status', op: 'eq', value, values: [] }],
    })
    expect(definitionOf(filters('500')).filters).toEqual([{ field: 'status', op: 'eq', value: 500 }])
    expect(definitionOf(filters('007')).filters).toEqual([{ field: 'status', op: 'eq', value: '007' }])
  })

  it('is tried out as soon as there is enough, and not before', () => {
    expect(isComplete(NEW_TRIGGER)).toBe(false)
    const named = { ...NEW_TRIGGER, sources: ['gw'] }
    expect(isComplete(named)).toBe(true)
    expect(isComplete({ ...named, number: '' })).toBe(false)
    expect(isComplete({ ...named, window: 'a while' })).toBe(false)
    expect(isComplete({ ...named, aggregate: 'sum' })).toBe(false)
    expect(isComplete({ ...named, kind: 'change' })).toBe(false)
  })
})

it('is not tried out with a filter whose field is not chosen, or a step that looks for nothing', () => {
  const row = {
    field: '',
    op: 'eq',
    value: 'none',
    values: [],
    kept: undefined,
  } as TriggerDraft['filters'][number]
  const draft: TriggerDraft = { ...NEW_TRIGGER, name: 'x', sources: ['gw'], kind: 'event' }
  expect(isComplete({ ...draft, filters: [{ ...row, value: '' }] })).toBe(true)
  expect(isComplete({ ...draft, filters: [row] })).toBe(false)
  const steps = (...fields: string[]) =>
    fields.map((field) => ({ name: '', filters: [{ ...row, field, value: '' }] }))
  const sequence: TriggerDraft = { ...draft, kind: 'sequence', within: '5m' }
  expect(faultsOf({ ...sequence, steps: steps('a', '') })).toEqual({
    'condition.sequence[1].filters': 'Say what this step looks for',
  })
  expect(isComplete({ ...sequence, steps: steps('a', 'b') })).toBe(true)
})

describe('refusals of the API', () => {
  it('are shown at the field they name', () => {
    const errors = fieldErrors(
      new Error('condition.window must be a duration; filters[0].value must be set; no source is named gone'),
    )
    expect(faultAt(errors, 'condition.window')).toBe('This must be a duration')
    expect(faultAt(errors, 'filters[0]')).toBe('filters[0].value must be set')
    expect(faultAt(errors, 'sources')).toBe('no source is named gone')
    expect(faultAt(errors, 'name')).toBeUndefined()
    expect(fieldErrors(null)).toEqual({})
  })
})

describe('a backtest as a chart', () => {
  const run = (buckets: [string, number, number][], by_key: [string, number][]): BacktestRun =>
    ({
      buckets: buckets.map(([at, firings, matched]) => ({ at, firings, matched })),
      by_key: by_key.map(([key, firings]) => ({ key, firings })),
    }) as unknown as BacktestRun
  const [first, second] = ['2026-11-20T12:00:00.000Z', '2026-11-20T13:00:00.000Z'] as const

  it('has before and after side by side, whichever run lists a bucket', () => {
    const result = { result: run([[first, 3, 9]], []), compare: run([[second, 1, 9]], []) } as BacktestResult
    expect(chartBuckets(result)).toEqual([
      { at: Date.parse(first), firings: 3, before: 0, matched: 9 },
      { at: Date.parse(second), firings: 0, before: 1, matched: 0 },
    ])
    expect(chartBuckets({ result: run([[first, 3, 9]], []) } as BacktestResult)[0]!.before).toBeNull()
  })

  it('lists keys where both differ most first', () => {
    const changes = keyChanges(
      run(
        [],
        [
          ['a', 5],
          ['b', 4],
        ],
      ),
      run(
        [],
        [
          ['a', 5],
          ['c', 3],
        ],
      ),
    )
    expect(changes).toEqual([
      { key: 'b', firings: 4, before: 0 },
      { key: 'c', firings: 0, before: 3 },
      { key: 'a', firings: 5, before: 5 },
    ])
  })

  it('has a slider beyond the highest value, in steps people would type', () => {
    for (const [peak, number] of [
      [null, 5],
      [12, 5],
      [1_234, 5],
      [0.2, 0.5],
      [0, 0],
    ] as const) {
      const max = sliderMax(peak, number)
      expect(max).toBeGreaterThan(Math.max(peak ?? 0, number))
      expect(sliderStep(max, false)).toBeLessThanOrEqual(max / 10)
      expect(Number.isInteger(sliderStep(max, true))).toBe(true)
    }
  })
})

describe('a duration as people write it', () => {
  it.each([
    ['5m', '5m'],
    [' 5 min ', '5m'],
    ['5 Minutes', '5m'],
    ['300s', '300s'],
    ['300 seconds', '300s'],
    ['1 hr', '1h'],
    ['1.5 hours', '1.5h'],
    ['1h 30m', '90m'],
    ['1 hour and 30 minutes', '90m'],
    ['1d, 12h', '36h'],
    ['2 weeks', '14d'],
  ])('%s is %s', (text, duration) => {
    expect(durationOf(text)).toBe(duration)
  })

  it.each(['', '5', 'soon', '5 parsecs', 'm5', '5m later', '-5m'])('%s is none', (text) => {
    expect(durationOf(text)).toBeNull()
  })

  it('of a number alone it says which units there are', () => {
    expect(durationFault('5')).toBe('Add a unit: 5s, 5m, 5h or 5d')
    expect(durationFault('soon')).toBe('For example 30s, 5m, 1h or 2d')
  })
})

/**
 * Trigger, a sentence: each property of a trigger can be edited in it or is named as kept; a stored trigger that is
 * opened and saved is as it was; faults stand at their field; the name is made from the sentence.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { nameFault } from '../../console/lib/name-fault.ts'
import { isAddress } from '../../console/lib/subscriptions.ts'
import { draftOf, NEW_TRIGGER, type TriggerDraft } from '../../console/lib/trigger-draft.ts'
import { faultsOf } from '../../console/lib/trigger-faults.ts'
import { isComplete, notifyOf, writeOf } from '../../console/lib/trigger-form.ts'
import { nameFrom } from '../../console/lib/trigger-name.ts'
import { changedOptions, optionsOf } from '../../console/lib/trigger-options.ts'
import type { Condition, Trigger } from '../../schemas/types.ts'
import { CONDITION_KINDS, conditionKind } from '../../schemas/words.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const schema = (name: string) =>
  JSON.parse(readFileSync(`${root}/schemas/${name}.json`, 'utf8')) as { properties: Record<string, unknown> }
const propertiesOf = (name: string): string[] => Object.keys(schema(name).properties)

/** What the sentence is given, and what it then writes: a value for every property of the schema. */
const EDITS: Record<string, [typed: Partial<TriggerDraft>, written: unknown]> = {
  name: [{ name: 'errs' }, 'errs'],
  sources: [{ sources: ['gw', 'lb'] }, ['gw', 'lb']],
  filters: [
    { filters: [{ field: 'a', op: 'missing', value: '', values: [] }] },
    [{ field: 'a', op: 'exists', value: false }],
  ],
  key_field: [{ key_field: 'host' }, 'host'],
  joined: [{ joined: true }, true],
  cooldown: [{ cooldown: '1h' }, '1h'],
  max_late: [{ max_late: '2h' }, '2h'],
  description: [{ description: 'it breaks' }, 'it breaks'],
  severity: [{ severity: 'critical' }, 'critical'],
  severity_field: [{ severity_field: 'payload.level' }, 'payload.level'],
  'emit.kind': [{ emit_kind: 'page' }, 'page'],
  'emit.context_window': [{ context_window: '3m' }, '3m'],
  'storm.quiet': [{ quiet: '30s' }, '30s'],
  'storm.max_wait': [{ max_wait: '5m' }, '5m'],
  'storm.min_count': [{ quiet: '30s', min_count: '3' }, 3],
  'storm.limits': [{ limits: [{ max: '3', per: '1h' }] }, [{ max: 3, per: '1h' }]],
  'aggregate-condition.aggregate': [{ aggregate: 'avg', field: 'ms' }, 'avg'],
  'aggregate-condition.field': [{ aggregate: 'avg', field: 'ms' }, 'ms'],
  'aggregate-condition.predicate': [{ aggregate: 'rate', op: '<=', number: '4', unit: 'm' }, '<= 4/m'],
  'aggregate-condition.window': [{ window: '7m' }, '7m'],
  'aggregate-condition.group_by': [{ group_by: ['service'] }, ['service']],
  'aggregate-condition.resolve': [{ resolve: 'when', resolve_op: '<', resolve_number: '2' }, '< 2'],
  'event-condition.event': [{ kind: 'event' }, 'any'],
  'event-condition.group_by': [{ kind: 'event', group_by: ['a', 'b'] }, ['a', 'b']],
  'event-condition.resolve': [
    {
      kind: 'event',
      over_filters: [{ field: 'a', op: 'eq', value: 'b', values: [] }],
      over_equal: ['payload.id'],
    },
    { filters: [{ field: 'a', op: 'eq', value: 'b' }], equal: ['payload.id'] },
  ],
  'absence-condition.absent_for': [{ kind: 'silence', absent_for: '9m' }, '9m'],
  'absence-condition.group_by': [{ kind: 'silence', group_by: ['a'] }, ['a']],
  'change-condition.change_of': [{ kind: 'change', change_of: 'role' }, 'role'],
  'change-condition.from': [{ kind: 'change', change_of: 'role', from: 'x' }, 'x'],
  'change-condition.to': [{ kind: 'change', change_of: 'role', to: 'y' }, 'y'],
  'change-condition.group_by': [{ kind: 'change', change_of: 'role', group_by: ['a'] }, ['a']],
  'sequence-condition.sequence': [
    {
      kind: 'sequence',
      steps: [
        { name: 'a deploy', filters: [{ field: 'a', op: 'eq', value: 'b', values: [] }] },
        { name: '', filters: [{ field: 'c', op: 'in', value: '', values: ['d', '1'] }] },
      ],
    },
    [
      { name: 'a deploy', filters: [{ field: 'a', op: 'eq', value: 'b' }] },
      { filters: [{ field: 'c', op: 'in', value: ['d', 1] }] },
    ],
  ],
  'sequence-condition.within': [{ kind: 'sequence', within: '4m' }, '4m'],
  'sequence-condition.group_by': [{ kind: 'sequence', group_by: ['a'] }, ['a']],
  'schedule-condition.every': [{ kind: 'schedule', every: '2h' }, '2h'],
  'schedule-condition.summary': [{ kind: 'schedule', summary: 'rich' }, 'rich'],
  'schedule-condition.summary_by': [{ kind: 'schedule', summary_by: ['a'] }, ['a']],
  'cron-condition.cron': [{ kind: 'schedule', timing: 'cron', cron: '1 2 * * *' }, '1 2 * * *'],
  'cron-condition.time_zone': [
    { kind: 'schedule', timing: 'cron', time_zone: 'Europe/Paris' },
    'Europe/Paris',
  ],
  'cron-condition.summary': [{ kind: 'schedule', timing: 'cron', summary: 'rich' }, 'rich'],
  'cron-condition.summary_by': [{ kind: 'schedule', timing: 'cron', summary_by: ['a'] }, ['a']],
}
/** Not of what is evaluated: the page a trigger is made from says its project; whom it notifies is tested below. */
const KEPT = ['project', 'notify']
const INNER: Record<string, string> = { emit: 'emit', storm: 'storm' }
const CONDITIONS = readdirSync(`${root}/schemas`)
  .filter((file) => file.endsWith('-condition.json'))
  .map((file) => file.replace('.json', ''))

const base: TriggerDraft = { ...NEW_TRIGGER, name: 'errs', sources: ['gw'] }

describe('the sentence of a trigger', () => {
  it('edits each property that a trigger may be written with, or names it as kept', () => {
    const writable = propertiesOf('requests/trigger-write').flatMap((name) => {
      if (name === 'condition')
        return CONDITIONS.flatMap((kind) => propertiesOf(kind).map((one) => `${kind}.${one}`))
      return INNER[name] ? propertiesOf(INNER[name]).map((one) => `${name}.${one}`) : [name]
    })
    expect(CONDITIONS).toHaveLength(Object.keys(CONDITION_KINDS).length)
    expect([...Object.keys(EDITS), ...KEPT].sort()).toEqual(writable.sort())
  })

  it.each(Object.entries(EDITS))('writes %s', (path, [typed, written]) => {
    const body = writeOf({ ...base, ...typed }) as unknown as Record<string, Record<string, unknown>>
    const [first, second] = path.split('.') as [string, string?]
    const at = second === undefined ? body[first] : (body[first] ?? body.condition)![second]
    expect(at).toEqual(written)
    // What is written is read again as it was typed.
    const again = draftOf({ ...body } as unknown as Trigger)
    expect(writeOf(again)).toEqual(body)
  })

  it('counts what differs from the default among what is folded', () => {
    expect(changedOptions(base)).toBe(0)
    expect(changedOptions({ ...base, quiet: '30s', description: 'x', cooldown: '1h' })).toBe(2)
    expect(optionsOf({ kind: 'schedule' }).length).toBeLessThan(optionsOf({ kind: 'threshold' }).length)
  })
})

/** Each object of a file that has the shape of a trigger, wherever it stands. */
function triggersIn(value: unknown): Record<string, unknown>[] {
  if (typeof value !== 'object' || value === null) return []
  const { condition } = value as { condition?: object }
  const own =
    condition && typeof condition === 'object' && conditionKind(condition) !== null
      ? [value as Record<string, unknown>]
      : []
  return [...own, ...Object.values(value).flatMap(triggersIn)]
}

/** As the API reads it: what is not said has its default. */
const asStored = (trigger: Record<string, unknown>): Trigger =>
  ({
    name: 'errs',
    sources: ['gw'],
    filters: [],
    key_field: '',
    cooldown: '5m',
    max_late: '24h',
    severity: 'every' in (trigger.condition as object) ? 'none' : 'warning',
    severity_field: '',
    description: '',
    ...trigger,
    emit: { context_window: '15m', ...(trigger.emit as object | undefined) },
  }) as unknown as Trigger

/** The fields that a save writes, as they are stored. */
function fieldsOf(trigger: Trigger): Record<string, unknown> {
  const { severity_field, ...body } = trigger as Trigger & Record<string, unknown>
  const known = new Set(propertiesOf('requests/trigger-write').filter((one) => one !== 'project'))
  return {
    ...Object.fromEntries(Object.entries(body).filter(([name]) => known.has(name))),
    ...(severity_field ? { severity_field } : {}),
  }
}

const files = ['catalog/templates', 'test/contract', 'test/chaos', 'test/models', 'test/engine'].flatMap(
  (folder) =>
    readdirSync(`${root}/${folder}`, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.yaml'))
      .map((name) => `${folder}/${name}`),
)

describe('a stored trigger that is opened and saved', () => {
  const found = files.flatMap((file) =>
    triggersIn(parse(readFileSync(`${root}/${file}`, 'utf8'))).map((trigger) => ({ file, trigger })),
  )

  it('is there to try: the catalogs have triggers', () => {
    expect(found.length).toBeGreaterThan(8)
  })

  it.each(found)('is as it was: $file, $trigger.name', ({ trigger }) => {
    const stored = asStored(trigger)
    expect(writeOf(draftOf(stored), stored)).toEqual(fieldsOf(stored))
  })

  it('is as it was, whatever it is', () => {
    const length = fc.constantFrom('30s', '5m', '1.5h', '2d', '010m')
    const word = fc.constantFrom('service', 'payload.status', 'a b', '5', ' lead')
    const value = fc.oneof(
      fc.constantFrom<string | number | boolean>('5', 5, true, 'x ', '', 0.5),
      fc.array(fc.constantFrom<string | number | boolean>('5', 5, true, 'x'), { minLength: 1, maxLength: 3 }),
    )
    const filter = fc.record(
      { field: word, op: fc.constantFrom('eq', 'neq', 'in', 'exists', 'gte', 'regex'), value },
      { requiredKeys: ['field', 'op'] },
    )
    const group = { group_by: fc.uniqueArray(word, { minLength: 1, maxLength: 3 }) }
    const predicate = fc.constantFrom('>5', '> 5', '>= 0.50', '== -1', '< 5/m', '<=3/s')
    const summary = { summary: fc.constantFrom('rich' as const, { examples: 2 }), summary_by: group.group_by }
    const condition = fc.oneof(
      fc.record({ event: fc.constant('any'), ...group }, { requiredKeys: ['event'] }),
      fc.record(
        {
          aggregate: fc.constantFrom('count', 'rate', 'distinct', 'sum', 'any'),
          field: word,
          predicate,
          window: length,
          resolve: fc.oneof(fc.constant(true), predicate),
          ...group,
        },
        { requiredKeys: ['aggregate', 'predicate', 'window'] },
      ),
      fc.record({ absent_for: length, ...group }, { requiredKeys: ['absent_for'] }),
      fc.record(
        { change_of: word, from: fc.constantFrom('', 'a '), to: fc.constantFrom('', 'b'), ...group },
        { requiredKeys: ['change_of'] },
      ),
      fc.record(
        {
          sequence: fc.array(
            fc.record(
              { name: word, filters: fc.array(filter, { maxLength: 2 }) },
              { requiredKeys: ['filters'] },
            ),
            { minLength: 2, maxLength: 4 },
          ),
          within: length,
          ...group,
        },
        { requiredKeys: ['sequence', 'within'] },
      ),
      fc.record({ every: length, ...summary }, { requiredKeys: ['every'] }),
      fc.record(
        { cron: fc.constantFrom('0 9 * * 1-5', '0  9 * * *'), time_zone: fc.constant('UTC'), ...summary },
        { requiredKeys: ['cron'] },
      ),
    )
    const storm = fc.record(
      {
        quiet: length,
        max_wait: length,
        min_count: fc.integer({ min: 1, max: 9 }),
        limits: fc.array(fc.record({ max: fc.integer({ min: 1, max: 9 }), per: length }), { maxLength: 2 }),
      },
      { requiredKeys: [] },
    )
    const trigger = fc.record(
      {
        condition,
        filters: fc.array(filter, { maxLength: 3 }),
        storm,
        cooldown: length,
        max_late: length,
        severity: fc.constantFrom('critical', 'none'),
        severity_field: fc.constantFrom('', 'level'),
        description: fc.constantFrom('', 'it breaks'),
        emit: fc.record(
          { kind: fc.constantFrom('page', 'errs'), context_window: length },
          { requiredKeys: [] },
        ),
      },
      { requiredKeys: ['condition'] },
    )
    fc.assert(
      fc.property(trigger, (one) => {
        const stored = asStored(one)
        const written = writeOf(draftOf(stored), stored)
        const { emit, ...same } = fieldsOf(stored) as { emit: { kind?: string } }
        // A kind that is the name is the default, and is not said.
        const { kind, ...told } = emit
        expect(written).toEqual({ ...same, emit: kind && kind !== 'errs' ? emit : told })
      }),
      { numRuns: 400 },
    )
  })

  it('becomes what is typed where something is', () => {
    const stored = asStored({ condition: { aggregate: 'count', predicate: '>5', window: '5m' } as Condition })
    expect(writeOf({ ...draftOf(stored), number: '6' }, stored).condition).toMatchObject({ predicate: '> 6' })
  })
})

describe('faults of what is typed', () => {
  it('stand at the field they are about, and are none where nothing is lacking', () => {
    expect(faultsOf(base)).toEqual({})
    expect(Object.keys(faultsOf({ ...base, sources: [], number: '', window: 'soon', cooldown: '' }))).toEqual(
      ['condition.predicate', 'condition.window', 'sources', 'cooldown'],
    )
    expect(faultsOf({ ...base, filters: [{ field: '', op: 'eq', value: 'x', values: [] }] })).toHaveProperty([
      'filters[0]',
    ])
    // A row that is not begun is left out.
    expect(faultsOf({ ...base, filters: [{ field: '', op: 'eq', value: '', values: [] }] })).toEqual({})
    expect(isComplete({ ...base, cooldown: '' })).toBe(true)
    expect(isComplete({ ...base, resolve: 'when', resolve_number: '' })).toBe(false)
  })

  it('name the rule of a name', () => {
    expect([nameFault('app-logs.errors_2'), nameFault('a'.repeat(64))]).toEqual([undefined, undefined])
    for (const name of ['', '-a', 'a b', 'a'.repeat(65)]) expect(nameFault(name)).toBeTruthy()
  })
})

describe('the name of a trigger', () => {
  const rows = (field: string, value: string) => [{ field, op: 'eq' as const, value, values: [] }]
  it.each<[Partial<TriggerDraft>, string]>([
    [{ sources: ['app-logs'], filters: rows('event_type', 'error') }, 'app-logs-errors'],
    [{ sources: ['gw'], filters: rows('payload.status', '500') }, 'gw-status-500'],
    [{ sources: ['gw'] }, 'gw-events'],
    [{ sources: ['gw'], aggregate: 'avg', field: 'payload.ms' }, 'gw-ms'],
    [{ sources: ['hosts'], kind: 'silence' }, 'hosts-silence'],
    [{ sources: ['db'], kind: 'change', change_of: 'payload.role' }, 'db-role-change'],
    [{ sources: ['db'], kind: 'schedule' }, 'db-summary'],
    [{ sources: [] }, ''],
  ])('is made from the sentence: %j', (typed, name) => {
    expect(nameFrom({ ...NEW_TRIGGER, ...typed }, [])).toBe(name)
  })

  it('is another where there is one already, and always a name', () => {
    expect(nameFrom(base, ['gw-events', 'gw-events-2'])).toBe('gw-events-3')
    fc.assert(
      fc.property(fc.string(), fc.string(), (field, value) => {
        const name = nameFrom({ ...base, sources: ['G'.repeat(64)], filters: rows(field, value) }, [])
        expect(nameFault(name)).toBeUndefined()
      }),
    )
  })
})

describe('whom a trigger tells', () => {
  it('is saved with the trigger, and left alone where nothing was chosen', () => {
    expect(notifyOf(NEW_TRIGGER)).toEqual({})
    expect(notifyOf({ ...NEW_TRIGGER, wakes: [] })).toEqual({ notify: { agents: [] } })
    expect(notifyOf({ ...NEW_TRIGGER, wakes: ['digger'], addresses: ['#shop-ops'] })).toEqual({
      notify: { agents: ['digger'], addresses: ['#shop-ops'] },
    })
  })

  it('has addresses and channels of Slack', () => {
    expect(
      ['https://x.example/a', 'http://x', '#shop-ops', 'slack://channel/C1'].map(isAddress),
    ).not.toContain(false)
    expect(['shop-ops', 'mailto:a', 'https://', '#'].map(isAddress)).not.toContain(true)
  })
})

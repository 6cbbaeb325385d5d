import { describe, expect, it } from 'vitest'
import { durationWords } from '../../schemas/duration-words.ts'
import { conditionKind, cooldownSentence, sentenceOf, type Told } from '../../schemas/words.ts'

const trigger = (condition: Told['condition'], more: Partial<Told> = {}): Told => ({
  sources: ['gateway'],
  condition,
  ...more,
})

describe('a trigger in plain words', () => {
  it.each<[Told, string]>([
    [trigger({ event: 'any' }), 'When an event arrives on gateway'],
    [
      trigger(
        { aggregate: 'count', predicate: '> 5', window: '5m' },
        { filters: [{ field: 'status', op: 'gte', value: 500 }] },
      ),
      'When the number of events is above 5 within 5 min on gateway where status is at least 500',
    ],
    [
      trigger({ aggregate: 'rate', predicate: '>= 10/m', window: '1h', resolve: true }),
      'When the rate of events is at least 10 a minute within 1 h on gateway, and not again until it is over',
    ],
    [
      trigger({ aggregate: 'distinct', field: 'user', predicate: '> 3', window: '1h' }),
      'When the number of different user is above 3 within 1 h on gateway',
    ],
    [
      trigger({ absent_for: '10m' }, { sources: ['a', 'b', 'c'] }),
      'When nothing arrives on a, b and c for 10 min, after there was something',
    ],
    [
      trigger({ change_of: 'status', from: 'up', to: 'down' }),
      'When status changes from up to down on gateway',
    ],
    [
      trigger({
        sequence: [
          { filters: [{ field: 'event_type', op: 'eq', value: 'deploy' }] },
          { name: 'an error', filters: [{ field: 'level', op: 'in', value: ['error', 'fatal'] }] },
        ],
        within: '10m',
      }),
      'When event_type is deploy, then an error within 10 min on gateway',
    ],
    [trigger({ every: '1h' }), 'Every 1 h, with a summary of gateway'],
    [
      trigger({ cron: '0 9 * * 1-5', time_zone: 'Europe/Paris' }),
      'At 0 9 * * 1-5 (Europe/Paris), with a summary of gateway',
    ],
    [
      trigger({ event: 'any' }, { description: 'the gateway answers with errors' }),
      'When the gateway answers with errors',
    ],
    [
      trigger({ event: 'any' }, { filters: [{ field: 'trace', op: 'exists', value: false }] }),
      'When an event arrives on gateway where trace is not there',
    ],
  ])('%j', (told, sentence) => {
    expect(sentenceOf(told)).toBe(sentence)
  })

  it('says lengths of time as people read them, to the letter', () => {
    expect(['5m', '90s', '1.5h', '36h', '2d'].map(durationWords)).toEqual([
      '5 min',
      '90 s',
      '1.5 h',
      '36 h',
      '2 d',
    ])
  })

  it('says how often at most, and what it does with a burst', () => {
    expect(cooldownSentence(trigger({ event: 'any' }, { key_field: 'service' }))).toBe(
      'At most once every 5 min per service',
    )
    expect(
      cooldownSentence(
        trigger(
          { event: 'any', group_by: ['region', 'key_value'] },
          {
            cooldown: '1h',
            storm: { quiet: '2m', max_wait: '10m', min_count: 5, limits: [{ max: 3, per: '1h' }] },
          },
        ),
      ),
    ).toBe(
      'At most once every 1 h per region and entity; a burst is gathered until nothing comes for 2 min, 10 min at most; fewer than 5 events are let pass; no more than 3 in 1 h',
    )
  })

  it('knows the kind by the field only it has', () => {
    expect(conditionKind({ cron: '0 9 * * *' })).toBe('cron')
    expect(conditionKind({ window: '5m' })).toBeNull()
  })
})

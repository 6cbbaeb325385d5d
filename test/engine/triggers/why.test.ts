/** Why an event fired a trigger, or did not: the exact reason, as recorded and as worked out again. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { afterAll, describe, expect, it } from 'vitest'
import type { TriggerWrite, WhyRecord } from '../../../schemas/types.ts'
import { BY, MINUTE, openWorld, T0, type World } from './trigger-world.ts'

const iso = (ms: number) => new Date(ms).toISOString()
const error = { service: 'checkout', type: 'error' }

const folder = mkdtempSync(join(tmpdir(), 'svc-why-'))
afterAll(() => rmSync(folder, { recursive: true }))
let files = 0

/** A world whose rows can be changed from outside. */
async function openFile(): Promise<World & { change(sql: string): void }> {
  const dataFile = join(folder, `${files++}.db`)
  const world = await openWorld({ dataFile })
  const change = (sql: string) => {
    const db = new Database(dataFile)
    db.exec(sql)
    db.close()
  }
  return Object.assign(world, { change })
}

interface Cause {
  it: string
  trigger: Partial<TriggerWrite> & Pick<TriggerWrite, 'condition'>
  /** Does what comes before, and posts the event that is asked about. */
  event(world: World): Promise<string>
  record: Partial<WhyRecord>
  /** By the trigger as it is now, without what was recorded; absent: the same. */
  recomputed?: Partial<WhyRecord> | null
}

const one = async (promise: Promise<string[]>) => (await promise)[0]!

const causes: Cause[] = [
  {
    it: 'fired, with nobody told',
    trigger: { condition: { event: 'any' } },
    event: (world) => one(world.post(error)),
    record: {
      reason: 'no_subscriber',
      key: 'checkout',
      text: 'fired: an event of type error, and nobody is subscribed to it',
      dispatch_id: expect.any(String) as unknown as string,
    },
    recomputed: { reason: 'fired', key: 'checkout', text: 'fired: an event of type error' },
  },
  {
    it: 'a filter that does not hold, with expected and actual',
    trigger: {
      condition: { event: 'any' },
      filters: [
        { field: 'region', op: 'eq', value: 'eu' },
        { field: 'ms', op: 'gt', value: 100 },
      ],
    },
    event: (world) => one(world.post({ ...error, region: 'eu', ms: 80 })),
    record: {
      reason: 'filter',
      field: 'ms',
      expected: 'gt 100',
      actual: '80',
      text: 'looks only where ms is above 100: here it is 80',
    },
  },
  {
    it: 'below the threshold, with value, predicate and window',
    trigger: { condition: { aggregate: 'count', predicate: '> 2', window: '5m' } },
    event: async (world) => {
      await world.post(error)
      return one(world.post(error))
    },
    record: {
      reason: 'below',
      value: 2,
      predicate: '> 2',
      window: '5m',
      text: '2 events in 5m, not above 2',
    },
  },
  {
    it: 'in its cooldown, until when',
    trigger: { condition: { event: 'any' }, cooldown: '10m' },
    event: async (world) => {
      await world.post(error)
      world.pass(MINUTE)
      return one(world.post(error))
    },
    record: { reason: 'cooldown', until: iso(T0 + 10 * MINUTE) },
  },
  {
    it: 'folded into a burst, which one and until when',
    trigger: { condition: { event: 'any' }, storm: { quiet: '30s' } },
    event: async (world) => {
      await world.post(error)
      world.pass(10_000)
      return one(world.post(error))
    },
    record: {
      reason: 'folded',
      until: iso(T0 + 40_000),
      dispatch_id: expect.any(String) as unknown as string,
    },
    recomputed: { reason: 'folded', dispatch_id: expect.any(String) as unknown as string },
  },
  {
    it: 'held back by a limit, until when',
    trigger: { condition: { event: 'any' }, cooldown: '1s', storm: { limits: [{ max: 1, per: '1h' }] } },
    event: async (world) => {
      await world.post(error)
      world.pass(MINUTE)
      return one(world.post(error))
    },
    record: { reason: 'held', until: iso(T0 + 60 * MINUTE) },
  },
  {
    it: 'a limit holds it back, as one more of what it holds back',
    trigger: {
      condition: { event: 'any' },
      cooldown: '1s',
      storm: { limits: [{ max: 1, per: '1h' }] },
    },
    event: async (world) => {
      for (const _ of [1, 2]) {
        await world.post(error)
        world.pass(2_000)
      }
      return one(world.post(error))
    },
    record: { reason: 'held', until: iso(T0 + 60 * MINUTE) },
    recomputed: { reason: 'held', text: 'held back by a limit, folded into the firing of checkout' },
  },
  {
    it: 'fired before and not resolved',
    trigger: {
      condition: { aggregate: 'count', predicate: '> 0', window: '5m', resolve: true },
      cooldown: '1s',
    },
    event: async (world) => {
      await world.post(error)
      world.pass(MINUTE)
      return one(world.post(error))
    },
    record: {
      reason: 'active',
      value: 2,
      text: '2 events in 5m, above 0; it fired for this before and is not resolved yet',
    },
  },
  {
    it: 'fired before, resolved, and fired again',
    trigger: {
      condition: { aggregate: 'count', predicate: '> 0', window: '5m', resolve: true },
      cooldown: '1s',
    },
    event: async (world) => {
      await world.post(error)
      world.pass(6 * MINUTE)
      return one(world.post(error))
    },
    record: { reason: 'no_subscriber' },
    recomputed: { reason: 'fired', text: 'fired: 1 event in 5m, above 0' },
  },
  {
    it: 'it waits for the rest of a sequence that began too long ago',
    trigger: {
      condition: {
        sequence: [
          { name: 'a deploy', filters: [{ field: 'event_type', op: 'eq', value: 'deploy' }] },
          { name: 'an error', filters: [{ field: 'event_type', op: 'eq', value: 'error' }] },
        ],
        within: '5m',
      },
    },
    event: async (world) => {
      await world.post({ ...error, type: 'deploy' })
      world.pass(6 * MINUTE)
      return one(world.post(error))
    },
    record: { reason: 'waiting', text: 'waits for a deploy, the first step' },
  },
  {
    it: 'the trigger was paused',
    trigger: { condition: { event: 'any' } },
    event: async (world) => {
      await world.engine.moveTrigger('t', 'pause', BY)
      return one(world.post(error))
    },
    record: { reason: 'paused', text: 'the trigger is paused' },
  },
  {
    it: 'it has no key',
    trigger: { condition: { event: 'any', group_by: ['region'] } },
    event: (world) => one(world.post(error)),
    record: { reason: 'no_key', key: null, text: 'it lacks region, which is the key' },
  },
  {
    it: 'it has no key, since the label is a number',
    trigger: { condition: { event: 'any', group_by: ['ms'] } },
    event: (world) => one(world.post({ ...error, ms: 5 })),
    record: {
      reason: 'no_key',
      key: null,
      text: 'ms is a number label, of which no key is made: a key is made of text labels',
    },
  },
  {
    it: 'it lacks what is aggregated',
    trigger: { condition: { aggregate: 'avg', field: 'ms', predicate: '> 5', window: '5m' } },
    event: (world) => one(world.post(error)),
    record: { reason: 'no_value', text: 'it has no number ms' },
  },
  {
    it: 'it came too late',
    trigger: { condition: { event: 'any' }, max_late: '1h' },
    event: (world) => one(world.post({ ...error, at: iso(T0 - 2 * 60 * MINUTE) })),
    record: { reason: 'late', text: 'stored 2h after its time, later than 1h' },
  },
  {
    it: 'the value is the same as before',
    trigger: { condition: { change_of: 'state' } },
    event: async (world) => {
      await world.post({ ...error, state: 'up' })
      return one(world.post({ ...error, state: 'up' }))
    },
    record: { reason: 'unchanged', text: 'state is up as before' },
  },
  {
    it: 'a sequence waits for its next step',
    trigger: {
      condition: {
        sequence: [
          { name: 'a deploy', filters: [{ field: 'event_type', op: 'eq', value: 'deploy' }] },
          { name: 'an error', filters: [{ field: 'event_type', op: 'eq', value: 'error' }] },
        ],
        within: '5m',
      },
    },
    event: (world) => one(world.post({ service: 'checkout', type: 'deploy' })),
    record: { reason: 'waiting', text: 'waits for an error, step 2 of 2' },
  },
]

describe('why', () => {
  it.each(causes)('$it', async ({ trigger, event, record, recomputed = record }) => {
    const world = await openFile()
    await world.trigger(trigger)
    const id = await event(world)
    const { records } = await world.engine.why(id)
    expect(records).toMatchObject([{ trigger: 't', ...record, recomputed: false }])
    if (recomputed === null) return
    world.change('DELETE FROM evaluations')
    expect((await world.engine.why(id)).records).toMatchObject([
      { trigger: 't', ...recomputed, recomputed: true },
    ])
  })

  it('an event whose labels no filter of a trigger knows is worked out', async () => {
    const world = await openFile()
    await world.trigger({
      condition: { event: 'any' },
      filters: [{ field: 'region', op: 'eq', value: 'eu' }],
    })
    const id = await one(world.post({ ...error, region: 'us' }))
    expect((await world.engine.why(id)).records).toMatchObject([
      { reason: 'filter', field: 'region', expected: 'eq eu', actual: 'us', recomputed: true },
    ])
  })

  it('of a trigger that watches other sources it says which, and of none that name which was meant', async () => {
    const world = await openFile()
    await world.trigger({ condition: { event: 'any' } })
    const id = await one(world.post(error, { source: 'web' }))
    await expect(world.engine.why(id, 't')).rejects.toThrow(
      `trigger t looks at no event of web, as ${id} is: it watches app`,
    )
    await world.trigger({ name: 'checkout', condition: { event: 'any' } })
    await expect(world.engine.why(id, 'chekout')).rejects.toThrow(
      'no trigger is named chekout (did you mean checkout?)',
    )
  })

  it('an exception is a record, and the event is stored', async () => {
    const world = await openFile()
    await world.trigger({ condition: { event: 'any' }, filters: [{ field: 'msg', op: 'regex', value: 'a' }] })
    // As an older version might have stored it.
    await world.engine.moveTrigger('t', 'pause', BY)
    world.change(`UPDATE triggers SET spec = replace(spec, '"value":"a"', '"value":"("')`)
    await world.engine.moveTrigger('t', 'resume', BY)
    const id = await one(world.post(error))
    expect((await world.engine.why(id)).records).toMatchObject([
      { reason: 'error', text: expect.stringContaining('cannot be evaluated') as unknown as string },
    ])
  })

  it('records of what did not fire are sampled, those of firings are not', async () => {
    const world = await openFile()
    await world.trigger({ condition: { aggregate: 'count', predicate: '> 40', window: '5m' } })
    await world.post(Array.from({ length: 41 }, () => error))
    const { evaluations } = await world.engine.evaluations('t', { limit: 100 })
    const count = (reason: string) => evaluations.filter((one) => one.reason === reason).length
    expect([count('below'), count('no_subscriber')]).toEqual([20, 1])
  })
})

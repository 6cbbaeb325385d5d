/**
 * What fires is the same whether the daemon is started again now and then or goes on: random events over every kind of
 * condition, in one world that goes on and in one that is closed and opened again.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import type { Firing, TriggerWrite } from '../../../schemas/types.ts'
import { longOr, seed } from '../../chaos/scale.ts'
import { random } from '../log/store/store-harness.ts'
import { openWorld, type World } from './trigger-world.ts'

const HOUR = 3_600_000
const count = { aggregate: 'count', window: '5m' } as const
const isBad = { field: 'state', op: 'eq', value: 'bad' } as const
const isSlow = { field: 'ms', op: 'gte', value: 80 } as const

/** Silence is another matter: after a start it counts from there. */
const TRIGGERS: Omit<TriggerWrite, 'sources'>[] = [
  { name: 'any', condition: { event: 'any' }, cooldown: '2m' },
  { name: 'bad', condition: { event: 'any' }, cooldown: '1s', filters: [isBad] },
  { name: 'severe', condition: { event: 'any' }, cooldown: '10m', severity_field: 'state' },
  { name: 'count', condition: { ...count, predicate: '> 4' }, cooldown: '3m' },
  { name: 'by-two', condition: { ...count, predicate: '> 2', group_by: ['service', 'region'] } },
  { name: 'by-type', condition: { ...count, predicate: '> 3', group_by: ['event_type'] }, cooldown: '1m' },
  { name: 'lasts', condition: { ...count, predicate: '> 4', resolve: true }, cooldown: '1s' },
  {
    name: 'avg-lasts',
    condition: { aggregate: 'avg', field: 'ms', predicate: '> 60', window: '5m', resolve: '< 40' },
    cooldown: '1s',
  },
  {
    name: 'alerts',
    condition: {
      event: 'any',
      resolve: { filters: [{ field: 'state', op: 'eq', value: 'ok' }], equal: ['event_type'] },
    },
    cooldown: '2m',
    filters: [isBad],
  },
  { name: 'distinct', condition: { ...count, aggregate: 'distinct', field: 'region', predicate: '>= 3' } },
  { name: 'changed', condition: { change_of: 'state' }, cooldown: '1s' },
  {
    name: 'sequence',
    condition: { sequence: [{ filters: [isBad] }, { filters: [isSlow] }], within: '5m' },
    cooldown: '1m',
  },
  { name: 'gathered', condition: { event: 'any' }, cooldown: '2m', storm: { quiet: '20s', max_wait: '1m' } },
  {
    name: 'limited',
    condition: { event: 'any' },
    cooldown: '10s',
    storm: { limits: [{ max: 2, per: '1m' }] },
  },
  {
    name: 'enough',
    condition: { ...count, predicate: '> 2' },
    cooldown: '1m',
    storm: { quiet: '30s', min_count: 4 },
  },
  { name: 'every', condition: { every: '7m' } },
]

const shown = ({ trigger, key, fired_at, state, event_ids, value, reason, events, resolves }: Firing) =>
  [trigger, key, fired_at ?? state, event_ids[0], value, reason, events, resolves !== undefined].join(' | ')

async function firingsOf(world: World): Promise<string[]> {
  const lists = await Promise.all(TRIGGERS.map(({ name }) => world.firings(name)))
  // Of one instant each order is right.
  return lists.flat().map(shown).sort()
}

it('what fires is the same in a daemon that is started again and in one that goes on', async () => {
  const next = random(seed)
  const below = (n: number) => Math.floor(next() * n)
  const folder = mkdtempSync(join(tmpdir(), 'svc-restarted-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const dataFile = join(folder, 'svc.db')
  const steady = await openWorld()
  let restarted = await openWorld({ dataFile })
  for (const world of [steady, restarted]) for (const trigger of TRIGGERS) await world.trigger(trigger)
  const lag = (): number => {
    if (next() < 0.7) return 0
    return next() < 0.8 ? below(500_000) : -below(20_000)
  }
  const make = (now: number) => ({
    service: `s${below(4)}`,
    ...(next() < 0.9 ? { region: `r${below(4)}` } : {}),
    ...(next() < 0.8 ? { state: ['ok', 'bad', 'critical', 'info'][below(4)] } : {}),
    ...(next() < 0.8 ? { ms: below(100) } : {}),
    type: `t${below(3)}`,
    at: new Date(now - lag()).toISOString(),
  })
  for (let n = 0; n < longOr(600, 50); n++) {
    const gap = next() < 0.01 ? below(HOUR) : below(40_000)
    const isRestart = next() < 0.08
    const items = Array.from({ length: 1 + below(3) }, () => make(steady.clock.at + gap))
    const bypass = next() < 0.05
    for (const world of [steady, restarted]) {
      world.pass(gap)
      await world.post(items, { bypass })
      // A start takes longer than an instant that was told of lasts.
      if (isRestart) world.pass(1_000)
    }
    if (!isRestart) continue
    await restarted.engine.close()
    restarted = await openWorld({ dataFile, clock: restarted.clock })
  }
  for (const world of [steady, restarted]) world.pass(HOUR)
  expect(await firingsOf(restarted)).toEqual(await firingsOf(steady))
  await restarted.engine.close()
  await steady.engine.close()
})

/** From an instant of a replay: the same events with the trigger of then against a changed one. */
import { afterEach, expect, it } from 'vitest'
import type { TriggerDefinition, TriggerWrite } from '../../../schemas/types.ts'
import type { RunWorld } from '../agents/runs/run-world.ts'
import { BY, MINUTE, T0 } from '../triggers/trigger-world.ts'
import { at, errors, openChain, script, whole } from './replay-world.ts'

let world: RunWorld
afterEach(async () => {
  await world?.close()
})

it('is a backtest over the range of the replay, by the trigger of its version, gone or not', async () => {
  world = await openChain()
  script(world)
  await errors(world, 3)
  await world.settled()
  await errors(world, 3)
  await world.settled()
  const to = world.clock.at
  const replay = await whole(world, { to: at(to) })
  const { version } = replay.versions.at(-1)!.graph
  const spec: TriggerDefinition = {
    sources: ['app'],
    filters: [{ field: 'event_type', op: 'eq', value: 'error' }],
    condition: { aggregate: 'count', window: '10m', predicate: '>= 5' },
  }
  const asked = { trigger: 't', version, compare: spec, to: at(to), window: `${(to - T0) / 1_000}s` }
  const before = await world.engine.backtest(asked)
  const fired = replay.moments.filter(({ kind, phase }) => kind === 'firing' && phase === 'fired')
  expect(before.result.list.map((one) => one.at)).toEqual(fired.map((one) => one.at))
  expect(before.compare!.list.map((one) => [one.at, one.value])).toEqual([[at(to - 1_000), 5]])
  // Later events, another definition and a deletion change nothing of what is asked about then.
  world.clock.at += MINUTE
  await errors(world, 9)
  await world.engine.updateTrigger(
    't',
    { name: 't', sources: ['app'], condition: { event: 'any' } } as TriggerWrite,
    BY,
  )
  await world.engine.deleteSource('app', { cascade: true, purgeEvents: false }, BY)
  expect(await world.engine.backtest(asked)).toEqual(before)
  await expect(world.engine.backtest({ ...asked, version: 0 })).rejects.toMatchObject({ code: 'not_found' })
})

it('is a practice run with another prompt, that reads what the run could read', async () => {
  world = await openChain()
  script(world)
  await errors(world, 3)
  const [first] = await world.settled()
  world.clock.at += MINUTE
  await errors(world, 2)
  const { run_id } = await world.engine.rerun(first!.id, { asOf: 'same', practice: true, prompt: 'Other.' })
  await world.settled()
  const again = await world.run(run_id)
  expect(again).toMatchObject({ practice: true, as_of: first!.as_of, rerun_of: first!.id })
  const replay = await whole(world)
  const practice = replay.moments.filter((moment) => moment.practice)
  expect(new Set(practice.map((moment) => moment.run_id))).toContain(run_id)
  expect(practice.filter(({ kind, phase }) => kind === 'run' && phase === 'queued')[0]!.title).toBe(
    'first-look is run again in practice for checkout',
  )
  // It is in nobody's chain.
  const chain = await whole(world, { result: first!.id, from: undefined, to: undefined })
  expect(chain.moments.filter((moment) => moment.practice)).toEqual([])
})

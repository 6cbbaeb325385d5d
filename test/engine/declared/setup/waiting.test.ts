/** Planning waits out a model that is unavailable, as runs and Ask do (issue 17, part 3.1 and "It is done when" 4). */
import { describe, expect, it, onTestFinished } from 'vitest'
import type { Setup } from '../../../../schemas/types.ts'
import type { ScriptedReply } from '../../../models/scripted-server.ts'
import { BY, openSetupWorld, proposal, type SetupWorld } from './setup-world.ts'

const MINUTE = 60_000
const propose: ScriptedReply = { calls: [{ name: 'propose_plan', arguments: proposal() }] }
const busy = (seconds: number): ScriptedReply => ({
  status: 429,
  error: 'Rate limited',
  headers: { 'retry-after': String(seconds) },
})

async function open(): Promise<SetupWorld> {
  const world = await openSetupWorld()
  onTestFinished(() => world.close())
  return world
}

const lastStep = ({ planning }: Setup): string => planning?.steps.at(-1)?.text ?? ''
const untilOf = (setup: Setup): string => /(\d\d:\d\d:\d\d) UTC/.exec(lastStep(setup))?.[1] ?? ''
const timeOf = (ms: number): string => new Date(ms).toISOString().slice(11, 19)
/** What is shown while it waits until then. */
const waitsUntil = (world: SetupWorld, project: string, at: number): Promise<Setup> =>
  world.until(project, (setup) => setup.planning?.state !== 'running' || untilOf(setup) === timeOf(at))

describe('a plan whose model is unavailable', () => {
  it('waits as long as the provider says, shows until when, and is written then', async () => {
    const world = await open()
    world.models.reply('m1', [busy(120), propose])
    const began = world.clock.at
    const id = await world.draft('Watch the gateway')
    const waits = await waitsUntil(world, id, began + 2 * MINUTE)
    expect(waits.planning).toMatchObject({ state: 'running', error: null })
    expect(lastStep(waits)).toBe(
      `Waiting for the model: the provider asks to wait until ${timeOf(began + 2 * MINUTE)} UTC (providera: Rate limited)`,
    )
    world.pass(2 * MINUTE - 1)
    expect(world.models.requests).toHaveLength(1)
    world.pass(1)
    const done = await world.planned(id)
    expect(done.planning).toMatchObject({ state: 'done', error: null })
    expect(done.planning?.steps.map(({ text }) => text)).toContain(
      'The model was waited for, and answers again',
    )
    expect(world.models.requests).toHaveLength(2)
  })

  it('is asked again later each time, as one sub-step, and is given up after an hour with what was said', async () => {
    const world = await open()
    world.models.reply('m1', () => busy(61))
    const began = world.clock.at
    const id = await world.draft('Watch the gateway')
    const waits: number[] = []
    for (let seen = timeOf(began); ; ) {
      const setup = await world.until(
        id,
        (now) => now.planning?.state !== 'running' || (untilOf(now) !== '' && untilOf(now) !== seen),
      )
      if (setup.planning?.state !== 'running') break
      expect(setup.planning.steps.filter(({ text }) => text.startsWith('Waiting'))).toHaveLength(1)
      seen = untilOf(setup)
      const day = new Date(world.clock.at).toISOString().slice(0, 11)
      const ms = Date.parse(`${day}${seen}Z`) - Math.floor(world.clock.at / 1_000) * 1_000
      waits.push(ms / 1_000)
      world.pass(ms)
    }
    expect(waits.slice(0, 6)).toEqual([61, 61, 61, 120, 240, 300])
    expect(world.clock.at - began).toBeLessThanOrEqual(60 * MINUTE)
    expect((await world.setup(id)).planning).toMatchObject({
      state: 'failed',
      error: expect.stringMatching(
        /Rate limited; it (was tried for an hour|asks to be tried again in 2 minutes, and planning waits no longer than an hour)$/,
      ),
      accepts: expect.arrayContaining(['replan']),
    })
  })

  it('is stopped by a person while it waits, and asks nothing more', async () => {
    const world = await open()
    world.models.reply('m1', () => busy(300))
    const began = world.clock.at
    const id = await world.draft('Watch the gateway')
    await waitsUntil(world, id, began + 5 * MINUTE)
    await world.engine.stopPlanning(id, BY)
    world.planner.nudge()
    expect((await world.planned(id)).planning).toMatchObject({
      state: 'interrupted',
      error: 'it was stopped',
    })
    world.pass(10 * MINUTE)
    await world.planner.stop()
    expect(world.models.requests).toHaveLength(1)
  })

  it('does not wait longer than an hour, nor for what a later call would not mend', async () => {
    const world = await open()
    world.models.reply('m1', () => busy(2 * 3_600))
    const refused = await world.planned(await world.draft('Watch the gateway'))
    expect(refused.planning).toMatchObject({
      state: 'failed',
      error: expect.stringContaining(
        'it asks to be tried again in 120 minutes, and planning waits no longer than an hour',
      ),
    })
    world.models.reply('m1', () => ({ status: 401, error: 'bad key' }))
    const failed = await world.planned(await world.draft('Watch the mail'))
    expect(failed.planning).toMatchObject({
      state: 'failed',
      error: expect.stringContaining('providera: bad'),
    })
  })
})

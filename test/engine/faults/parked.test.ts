/** Runs whose model is unavailable for a while (issue 17, part 3.1): parked, told of, and gone on with. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { ScriptedReply } from '../../models/scripted-server.ts'
import { startScriptedModels } from '../../models/scripted-server.ts'
import { BY } from '../triggers/trigger-world.ts'
import { type FaultWorld, openFaultWorld } from './fault-world.ts'

const DOWN: ScriptedReply = { status: 529, error: 'Overloaded', errorType: 'overloaded_error' }
const LOOK: ScriptedReply = { calls: [{ name: 'read', arguments: { selector: { service: 's0' } } }] }
const FOUND: ScriptedReply = {
  calls: [{ name: 'conclude', arguments: { outcome: 'finding', summary: 'Found.' } }],
}

async function open(options: Parameters<typeof openFaultWorld>[0] = {}): Promise<FaultWorld> {
  const world = await openFaultWorld(options)
  onTestFinished(() => world.close())
  return world
}

/** A model that is away until an instant, and answers by how far the conversation is. */
function awayUntil(world: FaultWorld, at: () => number): void {
  world.models.reply('m1', ({ body }) => {
    const said = (body.messages as { role: string }[]).filter(({ role }) => role === 'assistant').length
    if (said === 0) return LOOK
    return world.clock.at < at() ? DOWN : FOUND
  })
}

describe('a run whose model is overloaded', () => {
  it('is parked on its tape, tells since when, why and until when, and goes on: ten minutes lose no run', async () => {
    const world = await open()
    const began = world.clock.at
    awayUntil(world, () => began + 10 * 60_000)
    const id = await world.wake()
    const parked = await world.until(async () => {
      const now = await world.run(id)
      return now.status === 'parked' ? now : null
    })
    expect(parked).toMatchObject({
      accepts: ['cancel'],
      finished_at: null,
      parked: { reason: expect.stringContaining('Overloaded'), since: expect.any(String), tries: 1 },
    })
    expect(Date.parse(parked.parked!.until)).toBeGreaterThan(world.clock.at)
    const status = await world.engine.status()
    expect(status.parked).toMatchObject({ runs: 1, byAgent: { look: 1 } })
    expect(status.detail).toContain('1 run of an agent waits for a model since')
    const { issues } = await world.engine.projectHealth(world.project)
    expect(issues).toContainEqual(
      expect.objectContaining({ severity: 'warning', view: '/runs?status=parked' }),
    )
    expect((await world.engine.listRuns({ status: 'open', limit: 9, offset: 0 })).total).toBe(1)
    const ended = await world.until(async () => {
      const now = await world.run(id)
      return now.finished_at === null ? null : now
    })
    expect(ended).toMatchObject({ status: 'succeeded', finding: 'Found.', parked: null, tool_calls: 1 })
    expect(world.clock.at - began).toBeGreaterThanOrEqual(10 * 60_000)
    expect((await world.engine.status()).parked).toBeNull()
  })

  it('gives back its place and what was reserved for its call, and the entity stays its own', async () => {
    const world = await open()
    await world.engine.saveAgentSettings({ concurrency: 1, daily_budget_usd: 0.6 })
    let isDown = true
    world.models.reply('m1', ({ body }) =>
      isDown && JSON.stringify(body).includes('s0') ? DOWN : { text: 'It is well.' },
    )
    const first = await world.wake()
    await world.until(async () => ((await world.run(first)).status === 'parked' ? true : null))
    const { run } = await world.ran()
    expect(run).toMatchObject({ status: 'succeeded', key: 's1' })
    isDown = false
    const ended = await world.until(async () => {
      const now = await world.run(first)
      return now.finished_at === null ? null : now
    })
    expect(ended).toMatchObject({ status: 'succeeded', key: 's0' })
  })

  it('is tried again when it was to be, not a day later, where the clock is set back by a day', async () => {
    const world = await open()
    world.models.reply('m1', () => DOWN)
    const id = await world.wake()
    await world.until(async () => ((await world.run(id)).parked ? true : null))
    expect((await world.engine.claimRuns(8, [])).started).toEqual([])
    world.clock.at -= 86_400_000
    expect((await world.engine.claimRuns(8, [])).started).toMatchObject([{ id }])
    await world.engine.parkRun(id, { reason: 'Overloaded', waitMs: null })
    expect(Date.parse((await world.run(id)).parked!.since)).toBe(world.clock.at)
  })

  it('waits as long as the provider says, and an hour at most', async () => {
    const world = await open()
    const began = world.clock.at
    world.models.reply('m1', (_request, n) =>
      n === 0 ? { ...DOWN, headers: { 'retry-after': '900' } } : { text: 'It is well.' },
    )
    expect((await world.ran()).run.status).toBe('succeeded')
    expect(world.clock.at - began).toBeGreaterThanOrEqual(900_000)
    world.models.reply('m1', () => ({ ...DOWN, headers: { 'retry-after': '7200' } }))
    expect((await world.ran()).run).toMatchObject({
      status: 'failed',
      error: expect.stringContaining('it asks to be tried again in 120 minutes'),
    })
    world.models.reply('m1', () => DOWN)
    const from = world.clock.at
    expect((await world.ran()).run).toMatchObject({
      status: 'failed',
      error: expect.stringMatching(/Overloaded; it was tried for an hour$/),
    })
    const took = world.clock.at - from
    expect(took).toBeGreaterThanOrEqual(60 * 60_000)
    expect(took).toBeLessThan(62 * 60_000)
  })

  it('goes on within the bounds of its agent, however many were parked', async () => {
    const world = await open()
    await world.engine.updateAgent(
      'look',
      { name: 'look', concurrency: 2, project: world.project } as never,
      BY,
    )
    let isDown = true
    let most = 0
    world.models.reply('m1', async () => {
      if (isDown) return DOWN
      const { total } = await world.engine.listRuns({ status: 'running', limit: 9, offset: 0 })
      most = Math.max(most, total)
      return { text: 'It is well.' }
    })
    await Promise.all(Array.from({ length: 6 }, () => world.wake()))
    await world.until(async () =>
      (await world.engine.listRuns({ status: 'parked', limit: 9, offset: 0 })).total === 6 ? true : null,
    )
    isDown = false
    await world.until(async () =>
      (await world.engine.listRuns({ status: 'succeeded', limit: 9, offset: 0 })).total === 6 ? true : null,
    )
    expect(most).toBe(2)
  })

  it('can be cancelled while it waits, and says by whom', async () => {
    const world = await open()
    world.models.reply('m1', () => DOWN)
    const id = await world.wake()
    await world.until(async () => ((await world.run(id)).status === 'parked' ? true : null))
    await world.engine.cancelRun(id, BY.caller)
    expect(await world.run(id)).toMatchObject({ status: 'cancelled', cancelled_by: 'test', parked: null })
    expect((await world.engine.status()).parked).toBeNull()
  })

  it('goes on from its tape after the daemon was killed, while it waits and while it asks', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'svc-parked-'))
    const scripted = await startScriptedModels()
    onTestFinished(async () => {
      await scripted.close()
      rmSync(folder, { recursive: true })
    })
    const dataFile = join(folder, 'svc.db')
    let world = await openFaultWorld({ scripted, dataFile })
    const { clock } = world
    const until = clock.at + 10 * 60_000
    awayUntil(world, () => until)
    const id = await world.wake()
    await world.until(async () => ((await world.run(id)).status === 'parked' ? true : null))
    const since = (await world.run(id)).parked!.since
    await world.halt()
    clock.at += 60_000
    world = await openFaultWorld({ scripted, dataFile, clock })
    world.nudge()
    const asked = scripted.requests.length
    await world.until(async () => (scripted.requests.length > asked ? true : null))
    await world.halt()
    world = await openFaultWorld({ scripted, dataFile, clock })
    onTestFinished(() => world.close())
    world.nudge()
    const ended = await world.until(async () => {
      const now = await world.run(id)
      expect(now.parked?.since ?? since).toBe(since)
      return now.finished_at === null ? null : now
    })
    expect(ended).toMatchObject({ status: 'succeeded', finding: 'Found.', tool_calls: 1 })
  })
})

describe('a fallback', () => {
  it.each([
    ['unavailable', DOWN, 'Overloaded'],
    ['without money', { status: 400, error: 'Your credit balance is too low to access the API.' }, 'credit'],
  ])('answers while the first is %s, and the run shows which one did', async (_what, away, why) => {
    const world = await open({ fallback: { provider: 'gateway' } })
    world.models.reply('m1', () => away)
    world.models.reply('m2', () => ({ text: 'It is well.' }))
    expect((await world.ran()).run).toMatchObject({
      status: 'succeeded',
      provider: 'gateway',
      model: 'm2',
      fallback_for: { provider: 'providera', model: 'm1', reason: expect.stringContaining(why) },
    })
    expect(await world.asked()).toContainEqual({ type: 'text', text: 'It is well.' })
  })

  it('of the agent holds over that of the settings, and both away park the run', async () => {
    const world = await open({ fallback: { model: 'm9' } })
    await world.engine.updateAgent(
      'look',
      { name: 'look', fallback_provider: 'gateway', fallback_model: 'm2', project: world.project } as never,
      BY,
    )
    let isDown = true
    world.models.reply('m1', () => DOWN)
    world.models.reply('m2', () => (isDown ? DOWN : { text: 'It is well.' }))
    const id = await world.wake()
    const { parked } = await world.until(async () => {
      const now = await world.run(id)
      return now.status === 'parked' ? now : null
    })
    expect(parked!.reason).toMatch(/providera: Overloaded; fallback gateway: Overloaded/)
    isDown = false
    expect(
      await world.until(async () => {
        const now = await world.run(id)
        return now.finished_at === null ? null : now
      }),
    ).toMatchObject({ status: 'succeeded', model: 'm2' })
  })

  it('is not asked for what is wrong with the request', async () => {
    const world = await open({ fallback: { provider: 'gateway' } })
    world.models.reply('m1', () => ({ status: 400, error: 'it is refused' }))
    expect((await world.ran()).run).toMatchObject({
      status: 'failed',
      error: expect.stringContaining('it is refused'),
    })
    expect(world.models.requests).toHaveLength(1)
  })
})

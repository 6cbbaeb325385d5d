/** A daemon that stops in the middle of a run, at each write of it: the next one ends it, nothing twice. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Models } from '../../../../engine/agents/models/types.ts'
import { startRunner } from '../../../../engine/agents/runs/runner.ts'
import type { RunPort } from '../../../../engine/agents/runs/types.ts'
import type { Run } from '../../../../schemas/types.ts'
import {
  type ScriptedModels,
  type ScriptedReply,
  startScriptedModels,
} from '../../../models/scripted-server.ts'
import { manualTime } from '../../net/egress/manual-time.ts'
import { openRunWorld, type RunWorld } from './run-world.ts'

const folder = mkdtempSync(join(tmpdir(), 'svc-resume-'))
let models: ScriptedModels
beforeAll(async () => {
  models = await startScriptedModels()
})
afterAll(async () => {
  await models.close()
  rmSync(folder, { recursive: true })
})

/** A model that answers by how far the conversation is, as a real one does, not by how often it was asked. */
const scripted =
  (replies: ScriptedReply[]) =>
  ({ body }: { body: Record<string, unknown> }): ScriptedReply => {
    const said = (body.messages as { role: string }[]).filter(({ role }) => role === 'assistant').length
    return replies[said] ?? { status: 400, error: 'the script is over' }
  }

async function prepare(world: RunWorld): Promise<void> {
  models.reply(
    'm1',
    scripted([
      { calls: [{ name: 'read', arguments: { selector: { service: 'checkout' } } }] },
      { calls: [{ name: 'remember', arguments: { content: 'It came again.' } }] },
      {
        calls: [
          {
            name: 'conclude',
            arguments: {
              outcome: 'finding',
              summary: 'Odd.',
              verdict: 'go',
              claims: [{ text: 'It is.', events: ['evt_1'] }],
            },
          },
        ],
      },
    ]),
  )
  models.reply(
    'm2',
    scripted([{ calls: [{ name: 'conclude', arguments: { outcome: 'finding', summary: 'Found.' } }] }]),
  )
  await world.trigger({ condition: { event: 'any' }, cooldown: '1h' })
  await world.agent({ name: 'digger', model: 'm2' })
  await world.agent({
    name: 'first-look',
    trigger: 't',
    model: 'm1',
    remembers: true,
    verdicts: [{ verdict: 'go' }],
    handoffs: [{ verdict: 'go', agent: 'digger' }],
  })
  await world.post({ service: 'checkout', type: 'error' })
}

/** What is left in the end, and may not depend on when a stop came. */
async function outcome({ engine, project }: RunWorld, runs: readonly Run[]) {
  const read = async (event_types: string[]) =>
    (await engine.read({ selector: { service: 'checkout' }, event_types, window: '1d' })).rows.map(
      ({ text }) => text,
    )
  const { deliveries } = await engine.listDeliveries({ limit: 10 })
  return {
    runs: runs.map(({ agent, status, verdict, depth, verified }) => ({
      agent,
      status,
      verdict,
      depth,
      verified,
    })),
    findings: await read(['finding']),
    remembered: (
      await engine.read({ selector: { key_value: 'checkout' }, event_types: ['observation'], window: '1d' })
    ).rows.length,
    deliveries: deliveries.map(({ status }) => status),
    results: (await engine.projectResults(project, { limit: 10 })).results.map(({ chain, headline }) => [
      chain,
      headline,
    ]),
  }
}

describe('a run', () => {
  it('ends the same whenever the daemon stops, and asks the model at most once more', async () => {
    const writes: string[] = []
    const calm = await openRunWorld({
      scripted: models,
      dataFile: join(folder, 'calm.db'),
      fault: (when, call) => {
        if (when === 'before') writes.push(call)
      },
    })
    const before = models.requests.length
    await prepare(calm)
    const expected = await outcome(calm, await calm.settled())
    const asked = models.requests.length - before
    await calm.close()
    expect(expected.runs).toMatchObject([
      { status: 'succeeded', verdict: 'go' },
      { status: 'succeeded', depth: 1 },
    ])
    expect(asked).toBe(4)
    for (let at = 0; at < writes.length; at++)
      for (const side of ['before', 'after'] as const) {
        const dataFile = join(folder, `${at}-${side}.db`)
        let n = 0
        let isDown = false
        const first = await openRunWorld({
          scripted: models,
          dataFile,
          fault: (when) => {
            if (when === side && n++ === at) isDown = true
            if (isDown) throw new Error('the daemon is down')
          },
        })
        const start = models.requests.length
        await prepare(first)
        await first.settled().catch(() => {})
        await first.close()
        const second = await openRunWorld({ scripted: models, dataFile, clock: first.clock })
        const what = `stopped ${side} ${writes[at]} number ${at}`
        expect({ what, ...(await outcome(second, await second.settled())) }).toEqual({ what, ...expected })
        expect(models.requests.length - start, what).toBeLessThanOrEqual(asked + 1)
        await second.close()
      }
  })
})

it('a parked run is due by the clock, also where the machine slept and no timer knows of it', async () => {
  const timers = manualTime()
  const parkedUntil = timers.now() + 3_600_000
  let slept = 0
  const clock = { now: () => timers.now() + slept }
  const looks: boolean[] = []
  const runner = startRunner({
    port: {
      claimRuns: async () => {
        looks.push(clock.now() >= parkedUntil)
        return { started: [], ended: [], nextAt: parkedUntil }
      },
    } as Partial<RunPort> as RunPort,
    models: {} as Models,
    connect: () => Promise.reject(new Error('nothing is connected to')),
    ...{ clock, timers, onError: () => {} },
  })
  runner.nudge()
  await expect.poll(() => timers.waits()).toEqual([30_000])
  slept = 7_200_000
  timers.advance(30_000)
  await expect.poll(() => looks).toEqual([false, true])
  await runner.stop()
})

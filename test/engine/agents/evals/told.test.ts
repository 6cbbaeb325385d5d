/** What an agent is told of a scenario, as the bytes that a model is sent. */
import { expect, it } from 'vitest'
import { loadedWith } from '../../../../engine/agents/evals/incident.ts'
import { ownPack } from '../../../../engine/agents/evals/own-pack.ts'
import { openEvalWorld, PROMPT } from '../../../../engine/agents/evals/run.ts'
import { silentModels } from '../../../../engine/agents/evals/scripted.ts'
import type { ModelRequest } from '../../../../engine/agents/models/types.ts'
import { startRunner } from '../../../../engine/agents/runs/runner.ts'
import { systemTimers } from '../../../../engine/clock.ts'
import { createEngine } from '../../../../engine/local.ts'

/** What the runs of a world made anew send first, in order of their agents. */
async function firstMessages(): Promise<string[]> {
  const { incidents, noise } = ownPack()
  const loaded = loadedWith(incidents[0]!.load(), noise, 2_000)
  const agents = (['brief', 'plain'] as const).map((context) => ({ name: context, prompt: PROMPT, context }))
  const world = await openEvalWorld(createEngine, loaded, agents as never)
  const sent: string[] = []
  let left = agents.length
  await new Promise<void>((done, fault) => {
    const runner = startRunner({
      port: world.engine,
      models: {
        ...silentModels,
        call: async (request: ModelRequest) => {
          sent.push(JSON.stringify([request.system, request.messages, request.tools]))
          return silentModels.call(request)
        },
      },
      connect: async () => ({ tools: [], skipped: [], call: fail, close: async () => {} }),
      clock: world.clock,
      timers: systemTimers,
      onError: (error) => void runner.stop().then(() => fault(error)),
      finished: () => {
        if (--left === 0) void runner.stop().then(done)
      },
    })
    runner.nudge()
  })
  await world.close()
  return sent.sort()
}

const fail = async (): Promise<never> => {
  throw new Error('there are no tools')
}

it('a first message is byte-identical in two stores made apart, its cursor and its markers with it', async () => {
  const [first, second] = [await firstMessages(), await firstMessages()]
  expect(first).toHaveLength(2)
  // One of them can be read on: the cursor is what a secret signs.
  expect(first.filter((text) => text.includes('cursor'))).not.toEqual([])
  expect(first.map((text) => Buffer.from(text))).toEqual(second.map((text) => Buffer.from(text)))
})

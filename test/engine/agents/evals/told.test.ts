/** What an agent is told of a scenario, as the bytes that a model is sent. */
import { expect, it } from 'vitest'
import { type Loaded, loadedWith } from '../../../../engine/agents/evals/incident.ts'
import { ownPack } from '../../../../engine/agents/evals/own-pack.ts'
import { openEvalWorld, PROMPT } from '../../../../engine/agents/evals/run.ts'
import { silentModels } from '../../../../engine/agents/evals/scripted.ts'
import type { ModelRequest } from '../../../../engine/agents/models/types.ts'
import { startRunner } from '../../../../engine/agents/runs/runner.ts'
import { systemTimers } from '../../../../engine/clock.ts'
import { createEngine } from '../../../../engine/local.ts'

/** What the runs of a world made anew send first, in order of their agents. */
async function firstMessages(
  loaded: Loaded,
  contexts: readonly ('brief' | 'plain')[] = ['brief', 'plain'],
): Promise<string[]> {
  const agents = contexts.map((context) => ({ name: context, prompt: PROMPT, context }))
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
      connect: async () => ({
        tools: [],
        skipped: [],
        relist: async () => new Map(),
        call: fail,
        close: async () => {},
      }),
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
  const { incidents, noise } = ownPack()
  const loaded = loadedWith(incidents[0]!.load(), noise, 2_000)
  const [first, second] = [await firstMessages(loaded), await firstMessages(loaded)]
  expect(first).toHaveLength(2)
  // One of them can be read on: the cursor is what a secret signs.
  expect(first.filter((text) => text.includes('cursor'))).not.toEqual([])
  expect(first.map((text) => Buffer.from(text))).toEqual(second.map((text) => Buffer.from(text)))
})

it('spans of a scenario are spans to a run: the call that became slow is told by how long it took itself', async () => {
  const { incidents, noise } = ownPack()
  const loaded = loadedWith(incidents[0]!.load(), noise, 100)
  const spans = Array.from({ length: 60 }, (_, n) => {
    const t = -3_600 + 60 * n
    const [trace_id, value] = [n.toString(16).padStart(32, '1'), n < 45 ? 2 + (n % 3) : 400 + n]
    const span = (span_id: string, parent_id: string, service: string, name: string, took: number) => ({
      ...{
        id: '',
        source: 'traces',
        type: name,
        t,
        text: service === 'web' ? `${name} (${took}ms)` : `${name} ${took}ms`,
        value: took,
      },
      // Half of them as they came by OTLP, which names the signal.
      labels: {
        ...(service === 'web' ? { signal: 'traces' } : {}),
        service,
        trace_id,
        span_id: `${span_id}${n}`,
        parent_id: parent_id && `${parent_id}${n}`,
      },
    })
    return [span('a', '', 'web', 'GET /cart', value + 5), span('b', 'a', 'prices', 'Prices/Lookup', value)]
  }).flat()
  const [told = ''] = await firstMessages({ ...loaded, events: [...spans, ...loaded.events] }, ['brief'])
  expect(told).toMatch(/prices Prices\/Lookup SLOWER: whole [^;]* own /)
})

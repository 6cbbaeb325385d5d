/** What does not fit: replies that are cut off, conversations that are too long, and what a cache spares. */
import { describe, expect, it, onTestFinished } from 'vitest'
import { outputBoundOf, roomAfter } from '../../../engine/agents/models/usage.ts'
import { shortenAnswer } from '../../../engine/agents/runs/tape.ts'
import type { Step } from '../../../engine/agents/runs/types.ts'
import type { ScriptedReply } from '../../models/scripted-server.ts'
import { type FaultWorld, openFaultWorld, type Wire } from './fault-world.ts'

async function open(options: Parameters<typeof openFaultWorld>[0] = {}): Promise<FaultWorld> {
  const world = await openFaultWorld(options)
  onTestFinished(() => world.close())
  return world
}

const roomOf = (body: { max_tokens?: number; max_completion_tokens?: number }) =>
  body.max_tokens ?? body.max_completion_tokens
const WORDS = ['amber', 'birch', 'cedar', 'dune', 'ember', 'fjord', 'grove', 'heath']
const WIRES: Wire[] = ['providera', 'compatible']
const concluded = (summary: string): ScriptedReply => ({
  calls: [{ name: 'conclude', arguments: { outcome: 'finding', summary } }],
})

describe.each(WIRES)('a reply that is cut off (%s)', (wire) => {
  it('in its conclusion is asked for again with more room, up to the bound of the model, and not published', async () => {
    const world = await open({ wire })
    const cut: ScriptedReply = {
      calls: [{ name: 'conclude', arguments: '{"outcome":"finding","summary":"Half' }],
      stop: 'length',
    }
    world.models.reply('m1', [cut, concluded('Whole.')])
    const { run } = await world.ran()
    expect(run).toMatchObject({ status: 'succeeded', finding: 'Whole.', outcome: 'finding' })
    // The table does not know this model.
    expect(world.models.requests.map(({ body }) => roomOf(body))).toEqual([4_096, 8_192])
    expect(run.steps.filter(({ kind }) => kind === 'conclude')).toHaveLength(1)
    const [refused] = run.steps.filter(({ kind }) => kind === 'refused') as unknown as Step[]
    expect(refused!.data).toMatchObject({ reason: expect.stringContaining('4096 tokens') })
  })

  it('is no round: the last one gets its conclusion, too', async () => {
    const world = await open({ wire })
    await world.engine.updateAgent(
      'look',
      { name: 'look', max_rounds: 1, concludes: true, project: world.project } as never,
      { caller: { id: 'open', name: 'test' }, origin: 'api' },
    )
    const look = { calls: [{ name: 'read', arguments: { selector: { service: 's0' } } }] }
    const cut = { text: 'I think that', stop: 'length' as const }
    world.models.reply('m1', [look, cut, concluded('Whole.')])
    expect((await world.ran()).run).toMatchObject({ status: 'succeeded', finding: 'Whole.' })
  })

  it('again and again has failed, and what was said is a note', async () => {
    const world = await open({ wire })
    world.models.reply('m1', (_request, n) => ({ text: `part ${n} `, stop: 'length' }))
    const { run } = await world.ran()
    expect(run).toMatchObject({
      status: 'failed',
      outcome: null,
      error: expect.stringContaining('its reply was cut off 5 times'),
      finding: 'part 0 part 1 part 2 part 3 part 4 ',
    })
  })
})

describe.each(WIRES)('a conversation that is longer than the model takes (%s)', (wire) => {
  it('goes on with older answers of tools in short; the ids of their events stay', async () => {
    const world = await open({ wire })
    await world.post(
      WORDS.flatMap((a) =>
        WORDS.map((b) => ({
          service: 'long',
          type: `${a}-${b}`,
          msg: `${a} took over from ${b} and said nothing of it to anybody else here`,
        })),
      ),
    )
    await world.until(async () => {
      world.models.reply('m1', () => ({ text: 'It is well.' }))
      const { total } = await world.engine.listRuns({ status: 'open', limit: 1, offset: 0 })
      return total === 0 ? true : null
    })
    const look = { calls: [{ name: 'read', arguments: { selector: { service: 'long' }, window: '1d' } }] }
    const said: string[] = []
    const tooLong =
      wire === 'providera'
        ? {
            status: 400,
            error: 'prompt is too long: 9 tokens > 8 maximum',
            errorType: 'invalid_request_error',
          }
        : { status: 400, error: 'maximum context length is 8 tokens', errorType: 'context_length_exceeded' }
    world.models.reply('m1', ({ body }, n) => {
      said.push(JSON.stringify(body.messages))
      return [look, look, tooLong, { text: 'It is well.' }][n] ?? { status: 400 }
    })
    const { run } = await world.ran()
    expect([run.error, run.status, run.tool_calls]).toEqual([null, 'succeeded', 2])
    const ids = (text: string) => new Set(text.match(/evt_\d+/g))
    expect(said[3]!.length).toBeLessThan(said[2]!.length - 3_000)
    expect([...ids(said[2]!)].filter((id) => !ids(said[3]!).has(id))).toEqual([])
    expect(said[3]).toContain('shortened for want of room')
    // The same again, answered by its tape.
    const { run_id } = await world.engine.rerun(run.id, { asOf: 'same', practice: true, tape: true })
    const again = await world.until(async () => {
      world.nudge()
      const now = await world.run(run_id)
      return now.finished_at === null ? null : now
    })
    expect(again).toMatchObject({ status: 'succeeded', finding: run.finding })
  })
})

describe('the prompt cache of provider A', () => {
  it('has breakpoints after tools and system and at the last message, in a stable order; the run shows what it saved', async () => {
    const world = await open()
    const look = { calls: [{ name: 'read', arguments: { selector: { service: 's0' } } }] }
    const usage = { input_tokens: 100, output_tokens: 10, cache_read_input_tokens: 50_000 }
    world.models.reply('m1', [
      { ...look, usage },
      { text: 'It is well.', usage },
    ])
    const { run } = await world.ran()
    const bodies = world.models.requests.map(({ body }) => body)
    for (const { system, tools, messages } of bodies) {
      expect(system.at(-1).cache_control).toEqual({ type: 'ephemeral' })
      expect(tools.at(-1).cache_control).toEqual({ type: 'ephemeral' })
      expect(messages.at(-1).content.at(-1).cache_control).toEqual({ type: 'ephemeral' })
      expect(JSON.stringify([system, tools, messages]).match(/cache_control/g)).toHaveLength(3)
    }
    // The second begins as the first: what the provider kept is found again.
    expect(JSON.stringify(bodies[1].tools)).toBe(JSON.stringify(bodies[0].tools))
    expect(bodies[1].messages[0].content).toMatchObject([{ text: bodies[0].messages[0].content[0].text }])
    expect(run).toMatchObject({ cache_read_input_tokens: 100_000 })
    // 100,000 tokens at 9 tenths of $10 for a million.
    expect(run.cache_saved_usd).toBeCloseTo(0.9, 9)
  })
})

describe('room', () => {
  it('is what a model may write by the longest prefix of its name, and grows to it', () => {
    expect(outputBoundOf('anthropic/claude-opus-4-1')).toBe(32_000)
    expect(outputBoundOf('gpt-4.1-mini')).toBe(32_768)
    expect(outputBoundOf('gpt-4o')).toBe(16_384)
    expect(outputBoundOf('local')).toBe(8_192)
    expect([0, 1, 2, 3].map((cuts) => roomAfter(4_096, cuts, 32_000))).toEqual([
      4_096, 16_384, 32_000, 32_000,
    ])
    expect(roomAfter(8_000, 1, 4_096)).toBe(8_000)
  })

  it('an answer made short keeps its fence and its ids, and no answer is made longer', () => {
    const lines = Array.from({ length: 90 }, (_, i) => `evt_${i} says something that takes room`).join('\n')
    const short = shortenAnswer(`<<<data abc\n${lines}\ndata abc>>>`)
    expect(short).toMatch(/^<<<data abc\nevt_0 says[\s\S]*evt_89\]\ndata abc>>>$/)
    // As a read answers, and a look that has more pages.
    const around = shortenAnswer(
      `12:00 to 13:00: 90 rows\n<<<data abc\n${lines}\ndata abc>>>\nmore: cursor c1`,
    )
    expect(around).toBe(`12:00 to 13:00: 90 rows\n${short}\nmore: cursor c1`)
    expect(shortenAnswer('evt_1 short')).toBe('evt_1 short')
    expect(shortenAnswer(short)).toBe(short)
  })
})

/**
 * Ask while its tools and its model take their time (issue 17, parts 2.3 and 3.1): calls of one reply are
 * made side by side, and a model that is not to be had is waited for.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createEngine } from '../../../../engine/local.ts'
import type { AskFrame } from '../../../../schemas/types.ts'
import type { ScriptedReply } from '../../../models/scripted-server.ts'
import { type AskWorld, MARIA, openAskWorld, SESSION } from './ask-world.ts'

const MINUTE = 60_000
const busy = (seconds: number): ScriptedReply => ({
  status: 429,
  error: 'Rate limited',
  headers: { 'retry-after': String(seconds) },
})
type Wait = Extract<AskFrame, { type: 'wait' }>

/** A question, and what is told of it until it waits for its model the first time. */
async function waiting(world: AskWorld) {
  const question = { messages: [{ role: 'user' as const, content: 'What broke?' }], session: SESSION }
  const { turn } = await world.ask.calls.ask(question, MARIA)
  const seen: AskFrame[] = []
  let end = () => {}
  const isOver = new Promise<void>((resolve) => {
    end = resolve
  })
  const waits: Wait[] = []
  const told: ((wait: Wait) => void)[] = []
  await world.ask.calls.followAsk(turn, 0, MARIA, {
    frame: (_n, frame) => {
      seen.push(frame)
      if (frame.type !== 'wait') return
      waits.push(frame)
      told.shift()?.(frame)
    },
    end,
  })
  let next = 0
  return {
    turn,
    seen,
    isOver,
    /** The next wait that is told. */
    wait: async (): Promise<Wait> => {
      const n = next++
      return waits[n] ?? new Promise((resolve) => told.push(resolve))
    },
  }
}

/** Moves time on to an instant. */
function moveTo(world: AskWorld, iso: string): void {
  const ms = Date.parse(iso) - world.clock.at
  world.clock.at += ms
  world.time.advance(ms)
}

const turnOf = async (world: AskWorld) => (await world.engine.getAskSession(SESSION, MARIA)).turns[0]!

it('calls of one reply are made side by side, eight at a time, and kept in the order they were asked in', async () => {
  let open = () => {}
  const all = new Promise<void>((resolve) => {
    open = resolve
  })
  let atWork = 0
  let most = 0
  const world = await openAskWorld({
    reads: {
      // Answered when eight are under way: one after the other they never would be.
      listSkills: async () => {
        atWork++
        most = Math.max(most, atWork)
        if (atWork === 8) open()
        await all
        atWork--
        return []
      },
    },
  })
  const calls = Array.from({ length: 10 }, (_, i) => ({ name: 'catalog', id: `c${i}`, arguments: {} }))
  calls[8] = { name: 'nothing', id: 'c8', arguments: {} }
  world.models.reply('m1', [{ calls }, { text: 'Nothing is there.' }])
  const frames = await world.asked('What is there?', { session: SESSION })
  expect(frames.at(-1)).toMatchObject({ type: 'done', state: 'answered' })
  expect(most).toBe(8)
  const ids = calls.map(({ id }) => id)
  const told = world.models.requests[1]!.body.messages.at(-1).content as { tool_use_id: string }[]
  expect(told.map(({ tool_use_id }) => tool_use_id)).toEqual(ids)
  const kept = await turnOf(world)
  expect(kept.frames.flatMap((frame) => (frame.type === 'tool' ? [frame.id] : []))).toEqual(ids)
  expect(kept.tool_calls).toBe(10)
})

describe('a model that is not to be had', () => {
  it('is waited for as long as its provider says, which is told to who reads and is no part of the time of a turn', async () => {
    const world = await openAskWorld()
    world.models.reply('m1', [busy(600), { text: 'The database.' }])
    const asked = await waiting(world)
    const { detail, until, reason } = await asked.wait()
    expect(Date.parse(until) - world.clock.at).toBe(10 * MINUTE)
    expect(detail).toBe(`the provider asks to wait until ${until.slice(11, 19)} UTC (${reason})`)
    expect(reason).toContain('Rate limited')
    expect(await turnOf(world)).toMatchObject({
      state: 'running',
      accepts: ['answer', 'exhaust', 'cancel', 'fail'],
      parked: { reason, until, tries: 1 },
    })
    // What the call would have cost is not held meanwhile.
    expect(world.models.requests).toHaveLength(1)
    moveTo(world, until)
    await asked.isOver
    expect(asked.seen.at(-1)).toMatchObject({ type: 'done', state: 'answered' })
    const kept = await turnOf(world)
    expect(kept).toMatchObject({ answer: 'The database.', parked: null })
    expect(kept.frames).toContainEqual({ type: 'wait', detail, reason, until })
  })

  it('is asked again later each time, and given up after an hour with what it said', async () => {
    const world = await openAskWorld()
    world.models.reply('m1', () => ({ ...busy(61), error: 'Overloaded' }))
    const asked = await waiting(world)
    const since = world.clock.at
    const waits: number[] = []
    const isOver = asked.isOver.then(() => null)
    for (;;) {
      const wait = await Promise.race([asked.wait(), isOver])
      if (wait === null) break
      waits.push(Math.round((Date.parse(wait.until) - world.clock.at) / 1_000))
      moveTo(world, wait.until)
    }
    expect(waits.slice(0, 6)).toEqual([61, 61, 61, 120, 240, 300])
    expect(world.clock.at - since).toBeLessThanOrEqual(60 * MINUTE)
    expect(asked.seen.at(-1)).toMatchObject({
      type: 'error',
      detail: expect.stringMatching(
        /Overloaded; it (was tried for an hour|asks to be tried again in 2 minutes, and an answer waits no longer than an hour)$/,
      ),
    })
  })

  it('is not waited for where it asks for more than an hour', async () => {
    const world = await openAskWorld()
    world.models.reply('m1', [busy(7_200)])
    expect((await world.asked('What broke?')).at(-1)).toMatchObject({
      type: 'error',
      detail: expect.stringContaining('in 120 minutes, and an answer waits no longer than an hour'),
    })
  })

  it('can be waited for no longer: the turn is cancelled, and the model is not asked again', async () => {
    const world = await openAskWorld()
    world.models.reply('m1', [busy(600), { text: 'never' }])
    const asked = await waiting(world)
    const { until } = await asked.wait()
    await world.ask.calls.cancelAsk(asked.turn, MARIA)
    expect(asked.seen.at(-1)).toMatchObject({ type: 'done', state: 'cancelled' })
    moveTo(world, until)
    expect(world.models.requests).toHaveLength(1)
  })

  it('is told of a turn that a restart of the service came between', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'svc-ask-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const options = { dataFile: join(folder, 'svc.db'), clock: { now: () => Date.UTC(2026, 0, 2) } }
    const killed = createEngine(options)
    const { id } = await killed.beginTurn({
      owner: MARIA.id,
      session: SESSION,
      replaces: null,
      mode: 'ask',
      step: null,
      question: 'What broke?',
      given: [],
      provider: 'p',
      model: 'm',
      asker: MARIA,
    })
    const now = options.clock.now()
    const parked = { reason: 'p: Overloaded', since: now, until: now + MINUTE, tries: 1, asked: true }
    const data = { text: 'it waits', parked }
    await killed.recordAskSteps(id, [{ n: 1, kind: 'note', round: 0, at: now, ms: 0, data }])
    expect((await killed.askTurn(id, MARIA.id)).parked).toMatchObject({ tries: 1 })
    await killed.close()
    const next = createEngine(options)
    const { turns } = await next.getAskSession(SESSION, MARIA)
    await next.close()
    const error = 'the service stopped while this waited for its model (p: Overloaded); ask again'
    expect(turns).toMatchObject([{ id, state: 'failed', error, parked: null }])
  })
})

/**
 * Ask while its tools and its model take their time (issue 17, parts 2.3 and 3.1): calls of one reply are
 * made side by side, and a model that is unavailable is waited for.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { AskCaller } from '../../../../engine/agents/ask/calls.ts'
import type { AskFrame } from '../../../../schemas/types.ts'
import type { ScriptedReply } from '../../../models/scripted-server.ts'
import { T0, type World } from '../../triggers/trigger-world.ts'
import { type AskWorld, MARIA, merged, openAskWorld, SESSION } from './ask-world.ts'

const MINUTE = 60_000
const busy = (seconds: number): ScriptedReply => ({
  status: 429,
  error: 'Rate limited',
  headers: { 'retry-after': String(seconds) },
})
type Wait = Extract<AskFrame, { type: 'wait' }>

/** A question, and what is told of it until it waits for its model the first time. */
async function waiting(world: AskWorld, caller = MARIA) {
  const question = { messages: [{ role: 'user' as const, content: 'What broke?' }], session: SESSION }
  const { turn } = await world.ask.calls.ask(question, caller)
  const seen: AskFrame[] = []
  let end = () => {}
  const isOver = new Promise<void>((resolve) => {
    end = resolve
  })
  const waits: Wait[] = []
  const told: ((wait: Wait) => void)[] = []
  await world.ask.calls.followAsk(turn, 0, caller, {
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

/** What is under way gets its turn. */
async function settle(world: AskWorld): Promise<void> {
  for (let n = 0; n < 5; n++) {
    await world.engine.status()
    await new Promise((resolve) => setImmediate(resolve))
  }
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

describe('a model that is unavailable', () => {
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
      accepts: ['answer', 'exhaust', 'cancel', 'fail', 'interrupted'],
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
})

/** Anybody of an open instance, whose credential no restart takes away. */
const OPEN: AskCaller = { id: 'open', name: 'no auth configured', scopes: ['read', 'admin', 'ingest'] }
const QUESTION = { messages: [{ role: 'user' as const, content: 'What broke?' }], session: SESSION }
const LOOK: ScriptedReply = { calls: [{ name: 'catalog', id: 'c1', arguments: {} }] }

/** Worlds over one data file and one clock, each opened when the one before it was stopped. */
function restarts() {
  const folder = mkdtempSync(join(tmpdir(), 'svc-ask-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const clock: World['clock'] = { at: T0, now: () => clock.at }
  return (replies: ScriptedReply[] = []) =>
    openAskWorld({ dataFile: join(folder, 'svc.db'), clock }).then((world) => {
      world.models.reply('m1', replies)
      return world
    })
}

describe('a turn that a restart of the service comes between', () => {
  it('waits on until the time it was told, asks once more, and has what was answered before', async () => {
    const open = restarts()
    const first = await open([LOOK, busy(600)])
    const asked = await waiting(first, OPEN)
    const { until } = await asked.wait()
    await first.close()
    // Its stream ends without an end, so that whoever reads it comes back.
    expect(asked.seen.at(-1)).toMatchObject({ type: 'wait' })
    await asked.isOver

    const second = await open([{ text: 'The database.' }])
    second.ask.takeUp()
    const told = second.frames(asked.turn, asked.seen.length, OPEN)
    await settle(second)
    expect(second.models.requests).toHaveLength(0)
    expect(await second.engine.status()).toMatchObject({
      parkedTurns: { turns: 1, until: Date.parse(until) },
      detail: expect.stringContaining('1 question to Ask waits for a model since'),
    })
    moveTo(second, until)
    const frames = await told
    // Told whole, under numbers behind those of before.
    expect(merged(frames.map(({ frame }) => frame)).map(({ type }) => type)).toEqual([
      ...['start', 'tool', 'tool_done', 'wait'],
      ...['text', 'done'],
    ])
    expect(frames[0]!.n).toBeGreaterThan(asked.seen.length)
    expect(second.models.requests).toHaveLength(1)
    const said = second.models.requests[0]!.body.messages as { role: string }[]
    expect(said.map(({ role }) => role)).toEqual(['user', 'assistant', 'user'])
    const { turns } = await second.engine.getAskSession(SESSION, OPEN)
    expect(turns).toMatchObject([
      { id: asked.turn, state: 'answered', answer: 'The database.', parked: null },
    ])
    expect((await second.engine.status()).parkedTurns).toBeNull()
  })

  it('is answered in its conversation, though nobody reads it', async () => {
    const open = restarts()
    const first = await open([busy(600)])
    const asked = await waiting(first, OPEN)
    const { until } = await asked.wait()
    await first.close()
    const second = await open([{ text: 'The database.' }])
    second.ask.takeUp()
    await settle(second)
    second.clock.at += 5 * MINUTE
    second.time.advance(5 * MINUTE)
    await settle(second)
    moveTo(second, until)
    const state = async () => (await second.engine.getAskSession(SESSION, OPEN)).turns[0]!.state
    while ((await state()) === 'running') await settle(second)
    expect(await state()).toBe('answered')
  })

  it('and that no conversation keeps is gone on with when it is read again, and else cancelled, at no cost', async () => {
    const open = restarts()
    const first = await open([busy(600)])
    const { turn } = await first.ask.calls.ask({ messages: QUESTION.messages }, OPEN)
    const reading = first.frames(turn, 0, OPEN)
    while ((await first.engine.askTurn(turn, OPEN.id)).parked === null) await settle(first)
    await first.close()
    await reading
    const second = await open([{ text: 'The database.' }])
    second.ask.takeUp()
    await settle(second)
    second.time.advance(31_000)
    while ((await second.engine.askTurn(turn, OPEN.id)).state === 'running') await settle(second)
    expect((await second.engine.askTurn(turn, OPEN.id)).state).toBe('cancelled')
    expect(second.models.requests).toHaveLength(0)
  })

  it('in the middle of a reply asks for that again, and tells the answer once', async () => {
    const open = restarts()
    const never = new Promise<void>(() => {})
    const first = await open([LOOK, { text: 'The data base', pauseUntil: never }])
    const { turn } = await first.ask.calls.ask(QUESTION, OPEN)
    let half = () => {}
    const isHalf = new Promise<void>((resolve) => {
      half = resolve
    })
    const frame = (_n: number, { type }: AskFrame) => type === 'text' && half()
    await first.ask.calls.followAsk(turn, 0, OPEN, { frame, end: () => {} })
    await isHalf
    await first.close()
    const second = await open([{ text: 'The database.' }])
    second.ask.takeUp()
    const frames = await second.frames(turn, 0, OPEN)
    expect(merged(frames.map(({ frame: one }) => one)).filter(({ type }) => type === 'text')).toEqual([
      { type: 'text', text: 'The database.' },
    ])
    expect(await second.engine.askTurn(turn, OPEN.id)).toMatchObject({ answer: 'The database.', rounds: 2 })
  })

  it('ends with a sentence where its key was revoked, where it was asked by an older release, and after three', async () => {
    const open = restarts()
    let world = await open([busy(600)])
    const { turn: revoked } = await world.ask.calls.ask(QUESTION, MARIA)
    const { turn } = await world.ask.calls.ask({ ...QUESTION, session: `${SESSION}00` }, OPEN)
    for (let restart = 1; restart <= 4; restart++) {
      await world.close()
      world = await open()
      world.ask.takeUp()
      await world.ask.calls.cancelAsk('none', OPEN).catch(() => {})
      const { state, error } = await world.engine.askTurn(turn, OPEN.id)
      expect(state, `restart ${restart}`).toBe(restart <= 3 ? 'running' : 'failed')
      if (restart === 4)
        expect(error).toBe('the service stopped again and again while this was answered; ask again')
      expect(await world.engine.askTurn(revoked, MARIA.id)).toMatchObject({
        state: 'failed',
        error:
          'the service stopped while this was answered, and the key it was asked with is no longer there',
      })
    }
  })
})

/** A turn is read again where its reader was cut off, stopped when it is not wanted, and kept with its conversation. */
import { describe, expect, it } from 'vitest'
import type { AskFrame } from '../../../../schemas/types.ts'
import { type AskWorld, error, MARIA, merged, openAskWorld, READER, SESSION } from './ask-world.ts'

const say = (content: string) => ({ messages: [{ role: 'user' as const, content }] })
const textOf = (frames: readonly { frame: AskFrame }[]) =>
  frames.map(({ frame }) => (frame.type === 'text' ? frame.text : '')).join('')

/** A turn whose model has said half of "one two" and waits. */
async function halfway(world: AskWorld, body: object = {}) {
  let go = () => {}
  const pauseUntil = new Promise<void>((resolve) => {
    go = resolve
  })
  world.models.reply('m1', [{ text: 'one two', pauseUntil }])
  const { turn } = await world.ask.calls.ask({ ...say('count'), ...body }, MARIA)
  const seen: { n: number; frame: AskFrame }[] = []
  let half = () => {}
  const isHalf = new Promise<void>((resolve) => {
    half = resolve
  })
  const reading = await world.ask.calls.followAsk(turn, 0, MARIA, {
    frame: (n, frame) => {
      seen.push({ n, frame })
      if (frame.type === 'text') half()
    },
    end: () => {},
  })
  await isHalf
  return { turn, seen, reading, go }
}

describe('the frames of a turn', () => {
  it('go on after the last one a reader saw, without a gap and without a repeat', async () => {
    const world = await openAskWorld()
    const { turn, seen, reading, go } = await halfway(world)
    reading.stop()
    const rest = world.frames(turn, seen.at(-1)!.n)
    go()
    const all = [...seen, ...(await rest)]
    expect(all.map(({ n }) => n)).toEqual(all.map((_, i) => i + 1))
    expect(textOf(all)).toBe('one two')
    expect(all.at(-1)!.frame).toMatchObject({ type: 'done', state: 'answered' })
  })

  it('are told whole, from the start, once it has ended', async () => {
    const world = await openAskWorld()
    await world.post([error])
    world.models.reply('m1', [
      { text: 'So.', calls: [{ name: 'list_sources', id: 'c', arguments: {} }] },
      { text: 'Done.' },
    ])
    const live = await world.asked('look', { session: SESSION })
    const { turns } = await world.engine.getAskSession(SESSION, MARIA)
    const again = merged((await world.frames(turns[0]!.id, 3)).map(({ frame }) => frame))
    const trimmed = (frames: AskFrame[]) =>
      frames.map((frame) => (frame.type === 'text' ? { ...frame, text: frame.text.trim() } : frame))
    expect(trimmed(again)).toEqual(trimmed(live))
    await expect(world.frames(turns[0]!.id, 0, READER)).rejects.toMatchObject({ code: 'not_found' })
  })
})

describe('a reply that says nothing', () => {
  const look = { calls: [{ name: 'list_sources', id: 'c', arguments: {} }] }

  it.each([
    [[look, { text: '' }, { text: 'Two.' }], 'Two.', null],
    [[look, { text: '' }, { text: ' ' }], '', 'the model ended without a word; ask again'],
  ])('is asked for once more, and is no answer after that', async (script, answer, error) => {
    const world = await openAskWorld()
    world.models.reply('m1', script)
    await world.asked('count', { session: SESSION })
    const { turns } = await world.engine.getAskSession(SESSION, MARIA)
    expect(turns[0]).toMatchObject({ answer, error })
    expect(world.models.requests.at(-1)!.body.messages.at(-1)).toMatchObject({ role: 'user' })
    expect(world.models.requests).toHaveLength(3)
  })
})

describe('a turn is stopped', () => {
  it('by who asked, and what there is of the answer is kept; nobody else stops it', async () => {
    const world = await openAskWorld()
    const { turn, seen } = await halfway(world, { session: SESSION })
    await expect(world.ask.calls.cancelAsk(turn, READER)).rejects.toMatchObject({ code: 'not_found' })
    await world.ask.calls.cancelAsk(turn, MARIA)
    expect(seen.at(-1)!.frame).toMatchObject({ type: 'done', state: 'cancelled' })
    const { turns, running } = await world.engine.getAskSession(SESSION, MARIA)
    expect(turns).toMatchObject([
      { state: 'cancelled', answer: textOf(seen), frames: [{ type: 'text', text: textOf(seen).trim() }] },
    ])
    expect([running, textOf(seen)]).toEqual([null, 'one '])
    await expect(world.ask.calls.cancelAsk(turn, MARIA)).rejects.toMatchObject({ code: 'wrong_state' })
  })

  it('when nobody has read it for half a minute, and not before', async () => {
    const world = await openAskWorld()
    const { turn, reading } = await halfway(world)
    reading.stop()
    world.time.advance(29_000)
    const again = await world.ask.calls.followAsk(turn, 0, MARIA, { frame: () => {}, end: () => {} })
    world.time.advance(29_000)
    again.stop()
    expect((await world.engine.askTurn(turn, MARIA.id)).state).toBe('running')
    world.time.advance(30_000)
    expect((await world.frames(turn)).at(-1)!.frame).toMatchObject({ type: 'done', state: 'cancelled' })
  })

  it('when it takes longer than 5 minutes, which is told', async () => {
    const world = await openAskWorld()
    const answers: (() => void)[] = []
    world.models.reply('m1', (_request, n) => ({
      calls: [{ name: 'list_sources', arguments: {} }],
      delayUntil: new Promise<void>((resolve) => {
        answers[n] = resolve
      }),
    }))
    const { turn } = await world.ask.calls.ask(say('wait'), MARIA)
    const all = world.frames(turn)
    // No call of its model takes too long by itself.
    for (let n = 0; n < 3; n++) {
      while (!answers[n]) await new Promise((resolve) => setImmediate(resolve))
      world.time.advance(100_000)
      answers[n]!()
    }
    const last = (await all).at(-1)!.frame
    expect(last).toMatchObject({ type: 'error', detail: expect.stringContaining('5 minutes') })
    expect((await world.engine.askTurn(turn, MARIA.id)).state).toBe('failed')
  })

  it('when the service stops, and left as it is for the next start', async () => {
    const world = await openAskWorld()
    const { turn, seen } = await halfway(world)
    await world.ask.stop()
    expect(seen.at(-1)!.frame).toMatchObject({ type: 'text' })
    expect((await world.engine.askTurn(turn, MARIA.id)).state).toBe('running')
  })
})

describe('a conversation', () => {
  it('goes on from what is stored, is replaced from a turn on, and is its credential’s alone', async () => {
    const world = await openAskWorld()
    world.models.reply('m1', (_request, n) => ({ text: `answer ${n}` }))
    await world.asked('first question\nwith more', { session: SESSION })
    await world.asked('second', { session: SESSION })
    const asked = () =>
      world.models.requests
        .at(-1)!
        .body.messages.map(({ content }: { content: unknown }) =>
          typeof content === 'string' ? content : (content as { text: string }[])[0]!.text,
        )
    expect(asked()).toEqual(['first question\nwith more', 'answer 0', 'second'])
    const { turns } = await world.engine.getAskSession(SESSION, MARIA)
    await world.asked('another second', { session: SESSION, replaces: turns[1]!.id })
    expect(asked()).toEqual(['first question\nwith more', 'answer 0', 'another second'])
    expect(await world.engine.listAskSessions(MARIA)).toMatchObject({
      sessions: [{ id: SESSION, title: 'first question', turns: 2, running: null }],
    })

    expect((await world.engine.listAskSessions(READER)).sessions).toEqual([])
    await expect(world.engine.getAskSession(SESSION, READER)).rejects.toMatchObject({ code: 'not_found' })
    await expect(world.engine.deleteAskSession(SESSION, READER)).rejects.toMatchObject({ code: 'not_found' })
    await world.engine.saveAskSession(SESSION, { title: 'mine', state: '{}' }, READER)
    await world.engine.saveAskSession(SESSION, { title: 'x'.repeat(200) }, MARIA)
    const { title, state } = await world.engine.getAskSession(SESSION, MARIA)
    expect([title, state]).toEqual(['x'.repeat(120), null])
    await world.engine.deleteAskSession(SESSION, MARIA)
    await expect(world.engine.askTurn(turns[0]!.id, MARIA.id)).rejects.toMatchObject({ code: 'not_found' })
    expect((await world.engine.getAskSession(SESSION, READER)).title).toBe('mine')
  })

  it('is answered one turn at a time, and a credential asks four at once', async () => {
    const world = await openAskWorld()
    const forever = new Promise(() => {})
    world.models.reply('m1', () => ({ delayUntil: forever }))
    const begin = (body: object) => world.ask.calls.ask({ ...say('wait'), ...body }, MARIA)
    await begin({ session: SESSION })
    await expect(begin({ session: SESSION })).rejects.toMatchObject({ code: 'wrong_state' })
    await Promise.all([begin({}), begin({}), begin({})])
    await expect(begin({})).rejects.toMatchObject({ code: 'too_many' })
  })

  it('is bounded: so many are kept, its state and its turns are of a size', async () => {
    const { engine } = await openAskWorld()
    const save = (id: string, body: object) => engine.saveAskSession(id, body, MARIA)
    await expect(save('nothex', {})).rejects.toMatchObject({ code: 'invalid' })
    await expect(save(SESSION, { state: 'x'.repeat(2_000_001) })).rejects.toMatchObject({ code: 'too_large' })
    for (let n = 0; n < 51; n++) await save(String(n).padStart(16, '0'), { title: `t${n}` })
    expect((await engine.listAskSessions(MARIA)).sessions).toHaveLength(50)

    const turn = {
      owner: MARIA.id,
      session: SESSION,
      replaces: null,
      mode: 'ask' as const,
      step: null,
      question: 'x'.repeat(2_000_001),
      given: [],
      provider: 'p',
      model: 'm',
      asker: MARIA,
    }
    const { id } = await engine.beginTurn(turn)
    await engine.endTurn(id, { event: 'answer', answer: 'yes', error: null })
    await expect(engine.beginTurn(turn)).rejects.toMatchObject({ code: 'too_large' })
  })
})

describe('what is asked is refused', () => {
  it.each([
    ['build without a step', { mode: 'build' as const }, MARIA, 'invalid'],
    ['a step without build', { step: 'watch' as const }, MARIA, 'invalid'],
    ['build by who may only read', { mode: 'build' as const, step: 'watch' as const }, READER, 'forbidden'],
    [
      'no question at the end',
      { messages: [{ role: 'assistant' as const, content: 'hi' }] },
      MARIA,
      'invalid',
    ],
    [
      'too much of it',
      { messages: Array.from({ length: 7 }, () => ({ role: 'user' as const, content: 'x'.repeat(32_000) })) },
      MARIA,
      'too_large',
    ],
    ['in a conversation that no row could keep', { session: 'zz' }, MARIA, 'invalid'],
    ['in one of fifteen digits', { session: SESSION.slice(0, 15) }, MARIA, 'invalid'],
    ['in place of a turn that is not there', { session: SESSION, replaces: 'ask_1' }, MARIA, 'not_found'],
  ])('%s', async (_, body, caller, code) => {
    const { ask } = await openAskWorld()
    await expect(ask.calls.ask({ ...say('hello'), ...body }, caller)).rejects.toMatchObject({ code })
  })

  it('where the day’s budget of agents does not allow the call', async () => {
    const world = await openAskWorld()
    await world.engine.saveAgentSettings({ daily_budget_usd: 0.000001 })
    const frames = await world.asked('hello')
    expect(frames.at(-1)).toMatchObject({ type: 'error', detail: expect.stringContaining('24 hours') })
    expect(world.models.requests).toHaveLength(0)
  })

  it('where calls that were cut off have used it up, whatever became of what they were asked for', async () => {
    const world = await openAskWorld()
    const { ask, engine, clock } = world
    const { turn } = await halfway(world, { session: SESSION })
    await ask.calls.cancelAsk(turn, MARIA)
    await engine.deleteAskSession(SESSION, MARIA)
    await engine.saveAgentSettings({ daily_budget_usd: 0.000001 })
    const spent = async () => {
      const detail = String(
        (await world.asked('hello')).map((frame) => ('detail' in frame ? frame.detail : '')).at(-1),
      )
      return Number(/\$([\d.]+) is spent of/.exec(detail)![1])
    }
    // It may have been paid: as much as was reserved for it.
    expect(await spent()).toBeGreaterThan(0.001)
    clock.at += 24 * 60 * 60_000 + 1
    expect(await spent()).toBe(0)
  })
})

describe('a conversation that is longer than what is told of it', () => {
  const textsOf = ({ body }: { body: { messages: { role: string; content: unknown }[] } }) =>
    body.messages.map(({ content }) => JSON.stringify(content))
  const LEFT_OUT = 'What was said first in this conversation is left out here'

  it('begins with the word that more was said, once the newest 20 questions are not all', async () => {
    const world = await openAskWorld()
    world.models.reply('m1', ({ body }) => ({ text: `answer to ${textsOf({ body }).length}` }))
    const leftOut = async () => (await world.engine.getAskSession(SESSION, MARIA)).left_out
    for (let n = 1; n <= 20; n++) await world.asked(`question ${n}`, { session: SESSION })
    expect(await leftOut()).toBeUndefined()
    await world.asked('question 21', { session: SESSION })
    expect(await leftOut()).toBe(1)
    await world.asked('question 22', { session: SESSION })
    expect(await leftOut()).toBe(2)
    const [at21, at22] = world.models.requests.slice(-2).map(textsOf)
    expect(at21).toHaveLength(41)
    expect(at21![0]).toContain('question 1')
    expect(at22).toHaveLength(43)
    expect(at22![0]).toContain(LEFT_OUT)
    expect(at22![2]).toContain('question 2"')
    expect(at22!.at(-1)).toContain('question 22')
  })

  it('is answered by a model that has no room for it: what was said first is told no more, then none of it', async () => {
    const world = await openAskWorld()
    world.models.reply('m1', [{ text: 'one' }, { text: 'two' }, { text: 'three' }])
    for (let n = 1; n <= 3; n++) await world.asked(`question ${n}`, { session: SESSION })
    let room = 5
    world.models.reply('m1', ({ body }) =>
      body.messages.length > room ? { status: 400, error: 'prompt is too long' } : { text: 'four' },
    )
    const frames = await world.asked('question 4', { session: SESSION })
    expect(frames.at(-1)).toMatchObject({ type: 'done', state: 'answered' })
    const [first, , question, ...rest] = textsOf(world.models.requests.at(-1)!)
    expect([first, question]).toEqual([
      expect.stringContaining(LEFT_OUT),
      expect.stringContaining('question 3'),
    ])
    expect(rest.at(-1)).toContain('question 4')
    room = 3
    expect((await world.asked('question 5', { session: SESSION })).at(-1)).toMatchObject({ type: 'done' })
    expect(textsOf(world.models.requests.at(-1)!)[2]).toContain('question 5')
  })
})

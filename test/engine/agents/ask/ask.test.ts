/** Ask answers by reading the instance as the credential that asks, and says how it ended. */
import { describe, expect, it } from 'vitest'
import { ROUNDS } from '../../../../engine/agents/ask/calls.ts'
import { error, MARIA, openAskWorld, READER, SESSION } from './ask-world.ts'

const look = { name: 'read', id: 'c1', arguments: { selector: { service: 'checkout' } } }

describe('a question', () => {
  it.each(['providera', 'compatible'] as const)(
    'is answered over what the tools show, told as it comes, with its tools, tokens and cost (%s)',
    async (kind) => {
      const world = await openAskWorld({ kind })
      const [id] = await world.post([error])
      world.models.reply('m1', [
        { text: 'Let me look.', calls: [look] },
        { text: `checkout cannot pay (${id}).`, usage: { input_tokens: 100, output_tokens: 10 } },
      ])
      const frames = await world.asked('What is wrong?')
      expect(frames).toMatchObject([
        { type: 'start', mode: 'ask', model: 'm1', session: null },
        { type: 'text', text: 'Let me look.' },
        { type: 'tool', id: 'c1', name: 'read', input: look.arguments },
        { type: 'tool_done', id: 'c1', ok: true },
        { type: 'text', text: '\n\ncheckout cannot pay (evt_1).' },
        { type: 'done', state: 'answered', rounds: 2, input_tokens: 110, output_tokens: 15 },
      ])
      expect((frames.at(-1) as { cost_usd: number }).cost_usd).toBeCloseTo(0.0026)
      expect((frames[3] as { preview: string }).preview).toContain('cannot pay')
      const shown = JSON.stringify(world.models.requests.at(-1)!.body.messages)
      expect(shown).toMatch(/<<<data (\w{16})\\+nevt_1 .*cannot pay.*data \1>>>/)
      const used = (await world.engine.modelUsage(1)).by_surface
      expect(used).toMatchObject({ agent: { calls: 0 }, ask: { calls: 2, input_tokens: 110 } })
    },
  )

  it('after the clock was set back is answered over what has come since, and before', async () => {
    const world = await openAskWorld()
    await world.post([error])
    world.clock.at -= 3_600_000
    await world.post([{ ...error, msg: 'still cannot pay' }])
    world.models.reply('m1', [{ calls: [look] }, { text: 'checkout cannot pay.' }])
    const frames = await world.asked('What is wrong?')
    const { preview } = frames.find((frame) => frame.type === 'tool_done') as { preview: string }
    expect(preview).toMatch(/evt_1 [\s\S]*evt_2 /)
  })

  it('that names no provider is refused with what to set', async () => {
    const world = await openAskWorld({ provider: false })
    await expect(world.asked('hello')).rejects.toMatchObject({
      code: 'invalid',
      message: expect.stringContaining('Settings, Model providers'),
    })
  })

  it('whose rounds are used up is closed with a word that says so', async () => {
    const world = await openAskWorld()
    world.models.reply('m1', ({ body }, n) =>
      body.tool_choice?.type === 'none' ? { text: 'I saw no end.' } : { calls: [{ ...look, id: `c${n}` }] },
    )
    const frames = await world.asked('Look at everything')
    expect(world.models.requests).toHaveLength(ROUNDS + 1)
    expect(frames.slice(-2)).toMatchObject([
      {
        type: 'text',
        text: expect.stringMatching(/^\s*I saw no end\.[\s\S]*rounds of one answer are used up/),
      },
      { type: 'done', state: 'exhausted' },
    ])
  })

  it('tells the reason where the model cannot be asked, and keeps it', async () => {
    const world = await openAskWorld()
    world.models.reply('m1', [{ status: 400, error: 'no such thing' }])
    const frames = await world.asked('hello', { session: SESSION })
    expect(frames.at(-1)).toEqual({ type: 'error', detail: expect.stringContaining('no such thing') })
    const { turns } = await world.engine.getAskSession(SESSION, MARIA)
    expect(turns).toMatchObject([{ state: 'failed', error: expect.stringContaining('no such thing') }])
  })

  it('answers a tool that refuses, is not there or has wrong arguments with a sentence, and goes on', async () => {
    const world = await openAskWorld()
    world.models.reply('m1', [
      {
        calls: [
          { name: 'detect_template', id: 'a', arguments: { key: 'x' } },
          { name: 'create_source', id: 'b', arguments: { name: 'x' } },
          { name: 'stats', id: 'c', arguments: { by: ['a', 'b'] } },
          { name: 'describe', id: 'd', arguments: { handle: 'source:nowhere' } },
          { name: 'read', id: 'e', arguments: '{"selector": oops' },
        ],
      },
      { text: 'It cannot be done.' },
    ])
    const frames = await world.asked('Make a source', {}, READER)
    const said = Object.fromEntries(
      frames.flatMap((frame) => (frame.type === 'tool_done' ? [[frame.id, frame.preview]] : [])),
    )
    expect(said.a).toContain("lacks the 'admin' scope")
    expect(said.b).toContain('no tool is named create_source')
    expect(said.c).toContain('by must be')
    expect(said.d).toContain('nowhere')
    expect(said.e).toContain('the arguments of read are no JSON object')
    expect(await world.engine.listSources()).toHaveLength(1)
  })

  it('takes arguments where it is plain what is meant, as runs and svc mcp do', async () => {
    const world = await openAskWorld()
    await world.post({ service: 'checkout', type: 'error', msg: 'cannot pay' })
    const calls: [string, Record<string, unknown>, string][] = [
      ['read', { selector: 'service=checkout', event_types: 'error', project: null }, 'cannot pay'],
      ['read', { sources: '["app"]', from: world.clock.at / 1_000 - 60, text: '' }, 'cannot pay'],
      ['stats', { by: ['service'], where: '{"service":"checkout"}', top: '3' }, 'checkout'],
    ]
    world.models.reply('m1', [
      { calls: calls.map(([name, args], i) => ({ name, id: `c${i}`, arguments: args })) },
      { text: 'It cannot pay.' },
    ])
    const frames = await world.asked('What broke?')
    const said = Object.fromEntries(
      frames.flatMap((frame) => (frame.type === 'tool_done' ? [[frame.id, frame.preview]] : [])),
    )
    for (const [i, [, , answered]] of calls.entries()) expect(said[`c${i}`]).toContain(answered)
  })

  it('is told of events that its answer names and that there are not', async () => {
    const world = await openAskWorld()
    await world.post({ service: 'checkout', type: 'error', msg: 'cannot pay' })
    world.models.reply('m1', [
      { text: 'It broke at evt_1 and evt_99, as evt_7 says, and again at evt_99.' },
      { text: 'There is no evt_4321 either.' },
    ])
    const [said, again] = [await world.asked('What broke?'), await world.asked('Where is evt_4321?')]
    const textOf = (frames: typeof said) =>
      frames.flatMap((frame) => (frame.type === 'text' ? [frame.text] : [])).join('')
    const word =
      '*svc has no event evt_99 or evt_7 that you may read: do not rely on what is said of it here.*'
    expect(textOf(said)).toBe(`It broke at evt_1 and evt_99, as evt_7 says, and again at evt_99.\n\n${word}`)
    // A reader that comes later is told it, too.
    expect(world.ended[0]!.turn.frames.at(-1)).toEqual({ type: 'text', text: `\n\n${word}` })
    // What a person named is theirs to know.
    expect(textOf(again)).toBe('There is no evt_4321 either.')
  })

  it('has in its answer no call that the model wrote as text', async () => {
    const world = await openAskWorld()
    world.models.reply('m1', [
      { text: '{"name":"list_sources","arguments":{}}' },
      { text: 'There is one source.' },
    ])
    const frames = await world.asked('What is there?')
    expect(frames.map(({ type }) => type)).toEqual([
      ...['start', 'text', 'again', 'tool', 'tool_done', 'text', 'done'],
    ])
    expect(world.ended[0]!.turn.answer).toBe('There is one source.')
  })

  it('looks up findings, firings and runs by an entity as Ask itself writes it', async () => {
    const world = await openAskWorld()
    await world.trigger({ condition: { event: 'any' }, cooldown: '1s' })
    await world.post([error])
    world.models.reply('m1', [
      {
        calls: [
          { name: 'firings', id: 'word', arguments: { entity: 'service=checkout' } },
          { name: 'firings', id: 'value', arguments: { entity: 'checkout' } },
        ],
      },
      { text: 'It fired once.' },
    ])
    const frames = await world.asked('Did checkout fire?')
    const [word, value] = frames.flatMap((frame) => (frame.type === 'tool_done' ? [frame.preview] : []))
    const within = (preview: string) => preview.replace(/data \w{16}/g, '')
    expect(word).toContain('checkout')
    expect(within(word!)).toBe(within(value!))
  })
})

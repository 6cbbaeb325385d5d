/** How long a reply may take, and what ends one in chat completions (issue 17, part 3.2 and 3.3). */
import { expect, it } from 'vitest'
import { IDLE_MS, KINDS, sleeping, world } from './setup.ts'

const events = (...chunks: object[]) => ({
  headers: { 'content-type': 'text/event-stream' },
  body: [...chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`), 'data: [DONE]\n\n'].join(''),
})
const chunk = (delta: object, finish_reason: string | null = null) => ({
  id: 'c',
  object: 'chat.completion.chunk',
  created: 0,
  model: 'm1',
  choices: [{ index: 0, delta, finish_reason }],
})

it.each(KINDS)('%s: a reply may take as long as it keeps coming', async (kind) => {
  const { server, ask, time } = await world(kind)
  let goOn = () => {}
  const pauseUntil = new Promise<void>((resolve) => {
    goOn = resolve
  })
  server.reply('m1', [{ text: 'one two', pauseUntil }])
  let heard = () => {}
  const begun = new Promise<void>((resolve) => {
    heard = resolve
  })
  time.advance(1)
  const reply = ask({ timeoutMs: undefined as never, onText: () => heard() })
  await begun
  // Silent for less than the bound, since something came; the whole of it takes longer.
  time.advance(IDLE_MS - 1)
  goOn()
  expect((await reply).text).toBe('one two')
})

it.each(KINDS)('%s: two minutes without a byte end a try, and two such tries the call', async (kind) => {
  const { server, ask, time } = await world(kind)
  server.reply('m1', () => ({ delayUntil: new Promise(() => {}) }))
  const failed = ask({ timeoutMs: undefined as never }).catch((error: unknown) => error)
  const asked = async (n: number) => {
    while (server.requests.length < n) await new Promise((resolve) => setImmediate(resolve))
  }
  await asked(1)
  time.advance(IDLE_MS)
  while (time.waits()[0] !== 500) await new Promise((resolve) => setImmediate(resolve))
  time.advance(500)
  await asked(2)
  time.advance(IDLE_MS)
  expect(await failed).toMatchObject({
    code: 'timeout',
    message: expect.stringContaining('nothing came for 120 s'),
    later: { waitMs: null },
  })
  expect(server.requests).toHaveLength(2)
})

it('a refusal in pieces is a refusal, though its stream ends with stop', async () => {
  const { server, ask } = await world('compatible')
  server.reply('m1', [events(chunk({ refusal: 'I will ' }), chunk({ refusal: 'not' }), chunk({}, 'stop'))])
  expect(await ask()).toMatchObject({ stop: 'refusal', text: 'I will not' })
})

it('a reply that a router ends with error is asked for again', async () => {
  const { server, ask, time } = await world('compatible')
  server.reply('m1', [events(chunk({ content: 'half' }), chunk({}, 'error')), { text: 'whole' }])
  const reply = ask()
  time.advance(await sleeping(time))
  expect((await reply).text).toBe('whole')
})

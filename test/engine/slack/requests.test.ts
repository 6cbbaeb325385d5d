/** Requests signed as Slack signs them; questions are answered by the real Ask over a scripted model. */
import { expect, it } from 'vitest'
import { eventually } from '../../eventually.ts'
import { buttonsOf, CHANNEL, openSlackWorld } from './slack-world.ts'

it('a request is taken only with the signature of its bytes and a time of now', async () => {
  const { calls, signed: sign, clock } = await openSlackWorld()
  const inbound = { take: calls.slackRequest }
  const body = JSON.stringify({ type: 'url_verification', challenge: 'abc' })
  expect(await inbound.take(sign(body))).toEqual({ challenge: 'abc' })
  const bad = { code: 'bad_signature', message: expect.stringMatching(/^invalid Slack signature: /) }
  const { signature, ...unsigned } = sign(body)
  await expect(inbound.take({ ...unsigned, signature: undefined })).rejects.toMatchObject(bad)
  await expect(inbound.take({ ...sign(body), timestamp: undefined })).rejects.toMatchObject(bad)
  await expect(inbound.take({ ...unsigned, signature, raw: Buffer.from(`${body} `) })).rejects.toMatchObject(
    bad,
  )
  const flipped = signature.replace(/.$/, (last) => (last === '0' ? '1' : '0'))
  await expect(inbound.take({ ...unsigned, signature: flipped })).rejects.toMatchObject(bad)
  for (const off of [-301_000, 301_000])
    await expect(inbound.take(sign(body, clock.at + off))).rejects.toMatchObject(bad)
  expect(await inbound.take(sign(body, clock.at - 299_000))).toEqual({ challenge: 'abc' })
  const without = await openSlackWorld({ secret: null })
  await expect(without.request(body)).rejects.toMatchObject({ code: 'unavailable' })
})

it('a change of channels has the list read anew, and buttons that open a page need no answer', async () => {
  const { request, slack, calls } = await openSlackWorld()
  await calls.slackChannels()
  const reads = slack.calls('conversations.list')
  const event = (type: string) => JSON.stringify({ type: 'event_callback', event_id: type, event: { type } })
  expect(await request(event('message'))).toEqual({})
  await calls.slackChannels()
  expect(slack.calls('conversations.list')).toBe(reads)
  expect(await request(event('channel_created'))).toEqual({})
  await calls.slackChannels()
  expect(slack.calls('conversations.list')).toBeGreaterThan(reads)
  expect(await request(new URLSearchParams({ payload: '{}' }).toString())).toEqual({})
})

it('a command is taken at once, and answered in a thread that it begins', async () => {
  const { request, command, slack, models, time } = await openSlackWorld()
  models.reply('m1', [{ text: 'The deploy **broke** it. <!channel>' }])
  const asked = command('ask what broke?')
  expect(await request(asked)).toEqual({ response_type: 'ephemeral', text: 'Looking into it…' })
  await slack.until(() => slack.updated.length === 1)
  const [head, answer] = slack.messages(CHANNEL)
  expect(JSON.stringify(head!.blocks)).toContain('*what broke?*')
  expect(answer!.thread_ts).toBe(head!.ts)
  expect(JSON.stringify(answer!.blocks)).toContain('The deploy *broke* it. &lt;!channel&gt;')
  expect(buttonsOf(answer!)).toEqual([])
  // Slack sends a request again that it thinks was lost.
  expect(await request(asked)).toEqual({})
  time.advance(10_000)
  expect(models.requests).toHaveLength(1)
})

it('where the bot may not post, the answer goes to the address of the command', async () => {
  const { request, command, slack, hooks, models } = await openSlackWorld()
  models.reply('m1', [{ text: 'The deploy broke it.' }])
  slack.says = (method) =>
    method === 'chat.postMessage' ? { body: { ok: false, error: 'channel_not_found' } } : null
  await request(command('what broke?'))
  await hooks.arrived(1)
  expect(JSON.parse(hooks.received[0]!.body)).toMatchObject({
    ...{ response_type: 'in_channel', replace_original: true, text: 'what broke?' },
  })
  expect(hooks.received[0]!.body).toContain('The deploy broke it.')
})

it('a mention is answered in its thread, with what was said there before', async () => {
  const { request, mention, slack, models, answered } = await openSlackWorld()
  models.reply('m1', [{ text: 'At noon.' }, { text: 'Payments.' }])
  await request(mention('when did it break?', { ts: '1700000200.000001' }))
  await answered()
  await request(mention('and what?', { ts: '1700000300.000001', thread_ts: '1700000200.000001', user: 'U2' }))
  await answered()
  expect(slack.messages(CHANNEL).map(({ thread_ts }) => thread_ts)).toEqual([
    '1700000200.000001',
    '1700000200.000001',
  ])
  expect(JSON.stringify(slack.messages(CHANNEL).map(({ blocks }) => blocks))).toMatch(/At noon.*Payments/)
  const second = JSON.stringify(models.requests[1]!.body)
  expect(second).toContain('when did it break?')
  expect(second).toContain('At noon.')
  expect(second).not.toContain('U0BOT')
})

it('an answer is posted at once and edited as it grows, every 1.5 s at most, later where Slack asks for that', async () => {
  const { request, mention, slack, models, time, answered } = await openSlackWorld()
  let goOn = () => {}
  const pauseUntil = new Promise<void>((go) => {
    goOn = go
  })
  models.reply('m1', [{ text: `At noon. ${'It broke then, after the deploy. '.repeat(20)}`, pauseUntil }])
  /** Manual milliseconds at which Slack was asked to edit. */
  const edits: number[] = []
  slack.says = (method) => {
    if (method !== 'chat.update') return null
    edits.push(time.now())
    return edits.length === 1 ? { status: 429, headers: { 'retry-after': '7' }, body: '' } : null
  }
  const posted = time.now()
  await request(mention('when?'))
  await slack.until(() => slack.posted.length === 1)
  expect(slack.posted[0]!.text).toBe('Looking into it…')
  const edited = (n: number) =>
    eventually(() => {
      if (edits.length < n) time.advance(500)
      expect(edits.length).toBe(n)
    })
  await edited(2)
  expect(edits[0]! - posted).toBeGreaterThanOrEqual(1_500)
  expect(edits[1]! - edits[0]!).toBeGreaterThanOrEqual(7_000)
  await slack.until(() => slack.updated.length === 1)
  const grown = JSON.stringify(slack.messages(CHANNEL)[0]!.blocks)
  expect(grown).toContain('At noon.')
  expect(grown).toContain('Looking into it…')
  goOn()
  await answered()
  const whole = JSON.stringify(slack.messages(CHANNEL)[0]!.blocks)
  expect(whole.length).toBeGreaterThan(grown.length)
  expect(whole).not.toContain('Looking into it…')
  expect(slack.posted).toHaveLength(1)
})

it('what Slack sends again with x-slack-retry-num is answered once, also by the next start', async () => {
  const { request, mention, slack, models, open, signed } = await openSlackWorld()
  models.reply('m1', [{ text: 'At noon.' }, { text: 'Twice.' }])
  const asked = mention('when?')
  await Promise.all([request(asked), request(asked), request(asked)])
  await slack.until(() => slack.updated.length === 1)
  expect(await open().calls.slackRequest(signed(asked))).toEqual({})
  expect(models.requests).toHaveLength(1)
  expect(slack.posted).toHaveLength(1)
})

it('whoever may not ask is told so alone', async () => {
  const { request, mention, command, calls, slack, models } = await openSlackWorld()
  await calls.saveSlackPeople({ people: [{ user: 'U1', rights: 'read' }], everyone: 'none' })
  expect((await request(command('what?', { user_id: 'U2' }))).text).toContain('the right “read”')
  await request(mention('what?', { user: 'U2' }))
  await slack.until(() => slack.whispered.length === 1)
  expect(slack.whispered[0]).toMatchObject({ channel: CHANNEL, user: 'U2' })
  await calls.bindSlackTeam({ team_id: 'T2', team_name: 'Other' })
  expect((await request(command('what?'))).text).toContain('for the workspace Other alone')
  expect(models.requests).toHaveLength(0)
})

it('what cannot be answered is said, and a person asks 50 times a day, also over a start', async () => {
  const world = await openSlackWorld()
  const { request, command, slack, models, clock, open, signed } = world
  expect((await request(command('help'))).text).toContain('Ask what happened: /svc')
  models.reply('m1', () => ({ status: 400 }))
  await request(command('what broke?'))
  await slack.until(() => slack.updated.length === 1)
  expect(slack.updated[0]!.text).toContain('That could not be answered')
  for (let n = 1; n < 50; n++) {
    await request(command('again?'))
    await slack.until(() => slack.updated.length === n + 1)
  }
  const told = async (body: string) => (await open().calls.slackRequest(signed(body))).text
  expect(await told(command('again?'))).toContain('50 questions in 24 hours')
  expect(await told(command('again?', { user_id: 'U2' }))).toBe('Looking into it…')
  clock.at += 86_400_001
  expect(await told(command('again?'))).toBe('Looking into it…')
})

it('a question that a stop came between is answered by the next start, in the message that is there', async () => {
  const { request, mention, slack, models, open, opened, engine, time } = await openSlackWorld()
  models.reply('m1', [{ text: 'At noon.' }])
  slack.says = (method) => (method === 'chat.update' ? { status: 503, body: 'down' } : null)
  await request(
    mention('when did <https://ci.example/1|build 1> &amp; <@U2|mara> break?', { ts: '1700000400.000001' }),
  )
  await slack.until(() => slack.calls('chat.update') === 1)
  await opened.answers.stop()
  expect(await engine.openSlackAnswers()).toMatchObject([
    { question: 'when did build 1 (https://ci.example/1) & @mara break?', channel: CHANNEL },
  ])
  slack.says = () => null
  const next = open()
  await next.answers.takeUp()
  await slack.until(() => slack.updated.length === 1)
  expect(slack.posted).toHaveLength(1)
  expect(JSON.stringify(slack.messages(CHANNEL)[0]!.blocks)).toContain('At noon.')
  time.advance(1)
  await next.answers.stop()
  expect(await engine.openSlackAnswers()).toEqual([])
})

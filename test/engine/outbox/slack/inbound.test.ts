/** Requests signed as Slack signs them; questions are answered by the real Ask over a scripted model. */
import { createHmac } from 'node:crypto'
import { expect, it, onTestFinished } from 'vitest'
import { createEgress } from '../../../../engine/net/fetch.ts'
import { createSlackInbound } from '../../../../engine/outbox/slack-inbound.ts'
import { openAskWorld } from '../../agents/ask/ask-world.ts'
import { say, startReceiver } from '../../net/egress/receiver.ts'

const SECRET = 'signing-secret-of-the-app'

async function open({ secret = SECRET }: { secret?: string | null } = {}) {
  const world = await openAskWorld()
  const { clock, models, ask, time } = world
  const receiver = await startReceiver(say(200))
  const egress = createEgress({ allowPrivate: true, timers: time })
  onTestFinished(async () => {
    egress.close()
    await receiver.close()
  })
  let dropped = 0
  const inbound = createSlackInbound({
    secret: async () => secret,
    ask: ask.calls,
    onChannels: () => dropped++,
    ...{ egress, clock, timers: time },
    onError: (error) => {
      throw error
    },
  })
  const sign = (body: string, at = clock.at) => {
    const timestamp = String(Math.floor(at / 1_000))
    const made = createHmac('sha256', SECRET).update(`v0:${timestamp}:${body}`).digest('hex')
    return { raw: Buffer.from(body), timestamp, signature: `v0=${made}` }
  }
  let n = 0
  const command = (text: string, more = {}) =>
    new URLSearchParams({
      ...{ command: '/svc', text, team_id: 'T1', user_id: 'U1', user_name: 'maria' },
      ...{ trigger_id: `trigger.${n++}`, response_url: `${receiver.url}response` },
      ...more,
    }).toString()
  return { ...world, receiver, inbound, sign, command, dropped: () => dropped, models }
}

it('a request is taken only with the signature of its bytes and a time of now', async () => {
  const { inbound, sign, clock } = await open()
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
  const { inbound: without, sign: signed } = await open({ secret: null })
  await expect(without.take(signed(body))).rejects.toMatchObject({ code: 'unavailable' })
})

it('a change of channels has the list read anew, and buttons need no answer', async () => {
  const { inbound, sign, dropped } = await open()
  const event = (type: string) => JSON.stringify({ type: 'event_callback', event: { type } })
  expect(await inbound.take(sign(event('channel_created')))).toEqual({})
  expect(await inbound.take(sign(event('message')))).toEqual({})
  expect(dropped()).toBe(1)
  expect(await inbound.take(sign(new URLSearchParams({ payload: '{}' }).toString()))).toEqual({})
})

it('a question is taken at once, and its answer is posted where Slack said', async () => {
  const { inbound, sign, command, receiver, models } = await open()
  models.reply('m1', [{ text: 'The deploy **broke** it. <!channel>' }])
  const asked = command('ask what broke?')
  expect(await inbound.take(sign(asked))).toEqual({ response_type: 'ephemeral', text: 'Looking into it…' })
  await receiver.arrived(1)
  const body = JSON.parse(receiver.received[0]!.body) as { blocks: unknown }
  expect(body).toMatchObject({ response_type: 'in_channel', replace_original: true, text: 'what broke?' })
  expect(JSON.stringify(body.blocks)).toContain('The deploy *broke* it. &lt;!channel&gt;')
  // Slack sends a request again that it thinks was lost.
  expect(await inbound.take(sign(asked))).toEqual({})
  expect(models.requests).toHaveLength(1)
})

it('what cannot be answered is told to whoever asked alone, and a person asks 50 times a day', async () => {
  const { inbound, sign, command, receiver, models, clock } = await open()
  expect((await inbound.take(sign(command('help')))).text).toContain('Ask what happened: /svc')
  models.reply('m1', () => ({ status: 400 }))
  await inbound.take(sign(command('what broke?')))
  await receiver.arrived(1)
  expect(JSON.parse(receiver.received[0]!.body)).toMatchObject({
    response_type: 'ephemeral',
    text: expect.stringContaining('That could not be answered'),
  })
  for (let n = 1; n < 50; n++) await inbound.take(sign(command('again?')))
  expect((await inbound.take(sign(command('again?')))).text).toContain('50 questions in 24 hours')
  expect((await inbound.take(sign(command('again?', { user_id: 'U2' })))).text).toBe('Looking into it…')
  clock.at += 86_400_001
  expect((await inbound.take(sign(command('again?')))).text).toBe('Looking into it…')
  // Each of them is told what came of it.
  await receiver.arrived(52)
})

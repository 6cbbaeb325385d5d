/** Settings of Slack over HTTP: who may, what is answered, and that no secret ever leaves. */
import { createHmac } from 'node:crypto'
import { expect, it, onTestFinished } from 'vitest'
import { emptySlackEnvironment } from '../../engine/outbox/slack-api.ts'
import { slackServer, TOKEN } from '../engine/outbox/slack/slack-server.ts'
import { startInstance } from './instance.ts'

it('the bot token and the signing secret go in and never out', async () => {
  const slack = await slackServer()
  const svc = await startInstance({ secured: true, slack: { ...emptySlackEnvironment, apiUrl: slack.url } })
  onTestFinished(() => svc.stop())
  const token = '/api/settings/slack-bot-token'
  const secret = '/api/settings/slack-signing-secret'
  const nothing = { configured: false, source: '', stored: false, env_overrides: false }
  expect(await svc.get(secret)).toEqual(nothing)
  expect(await svc.get('/api/slack/channels')).toMatchObject({ channels: [], reason: 'no_token' })
  const answers = [
    await svc.put(token, { token: TOKEN }),
    await svc.put(secret, { secret: 'canary-of-the-signing' }),
    await svc.post(`${token}/test`),
    await svc.get(token),
    await svc.get(secret),
    await svc.get('/api/slack/channels'),
    await svc.get('/api/catalog/export'),
    await svc.refused('PUT', token, { token: 'canary x' }),
  ]
  expect(answers[2]).toMatchObject({ ok: true, team: 'Acme', bot: 'svc', signing_secret: true })
  expect(answers[5]).toMatchObject({
    channels: [{ name: 'alerts' }, { name: 'general' }, { name: 'secret' }],
  })
  expect(JSON.stringify(answers)).not.toContain('canary')
  expect(await svc.post('/api/slack/channels/changed')).toEqual({ ok: true })
  const { secret: reader } = await svc.post<{ secret: string }>('/api/keys', {
    name: 'reader',
    scopes: ['read'],
  })
  expect((await svc.as(reader).call('GET', '/api/slack/channels')).status).toBe(200)
  expect((await svc.as(reader).call('GET', token)).status).toBe(403)
  expect(await svc.del(token)).toMatchObject({ configured: false })

  const body = JSON.stringify({ type: 'url_verification', challenge: 'abc' })
  const at = String(Math.floor(svc.clock.at / 1_000))
  const hash = createHmac('sha256', 'canary-of-the-signing').update(`v0:${at}:${body}`).digest('hex')
  const signed = { 'x-slack-request-timestamp': at, 'x-slack-signature': `v0=${hash}` }
  const anybody = svc.as('')
  const post = (sent: string) => anybody.call('POST', '/api/slack/events', sent, signed)
  expect(await post(body)).toMatchObject({ status: 200, body: { challenge: 'abc' } })
  expect(await post(`${body} `)).toMatchObject({
    status: 401,
    body: { detail: expect.stringMatching(/^invalid Slack signature: /) },
  })
  await svc.del(secret)
  expect((await post(body)).status).toBe(503)
})

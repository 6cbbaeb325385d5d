/** Settings of Slack over HTTP: who may, what is answered, and that no secret ever leaves. */
import { expect, it, onTestFinished } from 'vitest'
import { emptySlackEnvironment } from '../../engine/slack/environment.ts'
import { slackServer, TOKEN } from '../engine/slack/slack-server.ts'
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
  expect(answers[2]).toEqual({ ok: true, team: 'Acme', bot: 'svc' })
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
})

/** Firings told to channels of Slack, before a server that speaks Slack's wire format. */
import { expect, it, onTestFinished } from 'vitest'
import { emptySlackEnvironment } from '../../engine/outbox/slack-api.ts'
import type { DeliveriesResult } from '../../schemas/types.ts'
import { slackServer, TOKEN } from '../engine/outbox/slack/slack-server.ts'
import { startSending } from './sending.ts'

const URL_OF = 'slack://channel/C0ALERTS'

async function open({
  botToken = TOKEN,
  secured = false,
}: {
  botToken?: string | null
  secured?: boolean
} = {}) {
  const slack = await slackServer()
  const env = { ...emptySlackEnvironment, apiUrl: slack.url, botToken, publicUrl: 'https://svc.example' }
  const svc = await startSending({ slack: env, secured })
  onTestFinished(() => svc.stop())
  const { ingest_key } = await svc.post<{ ingest_key: string }>('/api/sources', {
    name: 'app',
    connector: 'webhook',
    config: { event_type_field: 'type', labels: [{ name: 'service', field: 'service', primary: true }] },
  })
  const condition = { event: 'any' }
  await svc.post('/api/triggers', { name: 'errs', sources: ['app'], condition, cooldown: '1s' })
  const post = (service = 'pay') => svc.post(`/ingest/${ingest_key}`, { service, type: 'error' })
  const last = async () => (await svc.get<DeliveriesResult>('/api/deliveries')).deliveries[0]!
  return { slack, svc, post, last }
}

it('a subscribed channel is posted each firing, once', async () => {
  const { slack, svc, post, last } = await open()
  const made = await svc.post('/subscribe', { trigger: 'errs', url: URL_OF })
  expect(made).not.toHaveProperty('secret')
  expect(await svc.post('/subscribe', { trigger: 'errs', url: URL_OF })).toMatchObject({ existing: true })
  await post('<!channel>')
  await svc.settled(1)
  expect(slack.posted).toHaveLength(1)
  const [{ channel, text, blocks, all }] = slack.posted as [(typeof slack.posted)[0]]
  expect([channel, text]).toEqual([
    'C0ALERTS',
    'When an event arrives on app (service=&lt;!channel&gt;), warning',
  ])
  const { dispatch_id, delivery_id, status, recipient } = await last()
  expect(JSON.stringify(blocks)).toContain(`https://svc.example/firings/${dispatch_id}`)
  expect(JSON.stringify(blocks)).not.toMatch(/<[!@#](?!date)/)
  expect(JSON.parse(all.metadata!)).toMatchObject({ event_payload: { delivery_id } })
  expect([status, recipient]).toEqual(['delivered', expect.objectContaining({ kind: 'slack' })])
  const { subscriptions } = await svc.get<{ subscriptions: unknown[] }>('/api/subscriptions')
  // Issue 16, A13: without a name it is called what its channel is called, not by words made up for it.
  expect(subscriptions).toMatchObject([{ kind: 'slack', url: URL_OF, name: 'C0ALERTS' }])
})

it('a channel that two people subscribed is posted each firing once', async () => {
  const { slack, svc, post } = await open({ secured: true })
  const key = await svc.post<{ secret: string }>('/api/keys', { name: 'other', scopes: ['admin'] })
  for (const person of [svc, svc.as(key.secret)])
    expect(await person.post('/subscribe', { trigger: 'errs', url: URL_OF })).not.toHaveProperty('existing')
  await post()
  await svc.settled(1)
  const { deliveries } = await svc.get<DeliveriesResult>('/api/deliveries')
  expect([deliveries.length, slack.posted.length]).toEqual([1, 1])
})

it('what may pass is tried again; what would end the same fails at once, with what to do', async () => {
  const { slack, svc, post, last } = await open()
  await svc.post('/subscribe', { trigger: 'errs', url: 'slack://channel/alerts' })
  slack.says = () => ({ status: 429, headers: { 'retry-after': '30' }, body: '' })
  await post()
  await svc.settled(1)
  expect(await last()).toMatchObject({ status: 'running', reason: 'Slack asks to be called less often' })
  slack.says = () => null
  await svc.pass(40_000)
  await svc.settled(2)
  expect(await last()).toMatchObject({ status: 'delivered', reason: null })
  expect(slack.posted[0]!.channel).toBe('#alerts')
  slack.says = () => ({ body: { ok: false, error: 'is_archived' } })
  await svc.pass(2_000)
  await post('cart')
  await svc.settled(3)
  expect(await last()).toMatchObject({ status: 'failed', reason: 'the channel is archived: choose another' })
})

it('takes a bot token and scope admin', async () => {
  const { svc } = await open({ botToken: null, secured: true })
  const body = { trigger: 'errs', url: URL_OF }
  expect(await svc.refused('POST', '/subscribe', body)).toEqual([
    400,
    'url: no bot token of Slack is set; add one under Settings, Slack',
  ])
  await svc.put('/api/settings/slack-bot-token', { token: TOKEN })
  expect(await svc.refused('POST', '/subscribe', { ...body, url: 'slack://user/U1' })).toEqual([
    400,
    'url must be slack://channel/ and the id or the name of a channel',
  ])
  const { secret } = await svc.post<{ secret: string }>('/api/keys', { name: 'reader', scopes: ['read'] })
  expect(await svc.as(secret).refused('POST', '/subscribe', body)).toEqual([
    403,
    'url: a channel of Slack is subscribed with a credential of scope admin',
  ])
  await svc.post('/subscribe', body)
})

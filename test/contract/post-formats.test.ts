/** Firings and findings in the forms of chats and pagers, as those document them; their hosts are played by a receiver. */
import { afterEach, describe, expect, it } from 'vitest'
import type { Egress } from '../../engine/net/fetch.ts'
import { formatOf, formatOfNew, sendWebhook, sendWriteBack } from '../../engine/outbox/send-webhook.ts'
import type { SubscriptionCreated, SubscriptionsResult } from '../../schemas/types.ts'
import { type Receiver, say, startReceiver } from '../engine/net/egress/receiver.ts'
import { type Sending, startSending } from './sending.ts'

let svc: Sending | undefined
let receiver: Receiver | undefined
afterEach(async () => {
  await svc?.stop()
  await receiver?.close()
  svc = undefined
  receiver = undefined
})

const out = (send: Egress['send']) => ({
  egress: { send } as Egress,
  situation: () => ({ retry: 'webhook' as const, tries: 1, now: 0, random: () => 0.5 }),
  signal: new AbortController().signal,
})
const FIRING = {
  ...{ dispatch_id: 'd', delivery_id: 'del', trigger: 'errs', project: 'uc_1', kind: 'errs', key: 'pay' },
  ...{ title: 'card <b>declined</b> & @here [x](http://a.test)', reason: '12 events in 5m, at least 5' },
  ...{
    entity: { label: 'service', value: 'pay' },
    fired_at: '2026-03-01T22:00:00.000Z',
    severity: 'critical',
  },
  ...{ labels: { service: 'pay' }, events: 12, url: 'https://svc.test/incidents/3' },
}

/** What is posted. @param url of a host that takes a form of its own */
async function posted(url: string, more: object = {}) {
  let sent: { url: string; body: string; headers: Record<string, string> } | null = null
  const message = JSON.stringify({ ...FIRING, ...more })
  const outcome = await sendWebhook(
    { id: 'del', message, url, secret: null, audience: 'operator', format: null },
    out(async (request) => {
      sent = request as unknown as typeof sent
      return { ok: true, status: 204, headers: {}, body: Buffer.alloc(0) } as never
    }),
  )
  expect(outcome.event).toBe('acknowledge')
  return { ...sent!, json: JSON.parse(sent!.body) }
}

describe('an address whose host takes a form of its own', () => {
  it('is one of Slack: its three characters are escaped, nobody is mentioned, and the title is the only link', async () => {
    const { json, headers } = await posted('https://hooks.slack.com/services/T0/B0/x')
    expect(json).toEqual({
      text: [
        '*Critical* · <https://svc.test/incidents/3|card &lt;b&gt;declined&lt;/b&gt; &amp; @\u200bhere [x]\u200b(http://a.test)>',
        'service=pay · errs',
        '12 events in 5m, at least 5',
      ].join('\n'),
    })
    expect(headers).toEqual({ 'content-type': 'application/json' })
  })

  it('is one of Discord: nobody is mentioned, nothing of an event is Markdown, and it has 2,000 characters at most', async () => {
    const { json } = await posted('https://discord.com/api/webhooks/1/x', { reason: '_*'.repeat(2_000) })
    expect(json.allowed_mentions).toEqual({ parse: [] })
    expect(json.content).toContain('\\[x\\]\\(http://a.test\\)](<https://svc.test/incidents/3>)')
    expect(json.content).toHaveLength(2_000)
  })

  it('is one of Google Chat: no bracket of an event begins a link', async () => {
    const { json } = await posted('https://chat.googleapis.com/v1/spaces/A/messages?key=k&token=t', {
      url: undefined,
    })
    expect(json.text.split('\n')[0]).toBe('*Critical* · card ‹b›declined‹/b› & @here [x](http://a.test)')
  })

  it('is one of Teams: an adaptive card with a button', async () => {
    const { json } = await posted('https://acme.webhook.office.com/webhookb2/x')
    const [{ contentType, content }] = json.attachments
    expect([json.type, contentType]).toEqual(['message', 'application/vnd.microsoft.card.adaptive'])
    expect(content).toMatchObject({
      ...{ type: 'AdaptiveCard', version: '1.4' },
      body: [{ text: expect.stringContaining('Critical · card') }, { text: 'service=pay · errs' }, {}],
      actions: [{ type: 'Action.OpenUrl', url: 'https://svc.test/incidents/3' }],
    })
  })

  it('is one of PagerDuty: the key is in the body, and what is over ends what began', async () => {
    const url = 'https://events.pagerduty.com/v2/enqueue?routing_key=R0UT1NG'
    const began = await posted(url)
    const over = await posted(url, { resolves: 'd', title: 'card declined' })
    expect([began.url, over.url]).toEqual(Array(2).fill('https://events.pagerduty.com/v2/enqueue'))
    expect(began.json).toMatchObject({
      ...{ routing_key: 'R0UT1NG', event_action: 'trigger', client_url: 'https://svc.test/incidents/3' },
      payload: {
        summary: FIRING.title,
        source: 'service=pay',
        severity: 'critical',
        timestamp: FIRING.fired_at,
      },
    })
    expect(over.json).toMatchObject({ event_action: 'resolve', dedup_key: began.json.dedup_key })
    expect((await posted(url, { key: 'search' })).json.dedup_key).not.toBe(began.json.dedup_key)
  })

  it('is none of those that take any form, or only look like one', () => {
    const hosts = [
      'prod-1.westeurope.logic.azure.com',
      'hooks.slack.com.evil.test',
      'notdiscord.com',
      '127.0.0.1',
    ]
    expect(hosts.map((host) => formatOf(`https://${host}/x`))).toEqual(Array(4).fill('svc'))
    expect(formatOf('slack://channel/ops')).toBe('svc')
  })

  it.each([
    [
      'https://prod-1.westeurope.logic.azure.com:443/workflows/0f/triggers/manual/paths/invoke?sig=x',
      'teams',
    ],
    [
      'https://a.4.environment.api.powerplatform.com/powerautomate/automations/direct/workflows/0f/x',
      'teams',
    ],
    ['https://chat.acme.test/hooks/h1ddxbo7ntyzmnbt1bn8ymk7zc', 'slack'],
    ['https://rocket.acme.test/hooks/66b1c2d3e4f5a6b7c8d9/aB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW3x', 'slack'],
    ['https://ops.acme.test/hooks/deploys', 'svc'],
    ['https://prod-1.westeurope.logic.azure.com/other', 'svc'],
    ['https://discord.com/api/webhooks/1/x', 'discord'],
  ])('is guessed where it is new: %s takes %s', (url, form) => {
    expect(formatOfNew(url)).toBe(form)
  })

  it('gets findings of agents in its form, too, and any other as they are', async () => {
    const bodies: string[] = []
    const send = async ({ body }: { body?: unknown }) => {
      bodies.push(String(body))
      return { ok: true, status: 200, headers: {}, body: Buffer.alloc(0) } as never
    }
    const finding = {
      ...{
        event: 'finding',
        agent: 'first-look',
        key: 'pay',
        finding: 'The deploy broke it.',
        verdict: 'take_back',
      },
      ...{ headline: 'pay fails since v2', next_step: 'Roll back' },
    }
    for (const url of ['https://hooks.slack.com/services/T0/B0/x', 'https://ops.test/x'])
      await sendWriteBack(
        { kind: 'write_back', runId: 'r', url, token: null, fault: null, body: JSON.stringify(finding) },
        out(send as unknown as Egress['send']),
      )
    expect(JSON.parse(bodies[0]!)).toEqual({
      text: '*take_back* · pay fails since v2\npay · first-look\nNext step: Roll back\nThe deploy broke it.',
    })
    expect(JSON.parse(bodies[1]!)).toEqual(finding)
  })
})

describe('a subscription that names its form', () => {
  it('is posted in it, unsigned, and says it; the same address again in another form is posted in that', async () => {
    receiver = await startReceiver(say(200))
    svc = await startSending()
    const labels = [{ name: 'service', field: 'service', primary: true }]
    const source = { name: 'app', connector: 'webhook', config: { labels } }
    const { ingest_key } = await svc.post<{ ingest_key: string }>('/api/sources', source)
    const trigger = { name: 'errs', sources: ['app'], condition: { event: 'any' }, cooldown: '1s' }
    await svc.post('/api/triggers', trigger)
    const to = { trigger: 'errs', url: `${receiver.url}hooks/x` }
    const made = await svc.post<SubscriptionCreated>('/subscribe', { ...to, format: 'slack' })
    expect(made).not.toHaveProperty('secret')
    await svc.post(`/ingest/${ingest_key}`, { service: 'pay' })
    await svc.settled(1)
    expect(JSON.parse(receiver.received[0]!.body)).toEqual({ text: expect.stringMatching(/^\*Warning\* · /) })
    expect(receiver.received[0]!.headers).not.toHaveProperty('webhook-signature')
    const again = await svc.post<SubscriptionCreated>('/subscribe', { ...to, format: 'teams' })
    expect(again).toEqual({ subscription_id: made.subscription_id, existing: true })
    const { subscriptions } = await svc.get<SubscriptionsResult>('/api/subscriptions')
    expect(subscriptions).toMatchObject([{ kind: 'webhook', format: 'teams' }])
    await svc.pass(2_000)
    await svc.post(`/ingest/${ingest_key}`, { service: 'pay' })
    await svc.settled(2)
    expect(JSON.parse(receiver.received[1]!.body)).toMatchObject({ type: 'message' })
  })

  it.each([
    [{ fetch: true, format: 'slack' }, 'format is of an http or https address'],
    [{ url: 'https://a.example/x', format: 'xml' }, 'format must be one of'],
    [
      { url: 'https://events.pagerduty.com/v2/enqueue' },
      'url: an address of PagerDuty needs the integration key',
    ],
  ])('%j is refused', async (body, detail) => {
    svc = await startSending()
    await svc.post('/api/sources', { name: 'app', connector: 'webhook', config: { labels: [] } })
    await svc.post('/api/triggers', { name: 'errs', sources: ['app'], condition: { event: 'any' } })
    const { status, body: said } = await svc.call('POST', '/subscribe', { trigger: 'errs', ...body })
    expect([status, JSON.stringify(said)]).toEqual([400, expect.stringContaining(detail)])
  })
})

/** Issue 16, A8 at the door: each scheme takes what its sender signs without a key, and says what is missing. */
import { createHmac } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import { Webhook } from 'standardwebhooks'
import { expect, it } from 'vitest'
import { openDoor, ROOT } from './door.ts'

const STANDARD = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
const hmac = (secret: string, text: string | Buffer) => createHmac('sha256', secret).update(text)
type Sign = (body: string, atMs: number) => Record<string, string>
const seconds = (ms: number) => String(Math.floor(ms / 1_000))

const SENDERS: [string, string, Sign, string][] = [
  [
    'pagerduty',
    'pd',
    (body) => ({ 'x-pagerduty-signature': `v1=${hmac('pd', body).digest('hex')}` }),
    'missing X-PagerDuty-Signature header',
  ],
  [
    'stripe',
    'whsec_s',
    (body, at) => {
      const signature = hmac('whsec_s', `${seconds(at)}.${body}`).digest('hex')
      return { 'stripe-signature': `t=${seconds(at)},v1=${signature}` }
    },
    'missing Stripe-Signature header',
  ],
  ['slack', 'sl', slackHeaders, 'missing X-Slack-Signature header'],
  [
    'standard_webhooks',
    STANDARD,
    (body, at) => ({
      'webhook-id': 'msg_1',
      'webhook-timestamp': seconds(at),
      'webhook-signature': new Webhook(STANDARD).sign('msg_1', new Date(at), body),
    }),
    'missing webhook-signature header',
  ],
  [
    'shopify',
    'sh',
    (body) => ({ 'x-shopify-hmac-sha256': hmac('sh', body).digest('base64') }),
    'missing X-Shopify-Hmac-Sha256 header',
  ],
  ['gitlab', 'gl', () => ({ 'x-gitlab-token': 'gl' }), 'missing X-Gitlab-Token header'],
]

function slackHeaders(body: string, at: number) {
  return {
    'x-slack-request-timestamp': seconds(at),
    'x-slack-signature': `v0=${hmac('sl', `v0:${seconds(at)}:${body}`).digest('hex')}`,
  }
}

const json = { 'content-type': 'application/json' }

it.each(SENDERS)(
  'A8: %s needs no key, and without its header is 401',
  async (scheme, secret, sign, missing) => {
    const door = await openDoor({ secured: true })
    const { url, key } = await door.source('app', { signature_scheme: scheme, signature_secret: secret })
    expect(key).toBeUndefined()
    const body = '{"id":"a",  "n":1.0}'
    const sent = await door.call('POST', url, body, { ...json, ...sign(body, door.clock.at) })
    expect([sent.status, sent.json()]).toMatchObject([202, { ingested: 1 }])
    const bare = await door.call('POST', url, body, json)
    expect([bare.status, bare.json().detail]).toEqual([401, `signature check failed (${scheme}): ${missing}`])
    await door.close()
  },
)

it('A8: the secret before is taken too while the sender moves to the new one', async () => {
  const door = await openDoor({ secured: true })
  const config = { signature_scheme: 'stripe', signature_secret: 'new', signature_secret_previous: 'whsec_s' }
  const { url } = await door.source('app', config)
  const sign = SENDERS[1]![2]
  const post = (body: string, at: number) => door.call('POST', url, body, { ...json, ...sign(body, at) })
  expect((await post('{"n":1}', door.clock.at)).status).toBe(202)
  const old = await post('{"n":2}', door.clock.at - 301_000)
  expect([old.status, old.json().detail]).toEqual([
    401,
    'signature check failed (stripe): t of Stripe-Signature is more than 300 s away',
  ])
  await door.close()
})

it('A8: what is signed is the body as it was sent, before it is inflated', async () => {
  const door = await openDoor({ secured: true })
  const { url } = await door.source('app', { signature_scheme: 'shopify', signature_secret: 'sh' })
  const packed = gzipSync('{"n":1}')
  const headers = { ...json, 'content-encoding': 'gzip' }
  const signed = { ...headers, 'x-shopify-hmac-sha256': hmac('sh', packed).digest('base64') }
  expect((await door.call('POST', url, packed, signed)).status).toBe(202)
  await door.close()
})

it('A8: Slack is shown its challenge again, and only where its signature holds', async () => {
  const door = await openDoor({ secured: true })
  const { url } = await door.source('app', { signature_scheme: 'slack', signature_secret: 'sl' })
  const body = JSON.stringify({ type: 'url_verification', challenge: '3eZbrw1a' })
  const answer = await door.call('POST', url, body, { ...json, ...slackHeaders(body, door.clock.at) })
  expect([answer.status, answer.json()]).toMatchObject([200, { challenge: '3eZbrw1a', ingested: 1 }])
  const forged = await door.call('POST', url, `${body} `, { ...json, ...slackHeaders(body, door.clock.at) })
  expect([forged.status, JSON.stringify(forged.json())]).toEqual([401, expect.not.stringContaining('3eZ')])
  const lines = '{"a":1}\n{"a":2}'
  const many = await door.call('POST', url, lines, { ...json, ...slackHeaders(lines, door.clock.at) })
  expect([many.status, many.json()]).toMatchObject([202, { ingested: 2 }])
  await door.close()
})

it('A8: a scheme that is not there is refused with those that are', async () => {
  const door = await openDoor({ secured: true })
  const write = { name: 'app', connector: 'webhook', config: { signature_scheme: 'paypal' } }
  const answer = await door.call('POST', '/api/sources', write, door.as(ROOT))
  expect([answer.status, answer.json().detail]).toEqual([
    400,
    expect.stringMatching(
      /signature_scheme.*github.*pagerduty.*stripe.*slack.*standard_webhooks.*shopify.*gitlab/,
    ),
  ])
  await door.close()
})

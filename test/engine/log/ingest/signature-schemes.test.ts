/**
 * Issue 16, A8: signatures of PagerDuty, Stripe, Slack, Standard Webhooks, Shopify and GitLab. Vectors are the
 * senders' own where they publish one; those of Shopify and GitLab are computed as their documentation has it, since it
 * names no example whose secret is known.
 */
import { createHmac } from 'node:crypto'
import { Webhook } from 'standardwebhooks'
import { describe, expect, it } from 'vitest'
import { type SignatureScheme, verifySignature } from '../../../../engine/log/ingest/signature.ts'
import { GITHUB, PAGERDUTY, PLAIN, SLACK, STANDARD, STRIPE } from './signature-vectors.ts'

type Headers = Record<string, string>
const BODY = '{"id":"evt_1","n":1.0}'
const NOW = 1_795_176_000_000
const SECONDS = String(NOW / 1_000)

const check = (
  scheme: SignatureScheme,
  secrets: string | string[],
  headers: Headers,
  { body = BODY, now = NOW }: { body?: string; now?: number } = {},
) => verifySignature(scheme, { secrets: [secrets].flat() }, Buffer.from(body), headers, now)
const hex = (text: string, secret: string) => createHmac('sha256', secret).update(text).digest('hex')
const base64 = (text: string, secret: string | Buffer) =>
  createHmac('sha256', secret).update(text).digest('base64')

describe("A8: the senders' own examples hold, and with a byte changed they do not", () => {
  it.each([
    ['pagerduty', PAGERDUTY],
    ['slack', SLACK],
    ['stripe', STRIPE],
    ['github', GITHUB],
    ['standard_webhooks', STANDARD],
    // GitLab's signing token signs as Standard Webhooks has it.
    ['gitlab', STANDARD],
  ] as const)('%s', (scheme, { secret, headers, body, now }) => {
    expect(check(scheme, secret, headers, { body, now })).toBeNull()
    expect(check(scheme, ['a new one', secret], headers, { body, now })).toBeNull()
    expect(check(scheme, secret, headers, { body: `${body} `, now })).toBe(
      `${scheme} signature does not match`,
    )
  })
})

describe('a plain HMAC of any sender', () => {
  const plain = (scheme: SignatureScheme, value: string, secrets = ['key']) =>
    verifySignature(scheme, { secrets, header: 'X-Sig' }, Buffer.from(BODY), { 'x-sig': value }, NOW)

  it.each(Object.entries(PLAIN))(
    'is that which %s publishes',
    (_sender, { secret, header, headers, body }) => {
      const given = (text: string) =>
        verifySignature('hmac_sha256', { secrets: ['new', secret], header }, Buffer.from(text), headers, NOW)
      expect(given(body)).toBeNull()
      expect(given(`${body} `)).toBe('hmac_sha256 signature does not match')
    },
  )

  it('may be one of several, and of another version none', () => {
    const [right, wrong] = [hex(BODY, 'key'), hex(BODY, 'old')]
    for (const value of [`v1=${wrong},v1=${right}`, `v1=${wrong}, v1=${right}`, `sha256=${right}`, right])
      expect(plain('hmac_sha256', value)).toBeNull()
    expect(plain('hmac_sha256', `v1=${wrong},v2=${right}`)).toBe('hmac_sha256 signature does not match')
    for (const value of [`v2=${right}`, `sha512=${right}`, `v1=${right}0`, `v1=v1=${right}`])
      expect(plain('hmac_sha256', value)).toBe(
        'signature is not 64 hexadecimal digits, nor the base64 of 32 bytes',
      )
  })

  it('may be in base64, and in no other spelling of that', () => {
    const right = createHmac('sha256', 'key').update(BODY).digest('base64')
    const wrong = createHmac('sha256', 'old').update(BODY).digest('base64')
    for (const value of [right, `sha256=${right}`, `${wrong}, ${right}`])
      expect(plain('hmac_sha256', value)).toBeNull()
    expect(plain('hmac_sha256', wrong)).toBe('hmac_sha256 signature does not match')
    for (const value of [right.slice(0, -1), `${right}=`, `${right}AAAA`, `sha512=${right}`])
      expect(plain('hmac_sha256', value)).toContain('is not 64 hexadecimal digits')
    const long = createHmac('sha512', 'key').update(BODY).digest('base64')
    expect(plain('hmac_sha512', long)).toBeNull()
    expect(plain('hmac_sha256', long)).toContain('nor the base64 of 32 bytes')
  })

  it('is made with SHA-512, too', () => {
    const right = createHmac('sha512', 'key').update(BODY).digest('hex')
    for (const value of [right, `sha512=${right}`]) expect(plain('hmac_sha512', value)).toBeNull()
    expect(plain('hmac_sha512', right, ['other'])).toBe('hmac_sha512 signature does not match')
    expect(plain('hmac_sha512', hex(BODY, 'key'))).toContain('is not 128 hexadecimal digits')
    expect(plain('hmac_sha512', right, [])).toBe('no signing secret configured')
  })
})

describe('A8: a PagerDuty signature', () => {
  const right = hex(BODY, 'pd')
  const wrong = hex(BODY, 'old')
  const signed = (value: string) => check('pagerduty', 'pd', { 'x-pagerduty-signature': value })

  it('is any of the list that is v1', () => {
    expect(signed(`v1=${wrong},v1=${right}`)).toBeNull()
    expect(signed(`v1=${wrong}, v1=${right}`)).toBeNull()
    expect(signed(`v1=${wrong},v2=${right}`)).toBe('pagerduty signature does not match')
    expect(signed(`v2=${right}`)).toBe('X-PagerDuty-Signature has no v1=<64 hexadecimal digits>')
    expect(signed(`v1=${right}0`)).toBe('X-PagerDuty-Signature has no v1=<64 hexadecimal digits>')
    expect(check('pagerduty', 'pd', {})).toBe('missing X-PagerDuty-Signature header')
  })
})

describe('A8: a Stripe signature', () => {
  const stripe = (value: string, now = NOW) =>
    check('stripe', 'whsec_s', { 'stripe-signature': value }, { now })
  const right = hex(`${SECONDS}.${BODY}`, 'whsec_s')

  it('is over the time and the body, in any place of the list', () => {
    expect(stripe(`t=${SECONDS},v1=${right}`)).toBeNull()
    expect(stripe(`t=${SECONDS},v1=${hex('', 'x')},v1=${right},v0=${hex('', 'y')}`)).toBeNull()
    expect(stripe(`t=${SECONDS},v0=${right}`)).toBe('Stripe-Signature has no v1=<64 hexadecimal digits>')
    expect(stripe(`t=${Number(SECONDS) + 1},v1=${right}`)).toBe('stripe signature does not match')
    expect(stripe(`v1=${right}`)).toBe('Stripe-Signature has no t=<seconds since 1970>')
    expect(check('stripe', 'whsec_s', {})).toBe('missing Stripe-Signature header')
  })

  it('is that of others, too, who sign as Stripe does in a header of their own', () => {
    // mux.com/docs, Verify webhook signatures; developer.calendly.com, Webhook signatures.
    const mux = (headers: Record<string, string>, now = NOW) =>
      verifySignature(
        'stripe',
        { secrets: ['whsec_s'], header: 'Mux-Signature' },
        Buffer.from(BODY),
        headers,
        now,
      )
    expect(mux({ 'mux-signature': `t=${SECONDS},v1=${right}` })).toBeNull()
    expect(mux({ 'mux-signature': `t=${SECONDS},v1=${right}` }, NOW + 300_001)).toContain(
      't of Mux-Signature',
    )
    expect(mux({ 'stripe-signature': `t=${SECONDS},v1=${right}` })).toBeNull()
    expect(mux({})).toBe('missing Mux-Signature header')
  })

  it.each([
    [300_000, null],
    [300_001, 't of Stripe-Signature is more than 300 s away'],
    [-300_000, null],
    [-300_001, 't of Stripe-Signature is more than 300 s away'],
  ])('heard %d ms after it was made is judged by the window of five minutes', (later, reason) => {
    expect(stripe(`t=${SECONDS},v1=${right}`, NOW + later)).toBe(reason)
  })
})

describe('A8: a Slack signature', () => {
  it('has its window, and names the header that is missing', () => {
    const { secret, headers, body, now } = SLACK
    const slack = (given: Headers, at = now) => check('slack', secret, given, { body, now: at })
    expect(slack(headers, now + 300_000)).toBeNull()
    expect(slack(headers, now + 300_001)).toBe('X-Slack-Request-Timestamp is more than 300 s away')
    const { 'x-slack-signature': signature, 'x-slack-request-timestamp': time } = headers
    expect(slack({ 'x-slack-signature': signature })).toBe('missing X-Slack-Request-Timestamp header')
    expect(slack({ 'x-slack-request-timestamp': time })).toBe('missing X-Slack-Signature header')
    expect(slack({ ...headers, 'x-slack-request-timestamp': '1e9' })).toBe(
      'X-Slack-Request-Timestamp is not seconds since 1970',
    )
    expect(slack({ ...headers, 'x-slack-signature': signature.slice(3) })).toBe(
      'X-Slack-Signature is not v0=<64 hexadecimal digits>',
    )
  })
})

describe('A8: a signature of Standard Webhooks', () => {
  const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
  const signed = (body: string, at = NOW, id = 'msg_1'): Headers => ({
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(at / 1_000)),
    'webhook-signature': new Webhook(SECRET).sign(id, new Date(at), body),
  })

  it("made by its own library holds, with either secret and with Svix's headers", () => {
    const headers = signed(BODY)
    expect(check('standard_webhooks', SECRET, headers)).toBeNull()
    expect(check('standard_webhooks', SECRET.slice(6), headers)).toBeNull()
    expect(check('standard_webhooks', ['whsec_bmV3', SECRET], headers)).toBeNull()
    const several = `v1a,AAAA v1,${base64('', 'x')} ${headers['webhook-signature']}`
    expect(check('standard_webhooks', SECRET, { ...headers, 'webhook-signature': several })).toBeNull()
    const svix = Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name.replace('webhook', 'svix'), value]),
    )
    expect(check('standard_webhooks', SECRET, svix)).toBeNull()
  })

  it.each([
    ['another id', { 'webhook-id': 'msg_2' }, 'standard_webhooks signature does not match'],
    ['no id', { 'webhook-id': '' }, 'missing webhook-id header'],
    ['no time', { 'webhook-timestamp': '' }, 'missing webhook-timestamp header'],
    ['no signature', { 'webhook-signature': '' }, 'missing webhook-signature header'],
    [
      'a later version only',
      { 'webhook-signature': 'v1a,AAAA' },
      'webhook-signature has no v1,<base64 of 32 bytes>',
    ],
  ])('with %s is refused with the reason', (_what, other, reason) => {
    expect(check('standard_webhooks', SECRET, { ...signed(BODY), ...other })).toBe(reason)
  })

  it('is refused outside of five minutes, and with a secret that is no key', () => {
    const late = check('standard_webhooks', SECRET, signed(BODY), { now: NOW + 300_001 })
    expect(late).toBe('webhook-timestamp is more than 300 s away')
    expect(check('standard_webhooks', 'whsec_not base64!', signed(BODY))).toMatch(/secret is not base64/)
  })
})

describe('A8: a Shopify signature', () => {
  it('is the base64 HMAC-SHA256 of the body', () => {
    const shopify = (value: string) => check('shopify', 'shop', { 'x-shopify-hmac-sha256': value })
    const right = base64(BODY, 'shop')
    expect(shopify(right)).toBeNull()
    expect(shopify(base64(BODY, 'other'))).toBe('shopify signature does not match')
    for (const bad of [right.slice(0, -1), `${right}AAAA`, hex(BODY, 'shop'), '='])
      expect(shopify(bad)).toBe('signature is not the base64 of 32 bytes')
    expect(check('shopify', 'shop', {})).toBe('missing X-Shopify-Hmac-Sha256 header')
  })
})

describe('A8: GitLab', () => {
  const SIGNING = `whsec_${Buffer.alloc(32, 9).toString('base64')}`
  const signed: Headers = {
    'webhook-id': 'f5e5f430-f57b-4e6e-9fac-d9128cd7232f',
    'webhook-timestamp': SECONDS,
    'webhook-signature': new Webhook(SIGNING).sign(
      'f5e5f430-f57b-4e6e-9fac-d9128cd7232f',
      new Date(NOW),
      BODY,
    ),
  }

  it('with a secret token sends it along, and is refused with another or none', () => {
    expect(check('gitlab', 'tok', { 'x-gitlab-token': 'tok' })).toBeNull()
    expect(check('gitlab', ['new', 'tok'], { 'x-gitlab-token': 'tok' })).toBeNull()
    for (const bad of ['tok2', 'to', 'TOK'])
      expect(check('gitlab', 'tok', { 'x-gitlab-token': bad })).toBe('gitlab token does not match')
    expect(check('gitlab', 'tok', {})).toBe('missing X-Gitlab-Token header')
  })

  it('with a signing token signs, and its token is not taken when it is sent along instead', () => {
    expect(check('gitlab', SIGNING, signed)).toBeNull()
    expect(check('gitlab', SIGNING, signed, { now: NOW + 300_001 })).toBe(
      'webhook-timestamp is more than 300 s away',
    )
    expect(check('gitlab', SIGNING, { 'x-gitlab-token': SIGNING })).toBe('missing webhook-signature header')
  })

  it('while its hooks move from a token to signing may have either', () => {
    const both = [SIGNING, 'tok']
    expect(check('gitlab', both, signed)).toBeNull()
    expect(check('gitlab', both, { 'x-gitlab-token': 'tok' })).toBeNull()
    expect(check('gitlab', both, { ...signed, 'webhook-id': 'other', 'x-gitlab-token': 'tok' })).toBe(
      'gitlab signature does not match',
    )
  })
})

describe('A8: every scheme', () => {
  it.each<SignatureScheme>(['pagerduty', 'stripe', 'slack', 'standard_webhooks', 'shopify', 'gitlab'])(
    'refuses everything without a secret (%s)',
    (scheme) => {
      for (const secrets of [[], ['']])
        expect(check(scheme, secrets, { 'x-gitlab-token': '' })).toBe('no signing secret configured')
    },
  )
})

import { createHmac } from 'node:crypto'
import examples from '@octokit/webhooks-examples'
import { sign, verify } from '@octokit/webhooks-methods'
import { describe, expect, it } from 'vitest'
import { type SignatureScheme, verifySignature } from '../../../../engine/log/ingest/signature.ts'

const NOW = 1_795_176_000_000
const SECRET = 'it is a secret'
const BODY = Buffer.from('{"action":"opened","n":1.0}')
const hex = (body: Uint8Array, secret = SECRET) => createHmac('sha256', secret).update(body).digest('hex')
const check = (
  scheme: SignatureScheme,
  headers: Record<string, string>,
  { secrets = [SECRET], header, body = BODY }: { secrets?: string[]; header?: string; body?: Buffer } = {},
) => verifySignature(scheme, { secrets, header }, body, headers, NOW)

describe('a GitHub signature', () => {
  const headers = { 'x-hub-signature-256': `sha256=${hex(BODY)}` }

  it('holds on real payloads as GitHub signs them, and on none with a byte changed', async () => {
    for (const { examples: payloads } of examples.slice(0, 40)) {
      const text = JSON.stringify(payloads[0])
      const signature = await sign(SECRET, text)
      expect(await verify(SECRET, text, signature)).toBe(true)
      const body = Buffer.from(text)
      expect(check('github', { 'x-hub-signature-256': signature }, { body })).toBeNull()
      body[body.length >> 1]! ^= 1
      expect(check('github', { 'x-hub-signature-256': signature }, { body })).toBe(
        'github signature does not match',
      )
    }
  })

  it('holds with upper-case digits, and with either of two secrets', () => {
    expect(check('github', { 'x-hub-signature-256': `sha256=${hex(BODY).toUpperCase()}` })).toBeNull()
    expect(check('github', headers, { secrets: ['new', SECRET] })).toBeNull()
    expect(check('github', headers, { secrets: ['new', 'newer'] })).toBe('github signature does not match')
  })

  it.each<[string, Record<string, string>, string]>([
    ['no header', {}, 'missing X-Hub-Signature-256 header'],
    ['an empty header', { 'x-hub-signature-256': ' ' }, 'missing X-Hub-Signature-256 header'],
    ['the older sha1 header only', { 'x-hub-signature': 'sha1=00' }, 'missing X-Hub-Signature-256 header'],
    ['no prefix', { 'x-hub-signature-256': hex(BODY) }, 'signature is not sha256=<hex>'],
    ['63 digits', { 'x-hub-signature-256': `sha256=${hex(BODY).slice(1)}` }, 'signature is not sha256=<hex>'],
    ['a tail', { 'x-hub-signature-256': `sha256=${hex(BODY)}zz` }, 'signature is not sha256=<hex>'],
    [
      'a line break behind',
      { 'x-hub-signature-256': `sha256=${hex(BODY)}\n0` },
      'signature is not sha256=<hex>',
    ],
    [
      'another secret',
      { 'x-hub-signature-256': `sha256=${hex(BODY, 'x')}` },
      'github signature does not match',
    ],
    ['another scheme', { 'x-signature': hex(BODY) }, 'missing X-Hub-Signature-256 header'],
  ])('with %s is refused with the reason', (_what, given, reason) => {
    expect(check('github', given)).toBe(reason)
  })

  it('is over the bytes as sent, not over what they parse to', () => {
    const again = Buffer.from(JSON.stringify(JSON.parse(BODY.toString())))
    expect(check('github', headers, { body: again })).toBe('github signature does not match')
  })
})

describe('a Linear signature', () => {
  const signed = (payload: unknown) => {
    const body = Buffer.from(typeof payload === 'string' ? payload : JSON.stringify(payload))
    return check('linear', { 'linear-signature': hex(body) }, { body })
  }

  it.each([
    ['now', 0, null],
    ['60 s ago', -60_000, null],
    ['60 s ahead', 60_000, null],
    ['over 60 s ago', -60_001, 'webhookTimestamp is more than 60 s away'],
    ['over 60 s ahead', 60_001, 'webhookTimestamp is more than 60 s away'],
  ])('sent %s is judged by its age as well', (_what, away, reason) => {
    expect(signed({ webhookTimestamp: NOW + away })).toBe(reason)
  })

  it.each([
    ['no time', {}, 'the body has no webhookTimestamp'],
    ['a time in text', { webhookTimestamp: String(NOW) }, 'the body has no webhookTimestamp'],
    ['null for a body', 'null', 'the body has no webhookTimestamp'],
    ['a body that is not JSON', 'x', 'the body is not JSON with a webhookTimestamp'],
  ])('with %s is refused', (_what, payload, reason) => {
    expect(signed(payload)).toBe(reason)
  })

  it('that does not match is refused before its age is looked at', () => {
    const body = Buffer.from(JSON.stringify({ webhookTimestamp: 0 }))
    expect(check('linear', { 'linear-signature': hex(body, 'x') }, { body })).toBe(
      'linear signature does not match',
    )
    expect(check('linear', {})).toBe('missing Linear-Signature header')
    expect(check('linear', { 'linear-signature': `sha256=${hex(BODY)}` })).toBe(
      'signature is not 64 hexadecimal digits',
    )
  })
})

describe('a plain HMAC-SHA256 signature', () => {
  it('is read from X-Signature or the header configured, with or without a prefix', () => {
    expect(check('hmac_sha256', { 'x-signature': hex(BODY) })).toBeNull()
    expect(check('hmac_sha256', { 'x-signature': `sha256=${hex(BODY).toUpperCase()}` })).toBeNull()
    expect(check('hmac_sha256', { 'x-shop-hmac': hex(BODY) }, { header: 'X-Shop-Hmac' })).toBeNull()
    expect(check('hmac_sha256', { 'x-signature': hex(BODY) }, { header: 'X-Shop-Hmac' })).toBe(
      'missing X-Shop-Hmac header',
    )
  })

  it('that is not one or does not match is refused with the reason', () => {
    expect(check('hmac_sha256', { 'x-signature': 'nope' })).toContain('is not 64 hexadecimal digits')
    expect(check('hmac_sha256', { 'x-signature': hex(BODY, 'x') })).toBe(
      'hmac_sha256 signature does not match',
    )
  })
})

describe('a scheme without a secret', () => {
  it.each<SignatureScheme>(['github', 'linear', 'hmac_sha256'])('refuses everything (%s)', (scheme) => {
    const headers = { 'x-signature': hex(BODY, ''), 'x-hub-signature-256': `sha256=${hex(BODY, '')}` }
    expect(check(scheme, headers, { secrets: [] })).toBe('no signing secret configured')
    expect(check(scheme, headers, { secrets: [''] })).toBe('no signing secret configured')
  })
})

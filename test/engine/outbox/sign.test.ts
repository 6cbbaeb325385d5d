import { createHmac } from 'node:crypto'
import { Webhook } from 'standardwebhooks'
import { describe, expect, it } from 'vitest'
import { redact, redactCredentials } from '../../../engine/net/redact.ts'
import { newSecret, signatureHeaders } from '../../../engine/outbox/send-webhook.ts'

const BODY = JSON.stringify({ reason: 'größer als 5 … 🎉', labels: { a: 1 } })

describe('a secret', () => {
  it('is 32 random bytes, as libraries for Standard Webhooks take them', () => {
    const [one, other] = [newSecret(), newSecret()]
    expect(one).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
    expect(Buffer.from(one.slice(6), 'base64')).toHaveLength(32)
    expect(one).not.toBe(other)
  })
})

describe('a secret that signs webhooks (whsec_)', () => {
  it.each(['the secret is %', 'SVC_HOOK=%', '{"secret":"%"}', '%', 'a % b'])(
    'is taken out of text on its way to a model: %s',
    (around) => {
      // 50 of them: base64 ends and breaks in many ways.
      for (let i = 0; i < 50; i++) {
        const secret = newSecret()
        for (const clean of [
          redact(around.replace('%', secret)),
          redactCredentials(around.replace('%', secret)),
        ])
          expect(clean).not.toContain(secret.slice(6, 16))
      }
    },
  )

  it('signs with the bytes after whsec_, and the same with a secret given without it', () => {
    const secret = newSecret()
    const at = Date.UTC(2026, 0, 2)
    const signed = signatureHeaders('del_1', at, BODY, secret)
    expect(signed['webhook-signature']).toBe(new Webhook(secret).sign('del_1', new Date(at), BODY))
    expect(signatureHeaders('del_1', at, BODY, secret.slice('whsec_'.length))).toEqual(signed)
    const asText = createHmac('sha256', secret)
      .update(`del_1.${at / 1000}.${BODY}`)
      .digest('base64')
    expect(signed['webhook-signature']).not.toBe(`v1,${asText}`)
  })
})

describe('a signed message', () => {
  const secret = newSecret()

  it('is accepted by the library of Standard Webhooks', () => {
    const headers = signatureHeaders('del_1', Date.now(), BODY, secret)
    expect(new Webhook(secret).verify(BODY, headers)).toEqual(JSON.parse(BODY))
  })

  it('is signed as the library would', () => {
    const at = Date.UTC(2026, 0, 2, 3, 4, 5, 999)
    expect(signatureHeaders('del_1', at, BODY, secret)).toEqual({
      'webhook-id': 'del_1',
      'webhook-timestamp': String(Date.UTC(2026, 0, 2, 3, 4, 5) / 1000),
      'webhook-signature': new Webhook(secret).sign('del_1', new Date(at), BODY),
    })
  })

  it.each([
    ['another body', (h: Record<string, string>) => ({ headers: h, body: `${BODY} ` })],
    ['another id', (h: Record<string, string>) => ({ headers: { ...h, 'webhook-id': 'del_2' }, body: BODY })],
  ])('is refused with %s', (_what, forged) => {
    const { headers, body } = forged(signatureHeaders('del_1', Date.now(), BODY, secret))
    expect(() => new Webhook(secret).verify(body, headers)).toThrow()
  })

  it('is refused with another secret', () => {
    const headers = signatureHeaders('del_1', Date.now(), BODY, secret)
    expect(() => new Webhook(newSecret()).verify(BODY, headers)).toThrow()
  })

  it('is refused when it is old', () => {
    const headers = signatureHeaders('del_1', Date.now() - 3_600_000, BODY, secret)
    expect(() => new Webhook(secret).verify(BODY, headers)).toThrow()
  })
})

it('a message without a secret is identified and not signed', () => {
  expect(Object.keys(signatureHeaders('del_1', 0, BODY, null))).toEqual(['webhook-id', 'webhook-timestamp'])
})

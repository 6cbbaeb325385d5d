/** Which parts of an address are secret, and that the rest of it stays as it was written. */
import { describe, expect, it } from 'vitest'
import {
  addressSecrets,
  isSecretParameter,
  keepAddressSecrets,
  maskAddresses,
} from '../../../engine/net/address-secrets.ts'

const MASK = '•'.repeat(8)

describe('a parameter of an address', () => {
  it.each(
    'token key api_key apikey apiKey api-key access_token sig signature code password secret X-Amz-Signature X-Amz-Security-Token client_secret subscription-key x-functions-key auth jwt pwd refreshToken access%5Ftoken'.split(
      ' ',
    ),
  )('%s is a secret', (name) => {
    expect(isSecretParameter(name)).toBe(true)
  })

  it.each(
    'q limit page keyword monkey sort_key order-key groupKey status_code zipcode token_type key_id since tokens_max'.split(
      ' ',
    ),
  )('%s is none', (name) => {
    expect(isSecretParameter(name)).toBe(false)
  })
})

describe('an address', () => {
  it.each([
    ['https://h.example/a?q=1&token=abc#top', `https://h.example/a?q=1&token=${MASK}#top`],
    ['https://h.example/?token=a%2Fb&token=c', `https://h.example/?token=${MASK}&token=${MASK}`],
    ['https://user:pa%40ss@h.example/x', `https://user:${MASK}@h.example/x`],
    ['https://ghp_abc@h.example/x', `https://${MASK}@h.example/x`],
    ['https://user:p@ss@h.example/x', `https://user:${MASK}@h.example/x`],
    ['HTTPS://h.example/cb#access_token=abc', `HTTPS://h.example/cb#access_token=${MASK}`],
    ['https://h.example/a@b?q=%20+', 'https://h.example/a@b?q=%20+'],
    ['https://h.example/?token=', 'https://h.example/?token='],
    ['see https://h.example/?token=abc', 'see https://h.example/?token=abc'],
    ['postgres://u:p@h/db', 'postgres://u:p@h/db'],
  ])('%s is shown as %s', (given, shown) => {
    expect(maskAddresses(given)).toBe(shown)
    expect(maskAddresses({ list: [{ url: given }] })).toEqual({ list: [{ url: shown }] })
    // What is shown comes back as it was.
    expect(keepAddressSecrets(shown, given, 'url')).toBe(given)
  })

  it('gives its secrets as they are sent and as they are read', () => {
    expect(addressSecrets('https://u:p%40ss@h.example/?token=a%2Fb')).toEqual([
      'p%40ss',
      'p@ss',
      'a%2Fb',
      'a/b',
    ])
    expect(addressSecrets(`https://h.example/?token=${MASK}`)).toEqual([])
  })
})

describe('a mask that comes back in an address', () => {
  const stored = 'https://h.example/a?token=abc'

  it('stands for what is stored under another path and beside other parameters, encoded too', () => {
    expect(keepAddressSecrets(`https://h.example/b?q=1&token=${MASK}`, stored, 'url')).toBe(
      'https://h.example/b?q=1&token=abc',
    )
    expect(keepAddressSecrets(`https://h.example/a?token=${encodeURIComponent(MASK)}`, stored, 'url')).toBe(
      stored,
    )
  })

  it.each([
    [
      'of another host',
      `https://evil.example/a?token=${MASK}`,
      'url: enter token in it again: the address changed',
    ],
    [
      'of another port',
      `https://h.example:8443/a?token=${MASK}`,
      'url: enter token in it again: the address changed',
    ],
    ['without TLS', `http://h.example/a?token=${MASK}`, 'url: enter token in it again: the address changed'],
    [
      'under another name',
      `https://h.example/a?key=${MASK}`,
      'url: key is the mask of a secret; enter the secret itself',
    ],
  ])('%s is refused', (_what, given, sentence) => {
    expect(() => keepAddressSecrets(given, stored, 'url')).toThrow(sentence)
  })
})

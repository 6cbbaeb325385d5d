import { describe, expect, it } from 'vitest'
import { callerAddress } from '../../api/caller-address.ts'
import { parseNetworks } from '../../api/config-syslog.ts'

const isProxy = parseNetworks('10.0.0.0/8, fd00::/8', 'SVC_TRUSTED_PROXIES')
const asked = (remoteAddress: string, forwarded?: string | string[]) =>
  callerAddress(
    {
      socket: { remoteAddress },
      headers: forwarded === undefined ? {} : { 'x-forwarded-for': forwarded as string },
    },
    isProxy,
  )

describe('the address of a caller', () => {
  it.each([
    ['of who asks itself', '192.0.2.1', undefined, '192.0.2.1'],
    ['of who asks itself, whatever it says it forwards', '192.0.2.1', '198.51.100.7', '192.0.2.1'],
    ['of a proxy that says nothing', '10.0.0.2', undefined, '10.0.0.2'],
    ['as the proxy says it', '10.0.0.2', '198.51.100.7', '198.51.100.7'],
    ['as the proxy says it, over a socket of IPv6', '::ffff:10.0.0.2', '198.51.100.7', '198.51.100.7'],
    [
      'as the proxy says it, not what the caller sent along',
      '10.0.0.2',
      '203.0.113.9, 198.51.100.7',
      '198.51.100.7',
    ],
    ['behind several proxies', '10.0.0.2', '203.0.113.9, 198.51.100.7, 10.0.0.3', '198.51.100.7'],
    ['inside, where all are proxies', '10.0.0.2', '10.0.0.4, 10.0.0.3', '10.0.0.4'],
    ['with its port left out', '10.0.0.2', '198.51.100.7:51234', '198.51.100.7'],
    ['of IPv6', 'fd00::2', '2001:db8::7', '2001:db8::7'],
    ['of IPv6 with its port left out', 'fd00::2', '[2001:db8::7]:51234', '2001:db8::7'],
    ['of the proxy where it says what is no address', '10.0.0.2', 'unknown', '10.0.0.2'],
    [
      'of the last proxy before what is no address',
      '10.0.0.2',
      '198.51.100.7, _hidden, 10.0.0.3',
      '10.0.0.3',
    ],
    ['of the proxy where it says nothing', '10.0.0.2', ' , ', '10.0.0.2'],
  ])('is that %s', (_said, peer, forwarded, expected) => {
    expect(asked(peer, forwarded)).toBe(expected)
  })

  it('is the one of the connection where no proxy is named', () => {
    const request = { socket: { remoteAddress: '10.0.0.2' }, headers: { 'x-forwarded-for': '198.51.100.7' } }
    expect(callerAddress(request, null)).toBe('10.0.0.2')
  })
})

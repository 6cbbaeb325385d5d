/** SVC_SYSLOG_*: where syslog is taken and from whom. */
import { describe, expect, it } from 'vitest'
import { loadSyslog, plainAddress } from '../../api/config-syslog.ts'

const load = (env: Record<string, string>) => loadSyslog(env, '127.0.0.1')

describe('the configuration of syslog', () => {
  it('is off unless a port is set', () => {
    expect(load({})).toBeNull()
    expect(load({ SVC_SYSLOG_PORT: 'Off', SVC_SYSLOG_ALLOW: '10.0.0.0/8' })).toBeNull()
  })

  it('has TLS on a port of its own, which needs a certificate and its key', () => {
    const tls = { SVC_SYSLOG_TLS_PORT: '6514', SVC_SYSLOG_TLS_CERT: '/c.pem', SVC_SYSLOG_TLS_KEY: '/k.pem' }
    expect(load(tls)).toMatchObject({
      port: null,
      tls: { port: 6514, cert: '/c.pem', key: '/k.pem', ca: null },
    })
    expect(load({ SVC_SYSLOG_PORT: '5514' })).toMatchObject({ port: 5514, tls: null })
    expect(() => load({ SVC_SYSLOG_TLS_PORT: '6514', SVC_SYSLOG_TLS_CERT: '/c.pem' })).toThrow(
      /SVC_SYSLOG_TLS_KEY is not set$/,
    )
  })

  it('listens where the daemon does, and takes what loopback sends', () => {
    const syslog = load({ SVC_SYSLOG_PORT: '5514' })!
    expect(syslog).toMatchObject({ host: '127.0.0.1', port: 5514 })
    const taken = ['127.0.0.1', '127.9.9.9', '::1', '::ffff:127.0.0.1']
    const refused = ['10.0.0.1', '::2', '::ffff:10.0.0.1', 'fe80::1%eth0', '', 'text']
    expect(taken.map(syslog.isAllowed)).toEqual(taken.map(() => true))
    expect(refused.map(syslog.isAllowed)).toEqual(refused.map(() => false))
  })

  it('has an address of its own, and senders by address and network', () => {
    const syslog = load({
      SVC_SYSLOG_PORT: '0',
      SVC_SYSLOG_HOST: '[::]',
      SVC_SYSLOG_ALLOW: '10.0.0.0/8,192.0.2.7 , fd00::/8',
    })!
    expect(syslog.host).toBe('::')
    const addresses = [
      '10.1.2.3',
      '::ffff:10.1.2.3',
      '192.0.2.7',
      '192.0.2.8',
      'fd12::1',
      'fe80::1',
      '127.0.0.1',
    ]
    expect(addresses.filter(syslog.isAllowed)).toEqual([
      '10.1.2.3',
      '::ffff:10.1.2.3',
      '192.0.2.7',
      'fd12::1',
    ])
  })

  it.each([
    [{ SVC_SYSLOG_PORT: '70000' }, 'SVC_SYSLOG_PORT must be a port from 1 to 65535'],
    [{ SVC_SYSLOG_HOST: 'http://x' }, 'SVC_SYSLOG_HOST must be a host name or an IP address'],
    [{ SVC_SYSLOG_ALLOW: 'everyone' }, 'SVC_SYSLOG_ALLOW must be addresses or networks'],
    [{ SVC_SYSLOG_ALLOW: '10.0.0.0/33' }, 'SVC_SYSLOG_ALLOW must be addresses or networks'],
    [{ SVC_SYSLOG_ALLOW: '10.0.0.1,' }, 'SVC_SYSLOG_ALLOW must be addresses or networks'],
  ])('refuses %j, naming the variable and the rule', (env, message) => {
    expect(() => load(env)).toThrow(message)
  })

  it('reads an address of a socket as itself', () => {
    expect(['::ffff:192.0.2.7', 'fe80::1%eth0', '::1'].map(plainAddress)).toEqual([
      ...['192.0.2.7', 'fe80::1', '::1'],
    ])
  })
})

/** Where syslog is taken and from whom (SVC_SYSLOG_*). Syslog has no credential, so addresses say who may send. */
import { BlockList, isIP, isIPv6 } from 'node:net'
import { ConfigError, parseBindHost, parsePort } from './config-values.ts'
import { type Environment, readVariable } from './environment.ts'
import type { SyslogSettings, SyslogTls } from './http/syslog-state.ts'

const LOOPBACK = '127.0.0.0/8, ::1'
const NETWORK = /^([0-9a-f:.]+)(?:\/(\d{1,3}))?$/i

/**
 * @param host where the daemon listens; used when SVC_SYSLOG_HOST is not set. @param absolute makes a path of this
 * machine whole. @returns null: syslog is off
 * @throws ConfigError
 */
export function loadSyslog(
  env: Environment,
  host: string,
  absolute: (path: string) => string = (path) => path,
): SyslogSettings | null {
  const own = readVariable(env, 'SVC_SYSLOG_HOST')
  const settings = {
    host: own === undefined ? host : parseBindHost(own, 'SVC_SYSLOG_HOST'),
    isAllowed: parseNetworks(readVariable(env, 'SVC_SYSLOG_ALLOW') ?? LOOPBACK, 'SVC_SYSLOG_ALLOW'),
  }
  const port = portOf(env, 'SVC_SYSLOG_PORT')
  const tls = loadTls(env, absolute)
  return port === null && tls === null ? null : { ...settings, port, tls }
}

function portOf(env: Environment, name: string): number | null {
  const given = readVariable(env, name)
  return given === undefined || given.toLowerCase() === 'off' ? null : parsePort(given, name)
}

function loadTls(env: Environment, absolute: (path: string) => string): SyslogTls | null {
  const port = portOf(env, 'SVC_SYSLOG_TLS_PORT')
  const file = (name: string): string | null => {
    const path = readVariable(env, name)
    return path === undefined ? null : absolute(path)
  }
  const [cert, key, ca] = [file('SVC_SYSLOG_TLS_CERT'), file('SVC_SYSLOG_TLS_KEY'), file('SVC_SYSLOG_TLS_CA')]
  if (port === null) return null
  if (cert === null || key === null)
    throw new ConfigError(
      `SVC_SYSLOG_TLS_PORT needs SVC_SYSLOG_TLS_CERT and SVC_SYSLOG_TLS_KEY, files of a certificate and its key; ${cert === null ? 'SVC_SYSLOG_TLS_CERT' : 'SVC_SYSLOG_TLS_KEY'} is not set`,
    )
  return { port, cert, key, ca: ca ?? null }
}

/** @returns whether an address is of one of them. @throws ConfigError */
export function parseNetworks(value: string, from: string): (address: string) => boolean {
  const list = new BlockList()
  for (const network of value.split(',').map((one) => one.trim())) {
    const [, address = '', bits] = NETWORK.exec(network) ?? []
    const widest = isIPv6(address) ? 128 : 32
    const prefix = bits === undefined ? widest : Number(bits)
    if (isIP(address) === 0 || prefix > widest)
      throw new ConfigError(
        `${from} must be addresses or networks separated by commas, such as 10.0.0.0/8, 192.0.2.7, fd00::/8`,
      )
    list.addSubnet(address, prefix, isIPv6(address) ? 'ipv6' : 'ipv4')
  }
  return (address) => {
    const plain = plainAddress(address)
    return isIP(plain) !== 0 && list.check(plain, isIPv6(plain) ? 'ipv6' : 'ipv4')
  }
}

/** An IPv4 address as itself, where a socket of IPv6 took it; without the name of an interface. */
export const plainAddress = (address: string): string =>
  address.replace(/^::ffff:(?=\d+\.\d+\.\d+\.\d+$)/i, '').replace(/%.*$/, '')

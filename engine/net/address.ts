/**
 * What kind of network an IP address belongs to, from the IANA special-purpose registries (RFC 6890
 * and its updates). Forms that carry an IPv4 address inside an IPv6 one are judged by what they
 * carry, since a gateway or the kernel would connect to that.
 */

import { isIP, isIPv4, isIPv6 } from 'node:net'

type AddressClass =
  | 'public'
  | 'private'
  | 'loopback'
  /** Link-local, and the addresses where clouds hand out credentials. */
  | 'metadata'
  | 'unspecified'
  | 'multicast'
  | 'benchmarking'
  | 'reserved'

type Range = readonly [cidr: string, kind: AddressClass]

/** The first that matches decides. */
const V4: readonly Range[] = [
  ['0.0.0.0/8', 'unspecified'],
  ['10.0.0.0/8', 'private'],
  ['100.100.100.200/32', 'metadata'],
  ['100.64.0.0/10', 'private'],
  ['127.0.0.0/8', 'loopback'],
  // Azure's wire server: a public address that every machine there reaches without a route.
  ['168.63.129.16/32', 'metadata'],
  ['169.254.0.0/16', 'metadata'],
  ['172.16.0.0/12', 'private'],
  ['192.0.0.0/24', 'reserved'],
  ['192.0.2.0/24', 'reserved'],
  ['192.88.99.0/24', 'reserved'],
  ['192.168.0.0/16', 'private'],
  ['198.18.0.0/15', 'benchmarking'],
  ['198.51.100.0/24', 'reserved'],
  ['203.0.113.0/24', 'reserved'],
  ['224.0.0.0/4', 'multicast'],
  ['240.0.0.0/4', 'reserved'],
]

const V6: readonly Range[] = [
  ['::/128', 'unspecified'],
  ['::1/128', 'loopback'],
  ['fd00:ec2::/32', 'metadata'],
  ['fd20:ce::254/128', 'metadata'],
  ['fc00::/7', 'private'],
  ['fe80::/10', 'metadata'],
  ['ff00::/8', 'multicast'],
  ['2001:2::/48', 'benchmarking'],
  ['2001::/23', 'reserved'],
  ['2001:db8::/32', 'reserved'],
  ['3fff::/20', 'reserved'],
  ['2000::/3', 'public'],
  // What IANA has not given out for unicast, IPv4-compatible and site-local addresses among it.
  ['::/0', 'reserved'],
]

/** Forms with an IPv4 address inside: where it is, in bytes, and whether its bits are inverted. */
const CARRIERS: readonly (readonly [cidr: string, at: number, inverted?: true])[] = [
  ['::ffff:0:0/96', 12], // mapped, RFC 4291
  ['::ffff:0:0:0/96', 12], // translated, RFC 2765
  ['64:ff9b::/96', 12], // NAT64, RFC 6052
  ['2002::/16', 2], // 6to4, RFC 3056
  ['2001::/32', 4], // Teredo, RFC 4380: its server
  ['2001::/32', 12, true], // and its client
]

interface Block {
  bytes: Uint8Array
  bits: number
}
const block = (cidr: string): Block => {
  const [address, bits] = cidr.split('/')
  return { bytes: bytesOf(address!)!, bits: Number(bits) }
}
const v4 = V4.map(([cidr, kind]) => ({ ...block(cidr), kind }))
const v6 = V6.map(([cidr, kind]) => ({ ...block(cidr), kind }))
const carriers = CARRIERS.map(([cidr, at, inverted]) => ({ ...block(cidr), at, inverted }))

/**
 * The class of an address, or the worst of those it carries.
 * @param address an IP address as resolvers and `URL.hostname` without brackets give it.
 * @returns 'reserved' too for what is no IP address.
 */
export function classify(address: string): AddressClass {
  const bytes = bytesOf(address)
  if (!bytes) return 'reserved'
  if (bytes.length === 4) return find(v4, bytes)
  const carried = carriers
    .filter((carrier) => contains(carrier, bytes))
    .map(({ at, inverted }) => bytes.slice(at, at + 4).map((byte) => (inverted ? byte ^ 0xff : byte)))
    .map((inner) => find(v4, inner))
  if (!carried.length) return find(v6, bytes)
  return carried.sort((a, b) => BADNESS.indexOf(b) - BADNESS.indexOf(a))[0]!
}

/** From what may be reached most to what least. */
const BADNESS: readonly AddressClass[] = [
  'public',
  'private',
  'loopback',
  'benchmarking',
  'reserved',
  'multicast',
  'unspecified',
  'metadata',
]

function find(ranges: readonly (Block & { kind: AddressClass })[], bytes: Uint8Array): AddressClass {
  return ranges.find((range) => contains(range, bytes))?.kind ?? 'public'
}

function contains({ bytes, bits }: Block, address: Uint8Array): boolean {
  for (let i = 0; i * 8 < bits; i++) {
    const mask = 0xff << Math.max(0, 8 - (bits - i * 8))
    if (((bytes[i]! ^ address[i]!) & mask & 0xff) !== 0) return false
  }
  return true
}

/** 4 or 16 bytes; null for what is no IP address. A zone (`%eth0`) says nothing of the class. */
function bytesOf(text: string): Uint8Array | null {
  const address = text.replace(/%.*$/, '')
  if (isIPv4(address)) return Uint8Array.from(address.split('.').map(Number))
  if (!isIPv6(address)) return null
  const [head, tail] = address.split('::')
  const left = groups(head!)
  const right = tail === undefined ? [] : groups(tail)
  return Uint8Array.from([...left, ...Array<number>(16 - left.length - right.length).fill(0), ...right])
}

/** The bytes of colon-separated groups, of which the last may be a dotted IPv4 address. */
function groups(text: string): number[] {
  if (!text) return []
  return text.split(':').flatMap((group) => {
    if (group.includes('.')) return group.split('.').map(Number)
    const value = Number.parseInt(group, 16)
    return [value >> 8, value & 0xff]
  })
}

/* Names to addresses by the system's resolver, which knows the hosts file and containers' names. */

/**
 * The system's resolver. Each look-up holds one of the few threads that files and names share, so a
 * name that many ask for at once is asked for once: a dead name server holds one thread, not all.
 * Nothing is kept once it has answered.
 */
export function systemResolve(): Resolve {
  return shared(async (host) => {
    // Loaded with the first name, as the client of HTTP is: every thread has this module.
    const { lookup } = process.getBuiltinModule('node:dns/promises')
    return (await lookup(host, { all: true })).map(({ address }) => address)
  })
}

/** One call under way per host. */
function shared(resolve: Resolve): Resolve {
  const underWay = new Map<string, Promise<readonly string[]>>()
  return (host) => {
    const known = underWay.get(host)
    if (known) return known
    const asked = resolve(host).finally(() => underWay.delete(host))
    underWay.set(host, asked)
    return asked
  }
}

/*
 * Where the service may connect to. An address is judged after its name was resolved, once, and every
 * address it has must pass: the connection then goes to those addresses and to no others, so that a
 * name that changes its mind in between gains nothing.
 */

/**
 * Who named the address. An operator may point inside the network, a caller with a key that reads
 * may not, unless the operator allows that.
 */
export type Audience = 'operator' | 'caller'

/** The IP addresses of a host name. @throws with a `code`, as node:dns does. */
export type Resolve = (host: string) => Promise<readonly string[]>

/** What a refused target is told to be; the same for every reason, so that it maps no network. */
export const NOT_ALLOWED = 'target address is not allowed'

/** A host that was checked. */
export interface Target {
  url: URL
  /** Without brackets. */
  host: string
}

/**
 * Reads an address without asking anybody.
 * @returns the parsed target, or a sentence that says what is wrong with it.
 */
export function parseTarget(text: string): Target | string {
  const url = URL.canParse(text) ? new URL(text) : null
  if (!url) return 'url must be an absolute http or https address'
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return 'url must begin with http:// or https://'
  if (url.username || url.password) return 'url must not contain a user name or a password'
  if (text.includes('#')) return 'url must not contain a fragment (#)'
  return { url, host: url.hostname.replace(/^\[|\]$/g, '') }
}

const CALLER: readonly AddressClass[] = ['public']
const OPERATOR: readonly AddressClass[] = ['public', 'private', 'loopback']

/** Whether these are addresses, at least one, all of which the audience may reach. */
export function mayReach(addresses: readonly string[], audience: Audience, allowPrivate: boolean): boolean {
  const allowed = audience === 'operator' || allowPrivate ? OPERATOR : CALLER
  return addresses.length > 0 && addresses.every((address) => allowed.includes(classify(address)))
}

/**
 * The addresses of a target: the literal itself, or what the resolver says. Names below `localhost`
 * never leave the machine (RFC 6761, 6.3), whatever a resolver says of them.
 * @throws what the resolver throws.
 */
export async function addressesOf(host: string, resolve: Resolve): Promise<readonly string[]> {
  if (isIP(host)) return [host]
  const name = host.toLowerCase().replace(/\.$/, '')
  if (name === 'localhost' || name.endsWith('.localhost')) return ['127.0.0.1', '::1']
  return await resolve(host)
}

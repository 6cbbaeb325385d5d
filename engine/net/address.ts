/**
 * What kind of network an IP address belongs to. The registries are those of ipaddr.js; here stands what they do not
 * say: where clouds hand out credentials, and that what IANA gave nobody is not public. Forms that carry an IPv4
 * address inside an IPv6 one are judged by what they carry, since a gateway or the kernel would connect to that.
 */

import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'
import { fail } from '../errors.ts'

/** From what may be reached most to what least. */
const CLASSES = [
  'public',
  'private',
  'loopback',
  'benchmarking',
  'reserved',
  'multicast',
  'unspecified',
  /** Link-local, and the addresses where clouds hand out credentials. */
  'metadata',
] as const
type AddressClass = (typeof CLASSES)[number]

type Address = ipaddr.IPv4 | ipaddr.IPv6

const blocks = (...cidrs: string[]): [Address, number][] => cidrs.map((cidr) => ipaddr.parseCIDR(cidr))

/** What ipaddr.js does not know, or by no name of its own. */
const OURS: Readonly<Record<string, [Address, number][]>> = {
  // The second is Azure's wire server: a public address that every machine there reaches without a route.
  metadata: blocks('100.100.100.200/32', '168.63.129.16/32', 'fd00:ec2::/32', 'fd20:ce::254/128'),
  benchmarking: blocks('198.18.0.0/15'),
  // NAT64 of one network (RFC 8215), which alone knows where in it the IPv4 address is.
  reserved: blocks('64:ff9b:1::/48'),
}

/** The registries of ipaddr.js as our classes; each that is not here is reserved. */
const REGISTRIES: Readonly<Record<string, AddressClass>> = {
  unicast: 'public',
  private: 'private',
  carrierGradeNat: 'private',
  uniqueLocal: 'private',
  loopback: 'loopback',
  linkLocal: 'metadata',
  unspecified: 'unspecified',
  multicast: 'multicast',
  benchmarking: 'benchmarking',
}

/** What IANA gives out for unicast: to ipaddr.js all of IPv6 is unicast that is in no registry. */
const UNICAST = ipaddr.parseCIDR('2000::/3')

const last = (bytes: number[]): number[] => bytes.slice(12)
/** Registries of forms with IPv4 addresses inside, and where those are. */
const CARRIED: Readonly<Record<string, readonly ((bytes: number[]) => number[])[]>> = {
  ipv4Mapped: [last], // RFC 4291
  rfc6145: [last], // translated
  rfc6052: [last], // NAT64
  '6to4': [(bytes) => bytes.slice(2, 6)], // RFC 3056
  // RFC 4380: its server, and its client with all bits inverted.
  teredo: [(bytes) => bytes.slice(4, 8), (bytes) => last(bytes).map((byte) => byte ^ 0xff)],
}

/**
 * The class of an address, or the worst of those it carries.
 * @param text an IP address as resolvers and `URL.hostname` without brackets give it. A zone (`%eth0`) says nothing of
 *   the class.
 * @returns 'reserved' too for what is no IP address.
 */
export function classify(text: string): AddressClass {
  const bare = text.replace(/%.*$/, '')
  // ipaddr.js takes short and octal forms too, which resolvers never give.
  if (isIP(bare) === 0 || !ipaddr.isValid(bare)) return 'reserved'
  const address = ipaddr.parse(bare)
  const carried = CARRIED[address.range()]
  if (!carried || isOurs(address)) return classOf(address)
  const bytes = address.toByteArray()
  const inner = carried.map((read) => classOf(new ipaddr.IPv4(read(bytes))))
  return inner.sort((a, b) => CLASSES.indexOf(b) - CLASSES.indexOf(a))[0]!
}

const isOurs = (address: Address): boolean => ipaddr.subnetMatch(address, OURS, '') !== ''

function classOf(address: Address): AddressClass {
  const ours = ipaddr.subnetMatch(address, OURS, '') as AddressClass | ''
  if (ours !== '') return ours
  const isGiven = address.kind() === 'ipv4' || address.match(UNICAST)
  const known = REGISTRIES[address.range()] ?? 'reserved'
  return known === 'public' && !isGiven ? 'reserved' : known
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
 * @returns the parsed target, or what is wrong with it: the rule alone, for whoever asks names the field before it.
 */
export function parseTarget(text: string): Target | string {
  const url = URL.canParse(text) ? new URL(text) : null
  if (!url) return 'must be an absolute http or https address'
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return 'must begin with http:// or https://'
  if (url.username || url.password) return 'must not contain a user name or a password'
  if (text.includes('#')) return 'must not contain a fragment (#)'
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

/*
 * The proxy that requests go out through, where the environment names one, as most programs take it: HTTPS_PROXY for
 * addresses with https, HTTP_PROXY for those with http, each also in small letters, and NO_PROXY for what is asked directly.
 */

/** Where a proxy listens. */
export interface ProxyAddress {
  /** Such as `http://proxy.example.com:3128`. */
  origin: string
  /** Value of the header Proxy-Authorization; null: it asks for no login. */
  authorization: string | null
  /** Of which the address is. */
  variable: 'HTTPS_PROXY' | 'HTTP_PROXY'
}

export interface OutboundProxy {
  addresses: readonly ProxyAddress[]
  /** @returns the proxy that this target is asked through; null: it is asked directly */
  of(target: Target): ProxyAddress | null
}

const PROXY_OF = { 'https:': 'HTTPS_PROXY', 'http:': 'HTTP_PROXY' } as const

/**
 * The proxies of an environment. This machine's own addresses are asked directly, whatever it says.
 * @returns null: it names none. @throws SvcError invalid, which names the variable and the rule, never the value.
 */
export function outboundProxy(env: Readonly<Record<string, string | undefined>>): OutboundProxy | null {
  const read = (name: string) => env[name.toLowerCase()]?.trim() || env[name]?.trim() || null
  const found: ProxyAddress[] = []
  for (const variable of Object.values(PROXY_OF)) {
    const value = read(variable)
    if (value === null) continue
    const url = parseProxy(value)
    if (url === null)
      fail(
        'invalid',
        `${variable} must be the address of an http or https proxy, such as http://proxy.example.com:3128`,
      )
    found.push({ variable, origin: url.origin, authorization: loginOf(url) })
  }
  if (found.length === 0) return null
  const isDirect = directRule(read('NO_PROXY') ?? '')
  return {
    addresses: found,
    of: (target) => {
      const variable = PROXY_OF[target.url.protocol as keyof typeof PROXY_OF]
      const proxy = found.find((one) => one.variable === variable)
      return !proxy || isOwn(target.host) || isDirect(target) ? null : proxy
    },
  }
}

/** `proxy:3128` is an address of http, as other programs take it. */
function parseProxy(value: string): URL | null {
  const text = /^[a-z][a-z0-9+.-]*:\/\//i.test(value) ? value : `http://${value}`
  const url = URL.canParse(text) ? new URL(text) : null
  return url && /^https?:$/.test(url.protocol) ? url : null
}

function loginOf({ username, password }: URL): string | null {
  if (!username && !password) return null
  return `Basic ${Buffer.from(`${unescaped(username)}:${unescaped(password)}`).toString('base64')}`
}

function unescaped(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    // A password with a % that escapes nothing is meant as it stands.
    return text
  }
}

const isOwn = (host: string): boolean =>
  isIP(host) ? classify(host) === 'loopback' : /(^|\.)localhost\.?$/i.test(host)

/** Entries of NO_PROXY: a name with all below it, an address, a network (10.0.0.0/8), each with a port or without, or `*`. */
function directRule(text: string): (target: Target) => boolean {
  const rules = text
    .split(/[\s,]+/)
    .filter(Boolean)
    .map(directEntry)
  return ({ url, host }) => {
    const port = Number(url.port) || (url.protocol === 'https:' ? 443 : 80)
    const name = host.toLowerCase().replace(/\.$/, '')
    return rules.some((rule) => (rule.port === null || rule.port === port) && rule.fits(name))
  }
}

function directEntry(entry: string): { port: number | null; fits(name: string): boolean } {
  const [, bracketed, plain, port] = /^(?:\[([^\]]*)\]|(.*?))(?::(\d+))?$/.exec(
    isIP(entry) === 6 ? `[${entry}]` : entry,
  )!
  const host = (bracketed ?? plain ?? '').toLowerCase().replace(/^\*?\./, '')
  const at = port === undefined ? null : Number(port)
  if (host === '*') return { port: at, fits: () => true }
  if (ipaddr.isValidCIDR(host)) {
    const network = ipaddr.parseCIDR(host)
    return { port: at, fits: (name) => isIP(name) !== 0 && isWithin(ipaddr.parse(name), network) }
  }
  return { port: at, fits: (name) => name === host || (isIP(host) === 0 && name.endsWith(`.${host}`)) }
}

/** ipaddr.js refuses to compare addresses of two kinds. */
const isWithin = (address: Address, network: [Address, number]): boolean =>
  address.kind() === network[0].kind() && address.match(network)

/**
 * Where the service may connect to. An address is judged after its name was resolved, once, and every
 * address it has must pass: the connection then goes to those addresses and to no others, so that a
 * name that changes its mind in between gains nothing.
 */
import { isIP } from 'node:net'
import { type AddressClass, classify } from './address.ts'

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

/**
 * Whose requests count together where callers are told by their addresses: wrong credentials, registrations. Behind a
 * proxy all have the proxy's, and what it says of them in X-Forwarded-For is believed where the operator says so.
 */
import type { IncomingHttpHeaders } from 'node:http'
import { isIP } from 'node:net'
import { plainAddress } from './config-syslog.ts'

/**
 * Each proxy appends the address it was asked from, so that the list is read from its end, as far as those that wrote it
 * are trusted; what stands before that anybody can have sent.
 * @param isProxy whether an address is one whose word is taken; null: none is
 */
export function callerAddress(
  { headers, socket }: { headers: IncomingHttpHeaders; socket: { remoteAddress?: string | undefined } },
  isProxy: ((address: string) => boolean) | null | undefined,
): string {
  let address = plainAddress(socket.remoteAddress ?? '')
  if (!isProxy?.(address)) return address
  const said = headers['x-forwarded-for'] ?? ''
  for (const one of String(said).split(',').reverse()) {
    const named = withoutPort(one.trim())
    if (isIP(named) === 0) break
    address = plainAddress(named)
    if (!isProxy(address)) break
  }
  return address
}

/** Some proxies write the port too, `192.0.2.7:51234` and `[2001:db8::7]:51234`. */
function withoutPort(text: string): string {
  const match = /^\[([0-9a-f:.]+)\](?::\d+)?$/i.exec(text) ?? /^(\d+\.\d+\.\d+\.\d+):\d+$/.exec(text)
  return match ? match[1]! : text
}

/** Names to addresses by the system's resolver, which knows the hosts file and containers' names. */
import { lookup } from 'node:dns/promises'
import type { Resolve } from './target.ts'

/**
 * The system's resolver. Each look-up holds one of the few threads that files and names share, so a
 * name that many ask for at once is asked for once: a dead name server holds one thread, not all.
 * Nothing is kept once it has answered.
 */
export function systemResolve(): Resolve {
  return shared(async (host) => (await lookup(host, { all: true })).map(({ address }) => address))
}

/** One call under way per host. */
export function shared(resolve: Resolve): Resolve {
  const underWay = new Map<string, Promise<readonly string[]>>()
  return (host) => {
    const known = underWay.get(host)
    if (known) return known
    const asked = resolve(host).finally(() => underWay.delete(host))
    underWay.set(host, asked)
    return asked
  }
}

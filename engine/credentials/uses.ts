/** What names a stored credential: what stops where it goes. */
import type { Declared } from '../declared/declared.ts'
import { storedName } from '../parts/secret-fields.ts'
import { githubName } from './types.ts'

export interface Uses {
  sources: string[]
  mcp_servers: string[]
}

/** By credential, names in order; of one that nothing uses there is no entry. */
export function usesOf({ kinds }: Pick<Declared, 'kinds'>): Map<string, Uses> {
  const uses = new Map<string, Uses>()
  const of = (name: string): Uses => {
    const known = uses.get(name) ?? { sources: [], mcp_servers: [] }
    uses.set(name, known)
    return known
  }
  for (const { name, doc } of kinds.source.list()) {
    const { credential } = (doc.connector === 'github' ? (doc.config ?? {}) : {}) as { credential?: unknown }
    if (typeof credential === 'string') of(credential).sources.push(name)
  }
  for (const { name, doc } of kinds.mcp_server.list()) {
    const credential = githubName(storedName(doc.auth_value))
    if (credential !== null) of(credential).mcp_servers.push(name)
  }
  for (const { sources, mcp_servers } of uses.values()) {
    sources.sort()
    mcp_servers.sort()
  }
  return uses
}

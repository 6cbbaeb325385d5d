/** Stored credentials with what names them: the calls of the writer, and what a change sets off. */
import type { StoredCredential } from '../../schemas/types.ts'
import type { Declared } from '../declared/declared.ts'
import type { CredentialPort, CredentialWrites } from './calls.ts'
import type { Credentials } from './credentials.ts'
import type { CredentialRow } from './queries.ts'
import { type Uses, usesOf } from './uses.ts'

const NO_USES: Uses = { sources: [], mcp_servers: [] }

/** Rows alone; nobody is asked. @param onChanged sources are due that were not. */
export function credentialWrites(parts: {
  credentials: Credentials
  declared: Declared
  onChanged(): void
}): CredentialWrites & CredentialPort {
  const { credentials, declared, onChanged } = parts
  const { store, clock, sources } = declared

  /** What reads with it is polled at once; from the beginning where it is of another GitHub now. */
  function pollAgain(name: string, moved: boolean): void {
    const { polls, queries } = sources.store
    const at = clock.now()
    for (const source of usesOf(declared).get(name)?.sources ?? []) {
      const { id, config } = queries.byName(source)!
      const follows = moved && (JSON.parse(config) as { api_url?: string }).api_url === undefined
      if (follows) polls.restart(id, at, `It reads anew, because the address of ${name} changed.`)
      else polls.begin(id, at)
    }
  }

  /** In one transaction, so that no poll is missed by a crash. */
  function changing(change: () => { name: string; moved: boolean }): void {
    store.tx(() => {
      const { name, moved } = change()
      pollAgain(name, moved)
    })
    onChanged()
  }

  return {
    listCredentials: async () => {
      const uses = usesOf(declared)
      return {
        credentials: credentials.rows().map((row) => {
          const found = credentials.find(row.name)
          return presented(row, typeof found === 'string' ? found : null, uses.get(row.name) ?? NO_USES)
        }),
      }
    },
    deleteCredential: async (name) => {
      credentials.remove(name)
      return { ok: true, ...(usesOf(declared).get(name) ?? NO_USES) }
    },
    storeCredential: async (body) =>
      changing(() => {
        credentials.create(body)
        return { name: body.name, moved: false }
      }),
    changeCredential: async (name, body) => changing(() => ({ name, ...credentials.change(name, body) })),
    credentialToAsk: async (name) => credentials.require(name),
    noteCredential: async (name, rotatedAt, { login, expires_at: expires }) =>
      credentials.seen({
        ...{ name, rotatedAt, account: login ?? null },
        expiresAt: expires ? Date.parse(expires) : null,
      }),
  }
}

const presented = (row: CredentialRow, problem: string | null, uses: Uses): StoredCredential => ({
  name: row.name,
  kind: 'token',
  api_url: row.api_url,
  account: row.account,
  expires_at: iso(row.expires_at),
  problem,
  created_at: iso(row.created_at)!,
  updated_at: iso(row.updated_at)!,
  rotated_at: iso(row.rotated_at)!,
  ...uses,
})

const iso = (at: number | null): string | null => (at === null ? null : new Date(at).toISOString())

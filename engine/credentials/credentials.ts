/**
 * Tokens of GitHub, stored once by name (SPEC.md, Credential (GitHub)). Sources and MCP servers name them,
 * so that rotating is one write. Tokens are sealed in their row and leave it for the way out alone.
 */
import type { CredentialUpdate, CredentialWrite } from '../../schemas/types.ts'
import type { Clock } from '../clock.ts'
import { fail, SvcError } from '../errors.ts'
import { refuseMoved } from '../moved-secret.ts'
import type { Secrets } from '../secrets.ts'
import type { StoreHandle } from '../store/handle.ts'
import { apiUrlOf } from './address.ts'
import { type CredentialRow, credentialQueries } from './queries.ts'
import { type CredentialLookup, type UsableCredential, WHERE } from './types.ts'

/** What a token is made of; anything else is a slip of the clipboard, and no header carries it. */
const TOKEN = /^[\x21-\x7e]+$/

export interface Credentials extends CredentialLookup {
  /** By name. */
  rows(): CredentialRow[]
  /** @throws SvcError conflict: the name is taken; invalid */
  create(body: CredentialWrite): void
  /** @returns whether it is now for another address. @throws SvcError not_found; invalid */
  change(name: string, body: CredentialUpdate): { moved: boolean }
  /** @throws SvcError not_found */
  remove(name: string): void
  /** @throws SvcError not_found; invalid where its token cannot be read here */
  require(name: string): UsableCredential & { rotatedAt: number }
  /** Notes what GitHub said of the token stored at `rotatedAt`. Times in epoch ms. */
  seen(of: { name: string; rotatedAt: number; account: string | null; expiresAt: number | null }): void
}

export function createCredentials(parts: {
  store: StoreHandle
  secrets: Secrets
  clock: Clock
}): Credentials {
  const { store, secrets, clock } = parts
  const queries = credentialQueries(store.db)
  const requireRow = (name: string): CredentialRow =>
    queries.find(name) ?? fail('not_found', `no credential is named ${name}`, { field: 'name' })

  function open({ name, token, api_url: apiUrl }: CredentialRow): UsableCredential | string {
    try {
      return { token: secrets.open(token, placeOf(name)), apiUrl }
    } catch (error) {
      if (!(error instanceof SvcError)) throw error
      return `the token of the credential ${name} cannot be read here; enter it again under ${WHERE}`
    }
  }

  return {
    has: (name) => queries.find(name) !== undefined,
    find: (name) => {
      const row = queries.find(name)
      return row ? open(row) : `no credential is named ${name}; add it under ${WHERE}, or name another`
    },
    rows: () => queries.all(),
    create: ({ name, token, api_url: address }) =>
      store.tx(() => {
        if (queries.find(name))
          fail('conflict', `a credential named ${name} exists; rotate it, or choose another name`, {
            field: 'name',
          })
        const now = clock.now()
        queries.put({
          ...{ name, kind: 'token', account: null, expires_at: null },
          token: secrets.seal(tokenOf(token), placeOf(name)),
          api_url: apiUrlOf(address),
          ...{ created_at: now, updated_at: now, rotated_at: now },
        })
      }),
    change: (name, { token = '', api_url: address }) =>
      store.tx(() => {
        const row = requireRow(name)
        const apiUrl = address === undefined ? row.api_url : apiUrlOf(address)
        const isNew = token.trim() !== ''
        if (!isNew) refuseMoved('token', row.api_url, apiUrl, { field: 'token' })
        const now = clock.now()
        queries.put({
          ...row,
          api_url: apiUrl,
          updated_at: now,
          ...(isNew
            ? {
                token: secrets.seal(tokenOf(token), placeOf(name)),
                rotated_at: Math.max(now, row.rotated_at + 1),
                account: null,
                expires_at: null,
              }
            : {}),
        })
        return { moved: apiUrl !== row.api_url }
      }),
    remove: (name) => {
      requireRow(name)
      queries.remove(name)
    },
    require: (name) => {
      const row = requireRow(name)
      const found = open(row)
      return typeof found === 'string' ? fail('invalid', found) : { ...found, rotatedAt: row.rotated_at }
    },
    seen: (of) => queries.seen(of),
  }
}

const placeOf = (name: string): string => `credentials/${name}/token`

/** @throws SvcError invalid */
function tokenOf(given: string): string {
  const token = given.trim()
  if (TOKEN.test(token)) return token
  return fail('invalid', 'token must be the token alone: letters, digits and signs without blanks', {
    field: 'token',
  })
}

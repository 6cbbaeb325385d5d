/**
 * Stored credentials as callers of the engine see them. Rows are read and written in the writer's thread;
 * GitHub is asked on the main thread, with a token that passes over a port that is no part of `Engine`.
 */
import type {
  CredentialDeleted,
  CredentialSaved,
  CredentialsResult,
  CredentialTested,
  CredentialUpdate,
  CredentialWrite,
  RepositoriesResult,
} from '../../schemas/types.ts'
import type { Access } from '../access.ts'
import type { Clock, Timers } from '../clock.ts'
import { type Reach, UpstreamError } from '../connectors/connector.ts'
import { type Egress, EgressError, fetchOver, within } from '../egress/index.ts'
import { fail, SvcError } from '../errors.ts'
import { apiUrlOf } from './address.ts'
import { repositoriesOf, whoIs } from './github.ts'
import type { UsableCredential } from './types.ts'

export interface CredentialCalls {
  /** By name, without tokens. */
  listCredentials(): Promise<CredentialsResult>
  /** Stores one and asks GitHub whose it is; it is stored whatever GitHub says. @throws SvcError conflict; invalid */
  createCredential(body: CredentialWrite): Promise<CredentialSaved>
  /** A new token is used from the next poll and run on. @throws SvcError not_found; invalid */
  updateCredential(name: string, body: CredentialUpdate): Promise<CredentialSaved>
  /** What names it stays, and says that it is gone. @throws SvcError not_found */
  deleteCredential(name: string): Promise<CredentialDeleted>
  /** @throws SvcError not_found */
  testCredential(name: string): Promise<CredentialTested>
  /** @throws SvcError not_found; upstream; upstream_slow */
  credentialRepositories(name: string, query: string): Promise<RepositoriesResult>
}

/** A token to ask GitHub with, and when it was stored: not for doors. */
export type ToAskGithub = UsableCredential & { rotatedAt: number }

/** What asking needs of the store; not for doors: tokens are in it. */
export interface CredentialPort {
  /** @throws SvcError conflict; invalid */
  storeCredential(body: CredentialWrite): Promise<void>
  /** @throws SvcError not_found; invalid */
  changeCredential(name: string, body: CredentialUpdate): Promise<void>
  /** @throws SvcError not_found; invalid where its token cannot be read here */
  credentialToAsk(name: string): Promise<ToAskGithub>
  /** What GitHub said of the token stored at `rotatedAt`. */
  noteCredential(name: string, rotatedAt: number, said: CredentialTested): Promise<void>
}

/** Those of the store alone. */
export type CredentialWrites = Pick<CredentialCalls, 'listCredentials' | 'deleteCredential'>

const TEST_MS = 15_000
const LIST_MS = 25_000
const REQUEST_MS = 20_000
const ANSWER_BYTES = 16 * 1024 * 1024

/** Calls that ask GitHub. */
export function askingGithub(parts: {
  port: CredentialPort
  egress: Egress
  clock: Clock
  timers: Timers
}): Omit<CredentialCalls, keyof CredentialWrites> {
  const { port, egress, clock, timers } = parts
  // An operator named the address, so it may be inside the network.
  const fetch = fetchOver(egress, {
    audience: 'operator',
    timeoutMs: REQUEST_MS,
    maxResponseBytes: ANSWER_BYTES,
  })

  /** @throws SvcError upstream; upstream_slow */
  async function bounded<T>(ms: number, ask: (reach: Reach) => Promise<T>): Promise<T> {
    const over = new AbortController()
    try {
      const found = await within(timers, ms, undefined, ask({ fetch, clock, signal: over.signal }))
      return typeof found === 'string'
        ? fail('upstream_slow', `GitHub gave no answer within ${ms / 1_000} seconds`)
        : found.value
    } catch (error) {
      if (error instanceof UpstreamError || error instanceof EgressError) fail('upstream', error.message)
      throw error
    } finally {
      // Whatever still runs of it has nobody to answer.
      over.abort()
    }
  }

  async function test(name: string): Promise<CredentialTested> {
    const { rotatedAt, ...credential } = await port.credentialToAsk(name)
    const said = await bounded(TEST_MS, (reach) => whoIs(credential, reach)).catch(
      (error: unknown): CredentialTested => {
        if (error instanceof SvcError) return { ok: false, error: error.message }
        throw error
      },
    )
    if (said.ok) await port.noteCredential(name, rotatedAt, said)
    return said
  }

  /** What was stored is stored, whatever GitHub says of it. */
  async function saved(name: string): Promise<CredentialSaved> {
    const { ok, login = null, error } = await test(name)
    return { ok: true, name, account: login, ...(ok || error === undefined ? {} : { warning: error }) }
  }

  async function checkAddress(address: string | undefined): Promise<void> {
    if (!address?.trim()) return
    const fault = await egress.checkTarget(apiUrlOf(address), 'operator')
    if (fault) fail('invalid', `api_url: ${fault}`, { field: 'api_url' })
  }

  return {
    testCredential: test,
    async createCredential(body) {
      await checkAddress(body.api_url)
      await port.storeCredential(body)
      return saved(body.name)
    },
    async updateCredential(name, body) {
      await checkAddress(body.api_url)
      await port.changeCredential(name, body)
      return saved(name)
    },
    async credentialRepositories(name, query) {
      const { rotatedAt: _at, ...credential } = await port.credentialToAsk(name)
      return bounded(LIST_MS, (reach) => repositoriesOf(credential, query, reach))
    },
  }
}

/** For what passes them on to the thread that answers. */
export const credentialPortAccess: Record<keyof CredentialPort, Access> = {
  storeCredential: 'writes',
  changeCredential: 'writes',
  credentialToAsk: 'reads',
  noteCredential: 'writes',
}

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
  GithubRepository,
  RepositoriesResult,
} from '../../../schemas/types.ts'
import type { Clock, Timers } from '../../clock.ts'
import { fail, SvcError } from '../../errors.ts'
import type { Access } from '../../model/access.ts'
import type { UsableCredential } from '../../model/credentials.ts'
import { type Egress, EgressError, fetchOver, withDeadline } from '../../net/fetch.ts'
import { addressFault } from '../../net/secrets.ts'
import { type Reach, UpstreamError } from '../../sources/connectors/connector.ts'
import { askApi, listOf, messageOf, type Page } from '../../sources/upstreams/github-api.ts'

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
type ToAskGithub = UsableCredential & { rotatedAt: number }

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
    try {
      const found = await withDeadline(timers, ms, undefined, (signal) =>
        ask({ fetch, clock, timers, signal }),
      )
      return typeof found === 'string'
        ? fail('upstream_slow', `GitHub gave no answer within ${ms / 1_000} seconds`)
        : found.value
    } catch (error) {
      if (error instanceof UpstreamError || error instanceof EgressError) fail('upstream', error.message)
      throw error
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

/* What GitHub says of a token: whose it is, and which repositories it may read. */

const PAGE = 100
/** Repositories are searched here, for GitHub has no search among those a token may read. */
const PAGES = 5
const SHOWN = 50
/** What GitHub says to tokens that are of no account, such as those of an app. */
const NO_ACCOUNT = /not accessible by/i

/** @throws UpstreamError where there is no answer of GitHub's */
async function whoIs(credential: UsableCredential, reach: Reach): Promise<CredentialTested> {
  const page = await askApi({ ...credential, path: '/user' }, reach)
  const { status, body, headers } = page
  if (status === 200) {
    const { login } = (body ?? {}) as { login?: unknown }
    if (typeof login !== 'string') return { ok: false, error: NOT_GITHUB }
    return { ok: true, login, scopes: scopesOf(headers), expires_at: expiryOf(headers) }
  }
  const told = messageOf(body, credential.token)
  if (status === 403 && NO_ACCOUNT.test(told))
    return { ok: true, login: null, scopes: scopesOf(headers), expires_at: expiryOf(headers) }
  return { ok: false, error: refusalOf(page, told) }
}

/** @param query part of owner/name, in any case; blank: all. @throws UpstreamError */
async function repositoriesOf(
  credential: UsableCredential,
  query: string,
  reach: Reach,
): Promise<{ repos: GithubRepository[]; more: boolean }> {
  const wanted = query.trim().toLowerCase()
  const found: GithubRepository[] = []
  let hasNext = true
  for (let number = 1; number <= PAGES && hasNext && found.length <= SHOWN; number++) {
    const path = `/user/repos?sort=pushed&per_page=${PAGE}&page=${number}`
    const page = await askApi({ ...credential, path }, reach)
    if (page.status !== 200) throw new UpstreamError(refusalOf(page, messageOf(page.body, credential.token)))
    const listed = listOf<Listed>(page, ({ full_name: name }) => typeof name === 'string')
    found.push(...listed.map(shown).filter(({ repo }) => repo.toLowerCase().includes(wanted)))
    hasNext = page.hasNext
  }
  return { repos: found.slice(0, SHOWN), more: hasNext || found.length > SHOWN }
}

interface Listed {
  full_name: string
  default_branch?: string
  private?: boolean
  pushed_at?: string | null
}

const shown = ({ full_name: repo, default_branch: branch, private: isPrivate, pushed_at: at }: Listed) => ({
  repo,
  default_branch: branch ?? '',
  private: isPrivate === true,
  pushed_at: at ?? null,
})

const NOT_GITHUB =
  'what answers at api_url is not the API of GitHub; for GitHub Enterprise it is https://HOST/api/v3'

function refusalOf({ status }: Page, told: string): string {
  const own = told ? `: ${told.replace(/\.$/, '')}` : ''
  if (status === 401) return 'GitHub does not take the token (401); it may have expired, or be cut off'
  if (status === 403) return `GitHub forbids the request (403)${own}`
  return status === 404 ? NOT_GITHUB : `GitHub answered ${status}${own}; check api_url`
}

/** Classic tokens alone have scopes, and tell them. */
function scopesOf(headers: Headers): string[] | null {
  const told = headers.get('x-oauth-scopes')
  if (told === null) return null
  return told
    .split(',')
    .map((scope) => scope.trim())
    .filter((scope) => scope !== '')
}

/** Such as "2026-12-01 10:00:00 UTC". @returns ISO time */
function expiryOf(headers: Headers): string | null {
  const told = headers.get('github-authentication-token-expiration')
  const at = told === null ? Number.NaN : Date.parse(told)
  return Number.isNaN(at) ? null : new Date(at).toISOString()
}

/* Which GitHub a credential is for. */

const API_URL = 'https://api.github.com'

/** A base address without a slash at its end; blank: GitHub's own. @throws SvcError invalid */
export function apiUrlOf(given = ''): string {
  const text = given.trim()
  if (text === '') return API_URL
  const url = URL.canParse(text) ? new URL(text) : null
  if (!url || !/^https?:$/.test(url.protocol))
    fail('invalid', 'api_url must be an http or https address, such as https://HOST/api/v3', {
      field: 'api_url',
    })
  if (url.username || url.password || url.search || text.includes('#'))
    fail('invalid', 'api_url must have no user, query or fragment', { field: 'api_url' })
  const fault = addressFault(text)
  if (fault !== null) fail('invalid', `api_url: ${fault}`, { field: 'api_url' })
  return url.href.replace(/\/+$/, '')
}

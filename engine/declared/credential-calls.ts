/**
 * Stored credentials as callers of the engine see them. Rows are read and written in the writer's thread;
 * GitHub is asked on the main thread, with a token that passes over a port that is no part of `Engine`.
 */
import { ownField } from '../../schemas/fields-of.ts'
import type {
  CredentialDeleted,
  CredentialSaved,
  CredentialsResult,
  CredentialTested,
  CredentialUpdate,
  CredentialWrite,
  GithubRepository,
  GithubTree,
  RepositoriesResult,
} from '../../schemas/types.ts'
import type { Access } from '../calls.ts'
import type { Clock, Timers } from '../clock.ts'
import { fail, SvcError } from '../errors.ts'
import {
  type AppCredential,
  isApp,
  type TokenCredential,
  type UsableCredential,
} from '../model/credentials.ts'
import { type Egress, EgressError, fetchOver, withDeadline } from '../net/fetch.ts'
import { GithubAppFault, type GithubTokens } from '../net/github-app.ts'
import { addressFault } from '../net/secrets.ts'
import { type Reach, UpstreamError } from '../sources/connectors/connector.ts'
import { askApi, listOf, messageOf, type Page, repoOf } from '../sources/upstreams/github-api.ts'

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
  /** What lies in a folder of a repository. @throws SvcError not_found; invalid; upstream; upstream_slow */
  credentialTree(name: string, of: TreeAsked): Promise<GithubTree>
}

/** A folder of a repository. */
export interface TreeAsked {
  repo: string
  /** Branch, tag or commit; empty: the default branch. */
  ref: string
  /** Empty: the root. */
  path: string
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
  tokens: GithubTokens
  clock: Clock
  timers: Timers
}): Omit<CredentialCalls, keyof CredentialWrites> {
  const { port, egress, tokens, clock, timers } = parts
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
      const isTheirs =
        error instanceof UpstreamError || error instanceof EgressError || error instanceof GithubAppFault
      if (isTheirs) fail('upstream', error.message)
      throw error
    }
  }

  async function test(name: string): Promise<CredentialTested> {
    const { rotatedAt, ...credential } = await port.credentialToAsk(name)
    const said = await bounded(TEST_MS, (reach) =>
      isApp(credential) ? whichApp(credential, tokens) : whoIs(credential, reach),
    ).catch((error: unknown): CredentialTested => {
      if (error instanceof SvcError) return { ok: false, error: error.message }
      throw error
    })
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
      return bounded(LIST_MS, (reach) =>
        isApp(credential)
          ? repositoriesOfApp(credential, query, { reach, tokens })
          : repositoriesOf(credential, query, { path: '/user/repos?sort=pushed&', reach }),
      )
    },
    async credentialTree(name, { repo: given, ref, path }) {
      const repo = repoOf(given)
      if (repo === null) return fail('invalid', 'repo must be owner/name', { field: 'repo' })
      const folder = folderOf(path)
      const { rotatedAt: _at, ...credential } = await port.credentialToAsk(name)
      return bounded(LIST_MS, async (reach) =>
        treeOf(await tokens.use(credential, repo), { repo, ref, path: folder }, reach),
      )
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
async function whoIs(credential: TokenCredential, reach: Reach): Promise<CredentialTested> {
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

/** What an app may, and where. @throws GithubAppFault */
async function whichApp(credential: AppCredential, tokens: GithubTokens): Promise<CredentialTested> {
  const [{ slug, permissions }, installations] = await Promise.all([
    tokens.facts(credential),
    tokens.installations(credential),
  ])
  const said = { login: slug, scopes: null, expires_at: null, permissions, installations }
  const usable = installations.filter(({ id, suspended }) => !suspended && isMeant(credential, id))
  const { name, installation } = credential.app
  if (usable.length === 0)
    return {
      ...{ ok: false, ...said },
      error:
        installation === null
          ? `the app of ${name} is installed nowhere, or suspended; install it on GitHub`
          : `the app of ${name} has no installation ${installation}, or it is suspended; installation_id names another`,
    }
  // That a token can be had is seen by having one.
  await tokens.use({ ...credential, app: { ...credential.app, installation: usable[0]!.id } }, null)
  return { ok: true, ...said }
}

const isMeant = ({ app: { installation } }: AppCredential, id: number): boolean =>
  installation === null || installation === id

/** Of how many installations repositories are listed. */
const INSTALLATIONS_MAX = 20

/** Repositories of the installations that are used, those of one after those of another. @throws UpstreamError; GithubAppFault */
async function repositoriesOfApp(
  credential: AppCredential,
  query: string,
  { reach, tokens }: { reach: Reach; tokens: GithubTokens },
): Promise<RepositoriesResult> {
  const active = (await tokens.installations(credential)).filter(
    ({ id, suspended }) => !suspended && isMeant(credential, id),
  )
  const repos: GithubRepository[] = []
  let more = active.length > INSTALLATIONS_MAX
  for (const { id } of active.slice(0, INSTALLATIONS_MAX)) {
    const used = await tokens.use({ ...credential, app: { ...credential.app, installation: id } }, null)
    const found = await repositoriesOf(used, query, { path: '/installation/repositories?', reach })
    repos.push(...found.repos)
    more ||= found.more || repos.length > SHOWN
    if (repos.length > SHOWN) break
  }
  return { repos: repos.slice(0, SHOWN), more }
}

/** @param query part of owner/name, in any case; blank: all. @param path of the list, up to its paging. @throws UpstreamError */
async function repositoriesOf(
  credential: TokenCredential,
  query: string,
  { path, reach }: { path: string; reach: Reach },
): Promise<RepositoriesResult> {
  const wanted = query.trim().toLowerCase()
  const found: GithubRepository[] = []
  let hasNext = true
  for (let number = 1; number <= PAGES && hasNext && found.length <= SHOWN; number++) {
    const page = await askApi({ ...credential, path: `${path}per_page=${PAGE}&page=${number}` }, reach)
    if (page.status !== 200) throw new UpstreamError(refusalOf(page, messageOf(page.body, credential.token)))
    // That of an installation is a field of its answer.
    const { repositories: ofInstallation = page.body } = (page.body ?? {}) as { repositories?: unknown }
    const listed = listOf<Listed>(
      { ...page, body: ofInstallation },
      ({ full_name: name }) => typeof name === 'string',
    )
    found.push(...listed.map(shown).filter(({ repo }) => repo.toLowerCase().includes(wanted)))
    hasNext = page.hasNext
  }
  return { repos: found.slice(0, SHOWN), more: hasNext || found.length > SHOWN }
}

/* What lies in a folder of a repository (docs.github.com, REST, Get repository content). */

/** GitHub lists no more of a folder. */
const ENTRIES_MAX = 1_000
const ENTRY_TYPES: Readonly<Record<string, GithubTree['entries'][number]['type']>> = {
  ...{ dir: 'folder', file: 'file', symlink: 'link', submodule: 'submodule' },
}

/** @throws SvcError invalid */
function folderOf(given: string): string {
  const steps = given.split('/').filter(Boolean)
  if (steps.some((step) => step === '.' || step === '..'))
    fail('invalid', 'path must be a folder of the repository, without . and ..', { field: 'path' })
  return steps.join('/')
}

interface ListedEntry {
  path: string
  type: string
  size?: number
}

/** @throws UpstreamError; SvcError not_found */
async function treeOf(
  credential: TokenCredential,
  { repo, ref, path }: TreeAsked,
  reach: Reach,
): Promise<GithubTree> {
  const folder = path.split('/').map(encodeURIComponent).join('/')
  const query = ref === '' ? '' : `?ref=${encodeURIComponent(ref)}`
  const page = await askApi({ ...credential, path: `/repos/${repo}/contents/${folder}${query}` }, reach)
  const told = messageOf(page.body, credential.token)
  if (page.status === 404)
    return fail(
      'not_found',
      `GitHub has no ${path || 'content'} in ${repo}${ref && ` at ${ref}`} that it may read (404)`,
      {
        field: path === '' ? 'repo' : 'path',
      },
    )
  if (page.status !== 200) throw new UpstreamError(refusalOf(page, told))
  // Of a file there is one entry, with its content.
  const body = Array.isArray(page.body) ? page.body : [page.body]
  const listed = listOf<ListedEntry>(
    { ...page, body },
    ({ path: at, type }) => typeof at === 'string' && !!type,
  )
  const entries = listed.map(({ path: at, type, size = 0 }) => ({
    ...{ path: at, size },
    type: ownField(ENTRY_TYPES, type) ?? 'file',
  }))
  const rank = ({ type }: { type: string }) => (type === 'folder' ? 0 : 1)
  return {
    ...{ repo, path, ref: ref || null },
    entries: entries.sort((a, b) => rank(a) - rank(b) || (a.path < b.path ? -1 : 1)),
    more: entries.length >= ENTRIES_MAX,
  }
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

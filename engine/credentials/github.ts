/** What GitHub says of a token: whose it is, and which repositories it may read. */
import type { CredentialTested, GithubRepository } from '../../schemas/types.ts'
import { type Reach, UpstreamError } from '../connectors/connector.ts'
import { askApi, listOf, messageOf, type Page } from '../connectors/github/api.ts'
import type { UsableCredential } from './types.ts'

const PAGE = 100
/** Repositories are searched here, for GitHub has no search among those a token may read. */
const PAGES = 5
const SHOWN = 50
/** What GitHub says to tokens that are of no account, such as those of an app. */
const NO_ACCOUNT = /not accessible by/i

/** @throws UpstreamError where there is no answer of GitHub's */
export async function whoIs(credential: UsableCredential, reach: Reach): Promise<CredentialTested> {
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
export async function repositoriesOf(
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

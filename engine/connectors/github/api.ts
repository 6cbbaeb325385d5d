/**
 * Asking GitHub's REST API: conditional requests, its limit of requests, refusals as sentences. Every
 * address is made here from the config's, never taken from an answer, so that the token goes nowhere else.
 */
import type { GithubConfig } from '../../../schemas/types.ts'
import { oneLine } from '../../ingest/template.ts'
import { type Reach, UpstreamError } from '../connector.ts'
import { type Answer, ask, jsonOf } from '../http-poll/ask.ts'
import { retryAfter } from '../upstream.ts'
import { apiOf, repoOf } from './repo.ts'

const NAME = 'GitHub'
const VERSION = '2022-11-28'
/** Statuses that mean something of their own; others are failures. */
const READ = [304, 400, 401, 403, 404, 409, 422, 429, 451]
const TOLD_MAX = 200
/** What its documentation asks for where a refusal names no time. */
const WAIT_MS = 60_000
const NOT_IN_HEADERS = /[^\x21-\x7e]/

export interface Page {
  status: number
  /** Parsed JSON; undefined where nothing changed. */
  body: unknown
  etag: string | null
  hasNext: boolean
  headers: Headers
}

export interface GithubApi {
  /** owner/name */
  repo: string
  hasToken: boolean
  /** Requests left, and the time they are counted anew, epoch ms; null until said. */
  left: { requests: number; until: number } | null
  /**
   * Asks below /repos/owner/name.
   * @param etag of what is known: status 304 where that has not changed. @param allow refusals to return.
   * @throws UpstreamError
   */
  get(path: string, asked?: { etag?: string | undefined; allow?: readonly number[] }): Promise<Page>
  /** What an answer refuses with, as a sentence that says what to do. */
  refusal(page: Page): UpstreamError
}

/**
 * One request below the address of the API; every status is an answer, unless it says that no more
 * requests are allowed. @throws UpstreamError
 */
export async function askApi(
  { apiUrl, token, path, etag }: { apiUrl: string; token: string | null; path: string; etag?: string },
  reach: Reach,
): Promise<Page> {
  const headers = {
    accept: 'application/vnd.github+json',
    'x-github-api-version': VERSION,
    ...(token === null ? {} : { authorization: `Bearer ${token}` }),
    ...(etag === undefined ? {} : { 'if-none-match': etag }),
  }
  const answer = await ask({ url: `${apiUrl}${path}`, headers, name: NAME, allow: READ }, reach)
  const page = pageOf(answer)
  const limited = limitOf(answer, page, reach.clock.now(), token !== null)
  if (limited) throw limited
  return page
}

/** @param config with a valid repo; of a stored credential with its token and address. */
export function openApi(
  config: Pick<GithubConfig, 'repo' | 'token' | 'api_url' | 'credential'>,
  reach: Reach,
): GithubApi {
  const repo = repoOf(config.repo)!
  const token = tokenOf(config.token)
  const from = config.credential ? `the credential ${config.credential}` : null
  const refusal = ({ status, body }: Page) =>
    new UpstreamError(sentence(status, repo, token !== null, from, messageOf(body, token)))
  const api: GithubApi = {
    repo,
    hasToken: token !== null,
    left: null,
    refusal,
    async get(path, { etag, allow = [] } = {}) {
      const asked = { apiUrl: apiOf(config), token, path: `/repos/${repo}${path}` }
      const page = await askApi({ ...asked, ...(etag === undefined ? {} : { etag }) }, reach)
      api.left = leftOf(page.headers) ?? api.left
      if (page.status >= 400 && !allow.includes(page.status)) throw refusal(page)
      return page
    },
  }
  return api
}

/** The repository itself. @throws UpstreamError */
export async function repositoryOf(api: GithubApi): Promise<{ branch: string; isPrivate: boolean }> {
  const { body } = await api.get('')
  const { default_branch: branch, private: isPrivate } = (body ?? {}) as Record<string, unknown>
  if (typeof branch !== 'string' || branch === '') throw notGithub()
  return { branch, isPrivate: isPrivate === true }
}

/** A list GitHub answers with. @param isOne what its entries must be. @throws UpstreamError */
export function listOf<T>({ body }: Page, isOne: (entry: Partial<T>) => boolean): T[] {
  if (Array.isArray(body) && body.every((entry) => isOne((entry ?? {}) as Partial<T>))) return body as T[]
  throw notGithub()
}

const notGithub = (): UpstreamError =>
  new UpstreamError(
    'what answers at api_url is not the API of GitHub; for GitHub Enterprise it is https://HOST/api/v3',
  )

/** One from the environment often ends with the line break of the file it came from. */
function tokenOf(given: string | undefined): string | null {
  const token = given?.trim()
  if (!token) return null
  if (NOT_IN_HEADERS.test(token))
    throw new UpstreamError('the token contains characters that no token has; enter it again')
  return token
}

function pageOf(answer: Answer): Page {
  const { status, headers, bytes } = answer
  return {
    status,
    // Refusals of a proxy are pages for people; their status is enough.
    body:
      status === 304 || (status >= 400 && !isJson(headers)) || !bytes.length
        ? undefined
        : jsonOf(answer, NAME),
    etag: headers.get('etag'),
    hasNext: /;\s*rel="next"/.test(headers.get('link') ?? ''),
    headers,
  }
}

const isJson = (headers: Headers): boolean => /\bjson\b/.test(headers.get('content-type') ?? '')

function leftOf(headers: Headers): GithubApi['left'] {
  const [requests, reset] = ['x-ratelimit-remaining', 'x-ratelimit-reset'].map((name) => headers.get(name))
  if (!requests || !reset) return null
  return { requests: Number(requests), until: Number(reset) * 1_000 }
}

/** The error of an answer that says the limit is used up; null: it does not. */
function limitOf({ headers }: Answer, page: Page, now: number, hasToken: boolean): UpstreamError | null {
  if (page.status !== 403 && page.status !== 429) return null
  const asked = retryAfter(headers.get('retry-after'), now)
  const left = leftOf(headers)
  const isUsedUp = left?.requests === 0
  const isSecondary = /rate limit|abuse/i.test(messageOf(page.body, null))
  if (page.status === 403 && asked === null && !isUsedUp && !isSecondary) return null
  const reset = isUsedUp ? left.until - now : 0
  const wait = asked ?? (reset > 0 ? reset : WAIT_MS)
  const more = hasToken ? '' : '; with a token GitHub allows 5,000 requests an hour'
  return new UpstreamError(
    `the requests GitHub allows are used up (${page.status}); it is asked again after ${clockOf(now + wait)}${more}`,
    wait,
  )
}

/** @param at epoch ms. */
export const clockOf = (at: number): string => `${new Date(at).toISOString().slice(11, 16)} UTC`

/** What GitHub itself says, shortened, without the token. */
export function messageOf(body: unknown, token: string | null): string {
  const { message } = (body ?? {}) as { message?: unknown }
  if (typeof message !== 'string') return ''
  return oneLine(token === null ? message : message.replaceAll(token, '•••'), TOLD_MAX)
}

/** @param from the stored credential its token is of; null: it is the source's own. */
function sentence(
  status: number,
  repo: string,
  hasToken: boolean,
  from: string | null,
  told: string,
): string {
  const own = told ? `: ${told.replace(/\.$/, '')}` : ''
  switch (status) {
    case 401:
      if (from !== null)
        return `GitHub does not take the token of ${from} (401); it may have expired: rotate it under Settings, GitHub`
      return hasToken
        ? 'GitHub does not take the token (401); it may have expired: enter a new one in token'
        : 'GitHub asks for a token (401); set token'
    case 403:
      return `GitHub forbids reading ${repo} (403)${own}; the token needs the right to read its contents and pull requests`
    case 404:
      return hasToken
        ? `GitHub has no ${repo} that the token may read (404); check repo, and that the token is given access to it`
        : `GitHub has no public repository ${repo} (404); check repo, and set a token if it is private`
    default:
      return `GitHub answered ${status} for ${repo}${own}; check repo and api_url`
  }
}

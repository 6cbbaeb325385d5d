/**
 * Asking GitHub's REST API: conditional requests, its limit of requests, refusals as sentences. Every
 * address is made here from the config's, never taken from an answer, so that the token goes nowhere else.
 */
import type { GithubConfig } from '../../../schemas/types.ts'
import { oneLine } from '../../log/ingest/label.ts'
import { type Reach, UpstreamError } from '../connectors/connector.ts'
import { type Answer, ask, jsonOf } from '../connectors/http-pages.ts'
import { retryAfter } from '../connectors/upstream.ts'
import { atMost } from './prometheus-api.ts'

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

interface GithubApi {
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
const clockOf = (at: number): string => `${new Date(at).toISOString().slice(11, 16)} UTC`

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

/* Which repository of which GitHub a config means. */

const API_URL = 'https://api.github.com'
const REPO_NAME = /^[A-Za-z0-9_-]{1,100}\/(?!\.{1,2}$)[A-Za-z0-9._-]{1,100}$/

/** @param text owner/name, or an address as people paste it. @returns owner/name; null: it is none. */
export function repoOf(text: string): string | null {
  const path = text
    .trim()
    .replace(/^(\w+:\/\/[^/]+\/|[\w.-]+@[^:/]+:|[\w-]+(\.[\w-]+)+\/(?=[^/]+\/))/, '')
    .replace(/[?#].*$/, '')
  const name = path
    .split('/')
    .slice(0, 2)
    .join('/')
    .replace(/\.git$/, '')
  return REPO_NAME.test(name) ? name : null
}

/** Base address of the API, without a slash at its end. */
const apiOf = ({ api_url: url = API_URL }: Pick<GithubConfig, 'api_url'>): string => url.replace(/\/+$/, '')

/** Rules a JSON Schema cannot say. @returns a sentence per fault. */
export function repoFaults({ repo, api_url: url }: Partial<GithubConfig>): string[] {
  const faults: string[] = []
  if (repo !== undefined && repoOf(repo) === null)
    faults.push('config.repo must be owner/name, or the address of a repository')
  if (url !== undefined && (!URL.canParse(url) || new URL(url).username || new URL(url).password))
    faults.push('config.api_url must be an address without a user name or a password')
  return faults
}

/** A token of its own and a stored one: which would be sent is not to be guessed. @returns a sentence per fault. */
export const tokenFaults = ({ token, credential }: Partial<GithubConfig>): string[] =>
  token && credential ? ['config.token and config.credential exclude each other: keep one of them'] : []

/* New commits of a branch, with the files they change. */

const FIRST = 20
const PAGE = 100
const PAGES = 10
/** Of one poll: each may cost a request for its files. */
const COMMITS_MAX = 100
const KNOWN_MAX = 200
const AT_ONCE = 5
const FILES_MAX = 20
const PATCH_MAX = 4_000
/** Below this, requests are kept for what is new. */
const SPARE = 500

export interface CommitsPlace {
  /** The branch that is read, where the config names none: the default one. */
  branch?: string
  /** Commits that were read, newest first. */
  known: string[]
  /** What the first page was, and its ETag. */
  etag?: [path: string, etag: string]
  /** What is to be told until all that is new was read. */
  gap?: string
}

interface CommitsRead {
  items: object[]
  place: CommitsPlace
  more: boolean
  notices: string[]
}

/** @param place of the poll before; null: the first, which takes the newest ones. @throws UpstreamError */
export async function readCommits(
  api: GithubApi,
  config: GithubConfig,
  place: CommitsPlace | null,
): Promise<CommitsRead> {
  const first = await firstPage(api, config, place)
  const { branch, path, page } = first
  const own = config.branch ? {} : { branch }
  if (page.status === 304) return { items: [], place: place!, more: false, notices: [] }
  // 409: a repository without a commit.
  const listed = page.status === 409 ? [] : commitsOf(page)
  const since = place?.known ?? null
  const found =
    since === null
      ? { fresh: [...listed].reverse(), isWhole: true, goesOn: true }
      : await newSince(api, branch, listed, since, page.hasNext)
  const taken = found.fresh.slice(0, COMMITS_MAX)
  const more = found.fresh.length > taken.length
  const { files, notices } = await filesOf(api, config, taken)
  const gap = gapOf(found, branch) ?? place?.gap
  // A history that was set back has no new commit; its head is what is read.
  const newest = taken.length
    ? taken.map(({ sha }) => sha).reverse()
    : listed.slice(0, 1).map(({ sha }) => sha)
  return {
    items: taken.map((commit, i) => ({ ...commit, _branch: branch, ...files[i] })),
    place: {
      ...own,
      known: [...new Set([...newest, ...(since ?? [])])].slice(0, KNOWN_MAX),
      ...(more || page.etag === null ? {} : { etag: [path, page.etag] }),
      ...(more && gap !== undefined ? { gap } : {}),
    },
    more,
    notices: [...(gap === undefined ? [] : [gap]), ...notices],
  }
}

/** A branch that is gone, or a repository: one more request tells which, and whether the default changed. */
async function firstPage(api: GithubApi, config: GithubConfig, place: CommitsPlace | null) {
  const ask = async (branch: string) => {
    const path = `/commits?sha=${encodeURIComponent(branch)}&per_page=${config.limit ?? FIRST}`
    const etag = place?.etag?.[0] === path ? place.etag[1] : undefined
    return { branch, path, page: await api.get(path, { etag, allow: [404, 409] }) }
  }
  const known = config.branch ?? place?.branch
  const asked = await ask(known ?? (await repositoryOf(api)).branch)
  if (asked.page.status !== 404) return asked
  const { branch: present } = await repositoryOf(api)
  const again = config.branch || present === asked.branch ? asked : await ask(present)
  if (again.page.status === 404)
    throw new UpstreamError(`${api.repo} has no branch ${again.branch} (404); check branch`)
  return again
}

/** Pages back until every way ends at what is known. */
async function newSince(
  api: GithubApi,
  branch: string,
  head: readonly Commit[],
  known: readonly string[],
  hasNext: boolean,
) {
  let listed = [...head]
  let found = newCommits(listed, known)
  let isLast = !hasNext
  for (let number = 1; number <= PAGES && !found.isWhole && !isLast; number++) {
    const page = await api.get(`/commits?sha=${encodeURIComponent(branch)}&per_page=${PAGE}&page=${number}`)
    listed = number === 1 ? commitsOf(page) : [...listed, ...commitsOf(page)]
    isLast = !page.hasNext
    found = newCommits(listed, known)
  }
  return found
}

const commitsOf = (page: Page): Commit[] =>
  listOf<Commit>(page, ({ sha, parents }) => typeof sha === 'string' && Array.isArray(parents))

function gapOf(
  { isWhole, goesOn }: { isWhole: boolean; goesOn: boolean },
  branch: string,
): string | undefined {
  if (!isWhole)
    return `More than ${PAGES * PAGE} commits lie between this poll and the one before, or the history of ${branch} was rewritten; commits further back were not read.`
  return goesOn ? undefined : `The history of ${branch} was rewritten; what is new in it was read.`
}

/** The files of each commit, in their order; without a token the few requests there are do not suffice. */
async function filesOf(api: GithubApi, config: GithubConfig, commits: readonly Commit[]) {
  if (config.files === false || !api.hasToken) return { files: [], notices: [] }
  let without = 0
  const files = await atMost(AT_ONCE, commits, async ({ sha }) => {
    if (api.left && api.left.requests < SPARE) {
      without++
      return {}
    }
    const { body } = await api.get(`/commits/${encodeURIComponent(sha)}`)
    return shortened((body as { files?: unknown } | undefined)?.files)
  })
  const notices = without
    ? [
        `Fewer than ${SPARE} requests are left until ${clockOf(api.left!.until)}: ${without} ${without === 1 ? 'commit is' : 'commits are'} stored without changed files.`,
      ]
    : []
  return { files, notices }
}

function shortened(files: unknown): object {
  if (!Array.isArray(files)) return {}
  return {
    files: files
      .slice(0, FILES_MAX)
      .map(({ filename, status, additions, deletions, patch }: Record<string, unknown>) => ({
        ...{ filename, status, additions, deletions },
        ...(typeof patch === 'string' ? { patch: patch.slice(0, PATCH_MAX) } : {}),
      })),
    ...(files.length > FILES_MAX ? { files_truncated: true } : {}),
  }
}

/* What is new in a history, as `git rev-list head --not known` tells it: from a list of its newest commits. */

interface Commit {
  sha: string
  parents: { sha: string }[]
  [field: string]: unknown
}

interface NewCommits {
  /** Oldest first. */
  fresh: Commit[]
  /** Every way back from the head ends at what is known, or at the beginning of the history. */
  isWhole: boolean
  /** The newest of what is known is still part of the history. */
  goesOn: boolean
}

/**
 * A merge brings commits older than what was read last, so the list cannot just be cut there.
 * @param listed from the head on, as GitHub lists them. @param known what was read, newest first.
 */
function newCommits(listed: readonly Commit[], known: readonly string[]): NewCommits {
  const bySha = new Map(listed.map((commit) => [commit.sha, commit]))
  const old = new Set<string>()
  walk(known, (sha) => {
    if (old.has(sha)) return []
    old.add(sha)
    return parentsOf(bySha.get(sha))
  })
  const fresh = new Set<string>()
  let isWhole = true
  let goesOn = known.length === 0
  walk(
    listed.slice(0, 1).map(({ sha }) => sha),
    (sha) => {
      if (sha === known[0]) goesOn = true
      if (old.has(sha) || fresh.has(sha)) return []
      if (!bySha.has(sha)) {
        isWhole = false
        return []
      }
      fresh.add(sha)
      return parentsOf(bySha.get(sha))
    },
  )
  return { fresh: [...bySha.values()].filter(({ sha }) => fresh.has(sha)).reverse(), isWhole, goesOn }
}

const parentsOf = (commit: Commit | undefined): string[] => commit?.parents.map(({ sha }) => sha) ?? []

/** @param visit returns where to go on. */
function walk(from: readonly string[], visit: (sha: string) => string[]): void {
  const waiting = [...from]
  for (let sha = waiting.pop(); sha !== undefined; sha = waiting.pop()) waiting.push(...visit(sha))
}

/*
 * What happened to pull requests: opened, merged, closed, reopened. The list says how they are now; the
 * first three have times of their own in it, the last is told by a pull request seen closed before.
 */

const PATH = '/pulls?state=all&sort=updated&direction=desc&per_page=50'
/** Times have whole seconds, and the list may lag: this much is looked at again. */
const OVERLAP_MS = 60_000
const CLOSED_MAX = 500

export interface PullsPlace {
  /** Newest update that was read, epoch ms. */
  since: number
  /** What was told of the last minute before it. */
  told: string[]
  /** Pull requests seen closed, by number. */
  closed: number[]
  etag?: string
}

interface PullsRead {
  items: object[]
  place: PullsPlace | null
  notices: string[]
}

interface Pull {
  number: number
  state: string
  created_at: string
  updated_at: string
  closed_at: string | null
  merged_at: string | null
}

interface Happened {
  action: 'opened' | 'merged' | 'closed' | 'reopened'
  /** Epoch ms. */
  at: number
  key: string
  pull: Pull
}

/** @param place of the poll before; null: the first, which only takes note of how things are. @throws UpstreamError */
export async function readPulls(api: GithubApi, place: PullsPlace | null): Promise<PullsRead> {
  const first = await api.get(PATH, { etag: place?.etag, allow: [403, 404] })
  if (first.status === 304) return { items: [], place, notices: [] }
  if (first.status !== 200) return { items: [], place, notices: [notRead(first)] }
  const from = place === null ? Number.POSITIVE_INFINITY : place.since - OVERLAP_MS
  const { pulls, isWhole } = await updatedSince(api, first, from)
  const closed = new Set(place?.closed)
  const happened = pulls.flatMap((pull) => whatHappened(pull, closed))
  const told = new Set(place?.told)
  const fresh = happened.filter(
    ({ action, at, key }) => action === 'reopened' || (at >= from && !told.has(key)),
  )
  const since = Math.max(place?.since ?? 0, ...pulls.map((pull) => Date.parse(pull.updated_at)))
  return {
    items: fresh.sort((a, b) => a.at - b.at).map(({ pull, action }) => ({ ...pull, _action: action })),
    place: {
      since,
      told: happened.filter(({ at }) => at >= since - OVERLAP_MS).map(({ key }) => key),
      closed: closedNow(pulls, closed),
      ...(first.etag === null ? {} : { etag: first.etag }),
    },
    notices: isWhole
      ? []
      : [
          `More than ${pulls.length} pull requests changed since the poll before; the newest of them were read.`,
        ],
  }
}

/** Each pull request once, as it is now, back to that time. */
async function updatedSince(api: GithubApi, first: Page, from: number) {
  const byNumber = new Map<number, Pull>()
  let page = first
  for (let number = 1; ; number++) {
    const listed = pullsOf(page)
    // One that moves while pages are read is met twice, the newer first.
    for (const pull of listed) if (!byNumber.has(pull.number)) byNumber.set(pull.number, pull)
    const isWhole = !page.hasNext || Date.parse(listed.at(-1)?.updated_at ?? '') < from
    if (isWhole || number === PAGES) return { pulls: [...byNumber.values()], isWhole }
    page = await api.get(`${PATH}&page=${number + 1}`)
  }
}

const pullsOf = (page: Page): Pull[] =>
  listOf<Pull>(
    page,
    ({ number, updated_at: updated = '' }) => Number.isInteger(number) && !Number.isNaN(Date.parse(updated)),
  )

function whatHappened(pull: Pull, closed: ReadonlySet<number>): Happened[] {
  const { number, state, created_at: created, updated_at: updated } = pull
  const ended = pull.merged_at ?? pull.closed_at
  const one = (action: Happened['action'], time: string): Happened => ({
    ...{ action, pull, at: Date.parse(time) },
    key: `${number} ${action} ${time}`,
  })
  return [
    one('opened', created),
    ...(ended ? [one(pull.merged_at ? 'merged' : 'closed', ended)] : []),
    ...(state === 'open' && closed.has(number) ? [one('reopened', updated)] : []),
  ]
}

/** Merged ones cannot be reopened. */
function closedNow(pulls: readonly Pull[], before: ReadonlySet<number>): number[] {
  const closed = new Set(before)
  for (const { number, state, merged_at: merged } of [...pulls].reverse()) {
    closed.delete(number)
    if (state === 'closed' && !merged) closed.add(number)
  }
  return [...closed].slice(-CLOSED_MAX)
}

const notRead = ({ status }: Page): string =>
  `Pull requests cannot be read (${status}); commits are. Give the token the right to read them, or set prs to false.`

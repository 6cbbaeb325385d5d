/**
 * A small server that speaks the wire format of GitHub's REST API: lists with Link headers, ETags, limits
 * of requests. It is no GitHub. Commits and pull requests are those of GitHub's own examples
 * (@octokit/webhooks-examples), with what a test changes.
 */
import { createHash } from 'node:crypto'
import examples from '@octokit/webhooks-examples'
import type { Received } from '../../../net/egress/receiver.ts'
import { type Said, type UpstreamServer, upstreamServer } from '../upstream-server.ts'

type Json = Record<string, unknown>
const exampleOf = (name: string) =>
  examples.find((one) => one.name === name)!.examples[0] as unknown as { commit: Json; pull_request: Json }
const COMMIT = exampleOf('status').commit
const PULL = exampleOf('pull_request').pull_request

export const REPO = 'acme/shop'

/** A commit as the list has it. @param name its message; its sha comes of it. */
export function commit(name: string, parents: readonly string[], more: Json = {}) {
  const { author: _author, ...git } = COMMIT.commit as Json
  const written = { name: 'Mona', email: 'mona@example.com', date: '2026-11-20T10:00:00Z' }
  return {
    ...COMMIT,
    sha: shaOf(name),
    html_url: `https://github.com/${REPO}/commit/${shaOf(name)}`,
    commit: { ...git, author: written, message: `${name}\n\nmore` },
    parents: parents.map((parent) => ({ sha: shaOf(parent) })),
    ...more,
  }
}

export const shaOf = (name: string): string => createHash('sha1').update(name).digest('hex')

/** A chain of commits, newest first. */
export const chain = (from: number, to: number) =>
  Array.from({ length: from - to + 1 }, (_, i) => commit(`c${from - i}`, [`c${from - i - 1}`]))

export function pull(number: number, updated: string, more: Json = {}) {
  const times = { created_at: updated, updated_at: updated, closed_at: null, merged_at: null }
  return { ...PULL, number, title: `Change ${number}`, ...times, ...more }
}

export interface GithubServer extends UpstreamServer {
  /** By branch, newest first. */
  branches: Record<string, Json[]>
  defaultBranch: string
  pulls: { updated_at: string; [field: string]: unknown }[]
  /** Of every commit. */
  files: Json[]
  /** Accounts by token; others are refused. Null: every request is let in. */
  accounts: Record<string, string> | null
  /** What a token may read: owner/name. */
  repos: string[]
  /** Requests left; null: no limit is told. A 304 takes none. */
  left: number | null
  resetAt: number
  /** Answers this instead, where it is not null. */
  says: (path: string) => Said | null
  /** Paths that were asked for, below the repository, since the last call. */
  asked(): string[]
}

/** Ends with its test. */
export async function githubServer(): Promise<GithubServer> {
  const server = await upstreamServer((received) => answer(github, received))
  let seen = 0
  const github: GithubServer = Object.assign(server, {
    branches: { main: chain(3, 1) },
    defaultBranch: 'main',
    pulls: [],
    files: [],
    accounts: null,
    repos: [REPO],
    left: 5_000,
    resetAt: 0,
    says: () => null,
    asked: () => {
      const paths = server.received.slice(seen).map(({ path }) => path.replace(`/repos/${REPO}`, ''))
      seen = server.received.length
      return paths
    },
  })
  return github
}

function answer(github: GithubServer, { path, headers }: Received): Said {
  const url = new URL(path, github.url)
  const account = github.accounts?.[headers.authorization?.replace('Bearer ', '') ?? '']
  const isIn = github.accounts === null || account !== undefined
  const said = github.says(path) ?? (isIn ? content(github, url, account ?? 'octocat') : BAD)
  const etag = `W/"${createHash('sha1').update(JSON.stringify(said.body)).digest('hex')}"`
  const isSame = (said.status ?? 200) === 200 && headers['if-none-match'] === etag
  if (!isSame && github.left !== null && github.left > 0) github.left--
  const rate: Record<string, string> =
    github.left === null
      ? {}
      : { 'x-ratelimit-remaining': `${github.left}`, 'x-ratelimit-reset': `${github.resetAt / 1_000}` }
  return isSame
    ? { status: 304, headers: { etag, ...rate }, body: '' }
    : { ...said, headers: { etag, ...rate, ...said.headers } }
}

const BAD: Said = { status: 401, body: { message: 'Bad credentials' } }
const NOT_FOUND: Said = { status: 404, body: { message: 'Not Found' } }

function content(github: GithubServer, url: URL, account: string): Said {
  const path = url.pathname
  const root = `/repos/${REPO}`
  if (path === '/user')
    return {
      body: { login: account, id: 1, type: 'User' },
      headers: {
        'x-oauth-scopes': 'repo, read:org',
        'github-authentication-token-expiration': '2027-01-31 10:00:00 UTC',
      },
    }
  if (path === '/user/repos')
    return paged(
      github.repos.map((name) => ({
        full_name: name,
        default_branch: 'main',
        private: true,
        pushed_at: '2026-11-20T10:00:00Z',
      })),
      url,
    )
  if (path === root) return { body: { full_name: REPO, default_branch: github.defaultBranch, private: true } }
  if (path === `${root}/commits`) {
    const commits = github.branches[url.searchParams.get('sha')!]
    if (!commits) return NOT_FOUND
    return commits.length
      ? paged(commits, url)
      : { status: 409, body: { message: 'Git Repository is empty.' } }
  }
  if (path.startsWith(`${root}/commits/`)) return { body: { sha: path.slice(-40), files: github.files } }
  if (path === `${root}/pulls`)
    return paged(
      [...github.pulls].sort((a, b) => (a.updated_at < b.updated_at ? 1 : -1)),
      url,
    )
  return NOT_FOUND
}

function paged(all: readonly Json[], url: URL): Said {
  const size = Number(url.searchParams.get('per_page'))
  const page = Number(url.searchParams.get('page') ?? 1)
  const next = new URL(url)
  next.searchParams.set('page', String(page + 1))
  return {
    body: all.slice((page - 1) * size, page * size),
    headers: all.length > page * size ? { link: `<${next}>; rel="next", <${next}>; rel="last"` } : {},
  }
}

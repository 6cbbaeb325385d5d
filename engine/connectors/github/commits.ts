/** New commits of a branch, with the files they change. */
import type { GithubConfig } from '../../../schemas/types.ts'
import { UpstreamError } from '../connector.ts'
import { atMost } from '../prometheus/at-most.ts'
import { clockOf, type GithubApi, listOf, type Page, repositoryOf } from './api.ts'
import { type Commit, newCommits } from './history.ts'

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

export interface CommitsRead {
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

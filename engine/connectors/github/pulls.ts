/**
 * What happened to pull requests: opened, merged, closed, reopened. The list says how they are now; the
 * first three have times of their own in it, the last is told by a pull request seen closed before.
 */
import { type GithubApi, listOf, type Page } from './api.ts'

const PATH = '/pulls?state=all&sort=updated&direction=desc&per_page=50'
const PAGES = 10
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

export interface PullsRead {
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

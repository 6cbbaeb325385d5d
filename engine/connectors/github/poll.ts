/** One poll of a repository: its new commits, then what happened to its pull requests. */
import type { GithubConfig } from '../../../schemas/types.ts'
import type { Polled, Reach } from '../connector.ts'
import { openApi } from './api.ts'
import { type CommitsPlace, readCommits } from './commits.ts'
import { type PullsPlace, readPulls } from './pulls.ts'

interface Place {
  commits: CommitsPlace
  /** Null: they are not read, or were not yet. */
  pulls: PullsPlace | null
}

/** @throws UpstreamError */
export async function pollRepository(
  config: GithubConfig,
  cursor: string | null,
  reach: Reach,
): Promise<Polled> {
  const place = cursor === null ? null : (JSON.parse(cursor) as Place)
  const before = config.prs === false ? null : (place?.pulls ?? null)
  const api = openApi(config, reach)
  const commits = await readCommits(api, config, place?.commits ?? null)
  // While commits are behind, a poll has no time for both.
  const pulls =
    config.prs === false || commits.more
      ? { items: [], place: before, notices: [] }
      : await readPulls(api, before)
  const next: Place = { commits: commits.place, pulls: pulls.place }
  const notices = [...commits.notices, ...pulls.notices]
  return {
    items: [...commits.items, ...pulls.items].map((item) => JSON.stringify(item)),
    cursor: JSON.stringify(next),
    ...(commits.more ? { more: true } : {}),
    ...(notices.length ? { notice: notices.join(' ') } : {}),
  }
}

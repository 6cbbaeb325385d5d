/** Reads replays. A page holds so many moments; `next_from` leads to the next. */
import type { Replay } from '../../schemas/types.ts'
import { call } from '../client.ts'

/** Moments a page. */
const PAGE = 2_000

export type ReplayQuery = { result: string; from?: string } | { from: string; to: string }

export async function readReplay(project: string, query: ReplayQuery, signal?: AbortSignal): Promise<Replay> {
  const asked = new URLSearchParams({ ...query, limit: String(PAGE) })
  const path = `/api/projects/${encodeURIComponent(project)}/replay?${asked}`
  return (await call('GET', path, undefined, signal)).json() as Promise<Replay>
}

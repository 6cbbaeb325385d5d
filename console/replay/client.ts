/** Reads replays. A page holds so many moments; `next_from` leads to the next. */
import * as calls from '../../api/client/calls.ts'
import { ask } from '../client.ts'

/** Moments a page. */
const PAGE = 2_000

export type ReplayQuery = { result: string; from?: string } | { from: string; to: string }

export const readReplay = (id: string, query: ReplayQuery, signal?: AbortSignal) =>
  ask(calls.getReplay, { id, ...query, limit: PAGE }, { signal })

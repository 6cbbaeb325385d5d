/** Newest arrivals of a source: for its page, for previews and for field coverage. */

import { SOURCE_LABEL } from '../log/store/labels.ts'
import { firstPositions } from '../log/store/scan.ts'
import type { ReadContext } from '../log/timeline/context.ts'
import { compilePlan, queryOf } from '../log/timeline/plan.ts'
import { presentRow } from '../log/timeline/present.ts'
import type { createSources, Sources } from './sources.ts'

/** Payload bytes looked at for a preview or the Fields view. */
const RECENT_BYTES = 16 * 1024 * 1024
const RECENT_PAGE = 50

type RecentEvent = ReturnType<Parameters<typeof createSources>[0]['recent']>[number]

/** Ids of the newest arrivals of a source, newest first. */
function newestIds(ctx: ReadContext, sourceId: number, limit: number): number[] {
  const labelId = ctx.dictionary.find(SOURCE_LABEL, String(sourceId))
  if (labelId === undefined) return []
  const query = {
    groups: [[labelId]],
    masked: [],
    from: Number.MIN_SAFE_INTEGER,
    to: Number.MAX_SAFE_INTEGER,
    afterId: -1,
    ceiling: Number.MAX_SAFE_INTEGER,
  }
  return firstPositions(ctx.index.all(), query, 'desc', limit, null).map((position) => position.id)
}

/** Names of the labels of the newest arrivals of a source, newest first. */
export function carriedOf(
  ctx: ReadContext,
  sourceId: number,
  limit: number,
): { labels: string[]; entity: string | undefined }[] {
  ctx.names.refresh()
  return ctx.rows.read(newestIds(ctx, sourceId, limit), false).map((row) => {
    const { labels, entity } = presentRow(row, ctx.dictionary, ctx.names, 0)
    return { labels: Object.keys(labels), entity: entity?.label }
  })
}

/** Newest arrivals of a source with payload, for previews and field coverage. */
export function recentOf(ctx: ReadContext, sourceId: number, limit: number): RecentEvent[] {
  ctx.names.refresh()
  const ids = newestIds(ctx, sourceId, limit)
  const recent: RecentEvent[] = []
  let bytes = 0
  // Read in pages up to a budget: 2,000 items of 1 MiB would not fit in memory.
  for (let from = 0; from < ids.length && bytes < RECENT_BYTES; from += RECENT_PAGE)
    for (const stored of ctx.rows.read(ids.slice(from, from + RECENT_PAGE), true)) {
      const row = presentRow(stored, ctx.dictionary, ctx.names, 0)
      recent.push({ raw: stored.raw!, labels: row.labels, entity: row.entity })
      bytes += stored.raw!.length
    }
  return recent
}

/** @throws SvcError not_found */
export function newestOf(ctx: ReadContext, sources: Sources, name: string, limit: number, now: number) {
  sources.requireByName(name)
  const plan = compilePlan({ sources: [name] }, ctx.db, ctx.dictionary, ctx.names)
  const window = { from: Number.MIN_SAFE_INTEGER, to: Number.MAX_SAFE_INTEGER }
  const ids = firstPositions(
    ctx.index.all(),
    queryOf(plan, window, ctx.index.tail.lastId),
    'desc',
    Math.min(500, Math.max(1, limit)),
    null,
  ).map((position) => position.id)
  return ctx.rows.read(ids, false).map((row) => presentRow(row, ctx.dictionary, ctx.names, now))
}

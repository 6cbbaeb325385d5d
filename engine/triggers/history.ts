/** Stored events for the evaluator: what a trigger has to know of a key's past is read by label. */
import { SOURCE_LABEL } from '../store/dictionary.ts'
import { firstPositions } from '../store/scan.ts'
import type { ReadContext } from '../timeline/context.ts'
import { seenOf } from './seen.ts'
import type { History, HistoryQuery } from './types.ts'

/** Rows materialised at a time. */
const PAGE = 2_000

/** @param ctx a view of the index that is up to date when `read` is called. */
export function createHistory(ctx: ReadContext): History {
  const rawOf = (id: number) => ctx.rows.read([id], true)[0]?.raw
  return {
    read: (query) => {
      const groups = groupsOf(ctx, query)
      if (groups.some((group) => group.length === 0)) return []
      const positions = firstPositions(
        ctx.index.all(),
        {
          groups,
          masked: ctx.names.masked().flatMap((id) => ctx.dictionary.find(SOURCE_LABEL, String(id)) ?? []),
          from: query.from,
          to: query.to,
          afterId: -1,
          ceiling: query.beforeId - 1,
        },
        query.order,
        query.limit,
        null,
      )
      const seen = []
      for (let from = 0; from < positions.length; from += PAGE)
        for (const row of ctx.rows.read(
          positions.slice(from, from + PAGE).map(({ id }) => id),
          query.withPayload,
        ))
          seen.push(seenOf(row, rawOf))
      return seen
    },
  }
}

function groupsOf(ctx: ReadContext, { sourceIds, labels }: HistoryQuery): number[][] {
  const sources = sourceIds.flatMap((id) => ctx.dictionary.find(SOURCE_LABEL, String(id)) ?? [])
  return [sources, ...labels.map((label) => [label])]
}

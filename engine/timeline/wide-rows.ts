/**
 * Rows of a long window for the brief: all of them, or of each source the newest, so that one source that
 * writes a million lines does not push out the deploy of another. Counting first, by source and minute,
 * bounds the memory whatever the window holds.
 */
import { SOURCE_LABEL } from '../store/dictionary.ts'
import type { Position, Query } from '../store/scan.ts'
import { eachLabelled, labelsNamed } from './classify.ts'
import type { ReadContext } from './context.ts'
import type { Steps } from './steps.ts'

const BUCKET_MS = 60_000
/** Rows read at a time, before others have their turn. */
const BATCH = 4_000

export interface WideRows<T> {
  /** By time, then by id. */
  rows: T[]
  /** Sources of which only the newest were taken: how many, since when (epoch ms), and one in how many. */
  cuts: { sourceId: number; of: number; since: number; every: number }[]
}

/**
 * @param most rows, over all sources.
 * @param read the rows of some ids, in their order
 */
export function* wideRows<T>(
  ctx: ReadContext,
  query: Query,
  most: number,
  read: (ids: readonly number[]) => readonly T[],
): Steps<WideRows<T>> {
  const sources = labelsNamed(ctx, SOURCE_LABEL)
  const counts = yield* countBySource(ctx, query, sources)
  const cutAt = cutsOf(counts, most)
  const positions: Position[] = []
  const taken = new Map<number, number>()
  yield* eachLabelled(ctx, query, new Set(sources.keys()), (label, id, ts) => {
    const cut = cutAt.get(label)
    if (cut && (ts < cut.since || id % cut.every !== 0)) return
    positions.push({ ts, id })
    taken.set(label, (taken.get(label) ?? 0) + 1)
  })
  positions.sort((a, b) => a.ts - b.ts || a.id - b.id)
  const rows: T[] = []
  for (let from = 0; from < positions.length; from += BATCH) {
    yield
    const ids = positions.slice(from, from + BATCH).map(({ id }) => id)
    for (const row of read(ids)) rows.push(row)
  }
  const cuts = [...cutAt].map(([label, { since, every }]) => ({
    sourceId: Number(sources.get(label)),
    of: taken.get(label) ?? 0,
    since,
    every,
  }))
  return { rows, cuts }
}

/** Cuts as they are told. */
export const namedCuts = (ctx: ReadContext, cuts: WideRows<unknown>['cuts']) =>
  cuts.map(({ sourceId, of, since, every }) => ({
    source: ctx.names.get(sourceId)?.name ?? `source ${sourceId}`,
    ...{ of, since, every },
  }))

/** Events of each source by minute. */
function* countBySource(
  ctx: ReadContext,
  query: Query,
  sources: ReadonlyMap<number, string>,
): Steps<Map<number, Map<number, number>>> {
  const counts = new Map<number, Map<number, number>>()
  yield* eachLabelled(ctx, query, new Set(sources.keys()), (label, _id, ts) => {
    const minutes = counts.get(label) ?? new Map<number, number>()
    counts.set(label, minutes)
    const minute = Math.floor(ts / BUCKET_MS)
    minutes.set(minute, (minutes.get(minute) ?? 0) + 1)
  })
  return counts
}

/** From when on rows of a source are taken (epoch ms), and of these those whose ids are multiples. */
interface SourceCut {
  since: number
  every: number
}

/** @returns by label of the source; sources of which all rows are taken have no entry. */
function cutsOf(
  counts: ReadonlyMap<number, ReadonlyMap<number, number>>,
  most: number,
): Map<number, SourceCut> {
  const totals = [...counts]
    .map(([label, minutes]) => ({ label, total: [...minutes.values()].reduce((a, b) => a + b, 0) }))
    .sort((a, b) => a.total - b.total)
  const cuts = new Map<number, SourceCut>()
  let left = most
  for (const [i, { label, total }] of totals.entries()) {
    // What small sources do not need is shared by the large ones.
    const share = Math.floor(left / (totals.length - i))
    if (total <= share) {
      left -= total
      continue
    }
    let taken = 0
    const cut: SourceCut = { since: Number.POSITIVE_INFINITY, every: 1 }
    for (const [minute, count] of [...counts.get(label)!].sort((a, b) => b[0] - a[0])) {
      // Of a newest minute that is more than the share by itself, an even part stands for it.
      if (taken === 0) cut.every = Math.max(1, Math.ceil(count / share))
      else if (taken + count > share) break
      taken += Math.floor(count / cut.every)
      cut.since = minute * BUCKET_MS
      if (cut.every > 1) break
    }
    cuts.set(label, cut)
    left -= taken
  }
  return cuts
}

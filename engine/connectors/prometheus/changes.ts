/**
 * Which values are news: those that differ from the ones stored last, and every series again after five
 * minutes, so that a window of a trigger never runs empty. What was stored last is in the cursor.
 */
import { createHash } from 'node:crypto'
import type { Sample } from './api.ts'

const REPEAT_MS = 300_000

/** By series: the value stored last, and when (epoch ms). */
type Stored = Record<string, [value: number, at: number]>

/**
 * @param cursor what the poll before gave back. @param now epoch ms.
 * @returns the samples to store, and the cursor to hand in next. Series that are gone are forgotten.
 */
export function onlyChanges<S extends Sample & { promql: string }>(
  samples: readonly S[],
  cursor: string | null,
  now: number,
): { samples: S[]; cursor: string } {
  const before = cursor === null ? {} : (JSON.parse(cursor) as Stored)
  const after: Stored = {}
  const news = samples.filter((sample) => {
    const id = seriesId(sample)
    const last = before[id]
    const isNews = !last || last[0] !== sample.value || now - last[1] >= REPEAT_MS
    after[id] = isNews ? [sample.value, now] : last
    return isNews
  })
  return { samples: news, cursor: JSON.stringify(after) }
}

/** 64 bits of the query and the labels, in any order: a cursor holds a thousand of them. */
function seriesId({ promql, metric }: Sample & { promql: string }): string {
  const labels = Object.entries(metric).sort(([a], [b]) => (a < b ? -1 : 1))
  return createHash('sha256')
    .update(JSON.stringify([promql, labels]))
    .digest('hex')
    .slice(0, 16)
}

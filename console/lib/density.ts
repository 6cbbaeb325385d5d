/** Geometry of the density strip. */
import type { HistogramResult } from '../../schemas/types.ts'

export interface Bar {
  x: number
  y: number
  width: number
  height: number
  source: string
}

/** Stacked bars in a box of `width` by `height`; square-root scaled, so that one burst does not flatten the rest. */
export function stackBars(result: HistogramResult, width: number, height: number): Bar[] {
  const top = Math.max(1, ...result.buckets.map((bucket) => bucket.count))
  const step = width / Math.max(1, result.buckets.length)
  return result.buckets.flatMap((bucket, i) => {
    const total = Math.sqrt(bucket.count / top) * height
    let y = height
    return Object.entries(bucket.by_source)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([source, n]): Bar => {
        const share = (n / bucket.count) * total
        y -= share
        return { x: i * step, y, width: Math.max(1, step - 1), height: share, source }
      })
  })
}

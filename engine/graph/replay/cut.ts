/** What of a page of rows is whole: an answer ends between two instants, so that the next one repeats none. */
import type { Draft } from './moment.ts'

/** What one kind of row gave. */
export interface Collected {
  drafts: Draft[]
  /** Everything before this instant is there, epoch ms; null: everything. */
  cutAt: number | null
  /** One instant has more than an answer holds: the rest of it is left out. */
  isOverfull: boolean
}

/**
 * @param rows by time, one more than `most` when there are more.
 * @returns the rows before the instant at which they are no longer whole
 */
export function wholeInstants<T>(
  rows: readonly T[],
  most: number,
  at: (row: T) => number,
): { rows: T[]; cutAt: number | null; isOverfull: boolean } {
  if (rows.length <= most) return { rows: [...rows], cutAt: null, isOverfull: false }
  const cutAt = at(rows[most]!)
  const whole = rows.slice(0, most).filter((row) => at(row) < cutAt)
  if (whole.length) return { rows: whole, cutAt, isOverfull: false }
  return { rows: rows.slice(0, most), cutAt: cutAt + 1, isOverfull: true }
}

/** Several as one. */
export function joined(parts: readonly Collected[]): Collected {
  const cuts = parts.flatMap(({ cutAt }) => cutAt ?? [])
  return {
    drafts: parts.flatMap(({ drafts }) => drafts),
    cutAt: cuts.length ? Math.min(...cuts) : null,
    isOverfull: parts.some(({ isOverfull }) => isOverfull),
  }
}

/** What of a page of rows is whole: an answer ends between two instants, so that the next one repeats none. */
import type { Draft } from './moment.ts'

/** What one kind of row gave. */
export interface Collected {
  drafts: Draft[]
  /** Everything before this instant is there, epoch ms; null: everything. */
  cutAt: number | null
  /** An instant that has more than an answer holds: the rest of it is not there; null: none has. */
  overfullAt: number | null
}

/**
 * @param rows by time, one more than `most` when there are more.
 * @returns the rows before the instant at which they are no longer whole
 */
export function wholeInstants<T>(
  rows: readonly T[],
  most: number,
  at: (row: T) => number,
): { rows: T[]; cutAt: number | null; overfullAt: number | null } {
  if (rows.length <= most) return { rows: [...rows], cutAt: null, overfullAt: null }
  const cutAt = at(rows[most]!)
  const whole = rows.slice(0, most).filter((row) => at(row) < cutAt)
  if (whole.length) return { rows: whole, cutAt, overfullAt: null }
  return { rows: rows.slice(0, most), cutAt: cutAt + 1, overfullAt: cutAt }
}

/** Several as one. */
export function joined(parts: readonly Collected[]): Collected {
  return {
    drafts: parts.flatMap(({ drafts }) => drafts),
    cutAt: earliest(parts.map(({ cutAt }) => cutAt)),
    overfullAt: earliest(parts.map(({ overfullAt }) => overfullAt)),
  }
}

/** Null: there is none. */
export function earliest(instants: readonly (number | null)[]): number | null {
  const given = instants.flatMap((at) => at ?? [])
  return given.length ? Math.min(...given) : null
}

/** Ids of the events that met a condition. */
import { EVIDENCE_MAX } from '../types.ts'
import type { Entries } from './entries.ts'

/** What a key has given to a burst already, by windows that only moved forward since. */
export interface Given {
  burst: object
  /** Event time of the first. */
  from: number
  /** Id of the last. */
  id: number
}

/** Ids of the entries in [from, to), ascending; of too many, the newest. */
export function evidenceOf(entries: Entries, from: number, to: number): number[] {
  const ids: number[] = []
  for (let i = Math.max(from, to - EVIDENCE_MAX); i < to; i++) ids.push(entries.idAt(i))
  return ids.sort((a, b) => a - b)
}

/**
 * First entry of [from, to) that was not given yet: without it a burst of n events would hand over
 * n² ids. No late event came between, so all that is new stands at the end.
 */
export function given({ from: first, id }: Given, entries: Entries, from: number, to: number): number {
  if (entries.tsAt(from) < first) return from
  let start = to
  while (start > from && entries.idAt(start - 1) > id) start--
  return start
}

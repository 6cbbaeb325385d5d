/** Why events fired, or did not, as lists show it. */
import type { WhyRecord } from '../../schemas/types.ts'
import type { Tone } from '../parts/mark.tsx'
import { REASON_WORDS } from './backtest.ts'

type Reason = WhyRecord['reason']

export const REASONS = Object.keys(REASON_WORDS) as Reason[]

export function reasonTone(reason: Reason): Tone {
  if (reason === 'fired') return 'good'
  if (reason === 'error') return 'bad'
  return reason === 'no_subscriber' || reason === 'folded' || reason === 'held' ? 'busy' : 'quiet'
}

/** How often each reason is among the records, the most frequent first. */
export function reasonCounts(records: readonly Pick<WhyRecord, 'reason'>[]): [Reason, number][] {
  const counts = new Map<Reason, number>()
  for (const { reason } of records) counts.set(reason, (counts.get(reason) ?? 0) + 1)
  return [...counts].sort(([, a], [, b]) => b - a)
}

/** evt_12 from what people paste: the id, its number, or text around it; null: none is in it. */
export function eventIdIn(text: string): string | null {
  const [, number] = /(?:^|\W)evt_(\d+)(?:\W|$)/.exec(text) ?? /^\s*(\d+)\s*$/.exec(text) ?? []
  return number === undefined ? null : `evt_${Number(number)}`
}

/** A sentence in pieces, those at odd places being instants: they are shown in the time zone of the page, as all others are. */
export const instantsIn = (text: string): string[] =>
  text.split(/(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z)/)

/** What another definition would have fired, beside what the one of then would and what is recorded. */
import type { BacktestFiring, BacktestResult, Replay, ReplayMoment } from '../../schemas/types.ts'

export interface ForkRow {
  at: string
  key: string
  /** same: by both; gone: no longer; new: only with the change. */
  verdict: 'same' | 'gone' | 'new'
  events: number
  value: number | null
  /** The firing that is recorded; null: none is. */
  happened: string | null
}

/** Live evaluation stamps a firing when its transaction ends. */
const NEAR_MS = 2_000

/** By time, oldest first. Resolved firings are left out: they wake nobody. @param trigger its name */
export function forkRows(
  { result, compare }: Pick<BacktestResult, 'result' | 'compare'>,
  moments: readonly ReplayMoment[],
  trigger: string,
): ForkRow[] {
  const [after, before] = [result.list, compare?.list ?? []].map((list) =>
    list.filter(({ resolved }) => !resolved),
  )
  const identity = ({ at, key }: BacktestFiring): string => `${Date.parse(at)} ${key}`
  const [known, stays] = [after!, before!].map((list) => new Set(list.map(identity)))
  const recorded = firedOf(moments, trigger)
  const row = (one: BacktestFiring, verdict: ForkRow['verdict']): ForkRow => ({
    at: one.at,
    key: one.key,
    verdict,
    events: one.events,
    value: one.value,
    happened:
      recorded.find(({ at, key }) => key === one.key && Math.abs(at - Date.parse(one.at)) <= NEAR_MS)?.id ??
      null,
  })
  return [
    ...after!.map((one) => row(one, stays!.has(identity(one)) ? 'same' : 'new')),
    ...before!.filter((one) => !known!.has(identity(one))).map((one) => row(one, 'gone')),
  ].sort((a, b) => Date.parse(a.at) - Date.parse(b.at) || (a.key < b.key ? -1 : 1))
}

interface Recorded {
  at: number
  key: string
  id: string
}

function firedOf(moments: readonly ReplayMoment[], trigger: string): Recorded[] {
  return moments
    .filter(
      ({ kind, phase, nodes, dispatch_id, practice }) =>
        kind === 'firing' &&
        phase === 'fired' &&
        !practice &&
        dispatch_id !== null &&
        nodes.includes(`trigger:${trigger}`),
    )
    .map(({ at, window, entity, dispatch_id }) => ({
      at: Date.parse(at),
      key: window?.key ?? entity?.value ?? '',
      id: dispatch_id!,
    }))
}

/** How many fired before and now, in a sentence. */
export function forkWords(rows: readonly ForkRow[]): string {
  const count = (verdict: ForkRow['verdict']): number => rows.filter((row) => row.verdict === verdict).length
  const [same, gone, added] = [count('same'), count('gone'), count('new')]
  if (gone === 0 && added === 0)
    return same === 0 ? 'Neither would have fired.' : `Nothing differs: the same ${firings(same)}.`
  const parts = [
    { n: added, words: added === 1 ? 'is new' : 'are new' },
    { n: gone, words: gone === 1 ? 'is gone' : 'are gone' },
    { n: same, words: same === 1 ? 'stays' : 'stay' },
  ].filter(({ n }) => n > 0)
  return `${parts.map(({ n, words }, i) => `${i === 0 ? firings(n) : n} ${words}`).join(', ')}.`
}

const firings = (n: number): string => `${n} ${n === 1 ? 'firing' : 'firings'}`

/** The span of a replay as a backtest is asked about it: whole seconds back from its end. */
export function spanOf({ from, to }: Pick<Replay, 'from' | 'to'>): { window: string; to: string } {
  const seconds = Math.max(1, Math.ceil((Date.parse(to) - Date.parse(from)) / 1_000))
  return { window: `${seconds}s`, to }
}

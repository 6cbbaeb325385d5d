/** What a replay shows as its address, so that each instant of it is a permalink. */
import type { Replay, ReplayMoment } from '../../schemas/types.ts'
import type { Where } from './loading.ts'

export const PANELS = ['moments', 'timeline', 'run', 'configuration', 'why'] as const
export type Panel = (typeof PANELS)[number]

/** What is replayed: a chain of runs, or a span. */
export type Subject =
  | { result: string }
  | {
      /** ISO. */
      from: string
      /** ISO. */
      to: string
    }

export interface Address {
  subject: Subject
  /** ISO; null: the newest. */
  at: string | null
  /** Of several moments at that instant, which one, from 1. */
  n: number | null
  /** Id of the firing that is asked for; null: none. */
  firing: string | null
  /** Node or edge that is looked at. */
  selected: string | null
  panel: Panel
}

const HOUR_MS = 3_600_000

/** @param now epoch ms: what the address says nothing of is told from then */
export function readAddress(query: URLSearchParams, now: number): Address {
  const result = query.get('result')
  const n = query.get('n')
  const panel = query.get('tab')
  return {
    subject: result ? { result } : spanIn(query, now),
    at: instantIn(query.get('at')),
    n: n !== null && /^\d+$/.test(n) ? Number(n) : null,
    firing: query.get('firing'),
    selected: query.get('sel'),
    panel: PANELS.find((one) => one === panel) ?? 'moments',
  }
}

/** The hour before its end, which is now, unless it is said; of an instant of before then alone, what was around it. */
function spanIn(query: URLSearchParams, now: number): { from: string; to: string } {
  const [from, to, at] = [query.get('from'), query.get('to'), query.get('at')].map(instantIn)
  const isLongAgo = !from && !to && at && Date.parse(at) < now - HOUR_MS
  const end = to ? Date.parse(to) : isLongAgo ? Date.parse(at) + HOUR_MS / 2 : now
  return { from: from ?? new Date(end - HOUR_MS).toISOString(), to: new Date(end).toISOString() }
}

/** Whether an address says all of its span: what is told from now would be another span when it is opened again. */
export const isPermalink = (query: URLSearchParams, { subject }: Pick<Address, 'subject'>): boolean =>
  'result' in subject || (query.get('from') === subject.from && query.get('to') === subject.to)

export function writeAddress({ subject, at, n, firing, selected, panel }: Address): URLSearchParams {
  const query = new URLSearchParams()
  const set = (name: string, value: string | null): void => {
    if (value !== null) query.set(name, value)
  }
  if ('result' in subject) query.set('result', subject.result)
  else {
    set('from', subject.from)
    set('to', subject.to)
  }
  set('at', at)
  if (at !== null && n !== null) query.set('n', String(n))
  set('firing', firing)
  set('sel', selected)
  if (panel !== 'moments') query.set('tab', panel)
  return query
}

type Asked = Pick<Address, 'at' | 'n' | 'subject' | 'firing'>

/** Where a replay is loaded first: where it opens. A result begins with what led to it. */
export function openingOf({ at, subject }: Pick<Asked, 'at' | 'subject'>): Where {
  if (at !== null) return Date.parse(at)
  return 'result' in subject ? 'start' : 'newest'
}

/**
 * Where a replay opens: at the firing that is asked for; by a permalink at its moment if it is still the one, else the
 * last one of its instant; a result at the firing it came of; else at what came last. Null: nothing happened.
 */
export function placeOf(
  { at, n, subject, firing }: Asked,
  { moments }: Pick<Replay, 'moments'>,
): { index: number } | { instant: number } | null {
  const asked = firing === null ? -1 : firingIn(moments, ({ dispatch_id }) => dispatch_id === firing)
  if (asked >= 0) return { index: asked }
  if (at !== null) {
    const instant = Date.parse(at)
    const first = moments.findIndex((moment) => Date.parse(moment.at) === instant)
    const index = first + (n ?? 0) - 1
    const isThere = n !== null && n > 0 && first >= 0 && Date.parse(moments[index]?.at ?? '') === instant
    return isThere ? { index } : { instant }
  }
  const led = 'result' in subject ? firingIn(moments, () => true) : -1
  if (led >= 0) return { index: led }
  return moments.length > 0 ? { index: moments.length - 1 } : null
}

function firingIn(moments: readonly ReplayMoment[], is: (moment: ReplayMoment) => boolean): number {
  return moments.findIndex((moment) => moment.kind === 'firing' && moment.phase === 'fired' && is(moment))
}

/** Which of the moments of its instant a moment is, from 1: the same whatever else is loaded. */
export function ordinalOf(moments: readonly ReplayMoment[], index: number): number | null {
  const moment = moments[index]
  if (!moment) return null
  let first = index
  while (first > 0 && moments[first - 1]!.at === moment.at) first--
  return index - first + 1
}

const instantIn = (text: string | null): string | null =>
  text !== null && !Number.isNaN(Date.parse(text)) ? new Date(text).toISOString() : null

/** What a replay shows as its address, so that each instant of it is a permalink. */
import type { Replay } from '../../schemas/types.ts'

export const PANELS = ['moments', 'timeline', 'run', 'configuration', 'why'] as const
export type Panel = (typeof PANELS)[number]

/** What is replayed: a chain of runs, or a span. */
export type Subject =
  | { result: string }
  | {
      /** ISO; null: an hour before `to`. */
      from: string | null
      /** ISO; null: when the page was opened. */
      to: string | null
    }

export interface Address {
  subject: Subject
  /** ISO; null: the start. */
  at: string | null
  /** Of several moments at that instant, which one. */
  n: number | null
  /** Node or edge that is looked at. */
  selected: string | null
  panel: Panel
}

export function readAddress(query: URLSearchParams): Address {
  const result = query.get('result')
  const n = query.get('n')
  const panel = query.get('tab')
  return {
    subject: result ? { result } : { from: instantIn(query.get('from')), to: instantIn(query.get('to')) },
    at: instantIn(query.get('at')),
    n: n !== null && /^\d+$/.test(n) ? Number(n) : null,
    selected: query.get('sel'),
    panel: PANELS.find((one) => one === panel) ?? 'moments',
  }
}

export function writeAddress({ subject, at, n, selected, panel }: Address): URLSearchParams {
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
  set('sel', selected)
  if (panel !== 'moments') query.set('tab', panel)
  return query
}

/**
 * Where a permalink leads: its moment if it is still the one, else the last one of its instant. A result
 * without an instant begins with the first event that led to it: before that its parts may not be there.
 */
export function placeOf(
  { at, n, subject }: Pick<Address, 'at' | 'n' | 'subject'>,
  { moments }: Pick<Replay, 'moments'>,
): { index: number } | { instant: number } | null {
  if (at === null) {
    const first = 'result' in subject ? moments.findIndex(({ kind }) => kind === 'event') : -1
    return first < 0 ? null : { index: first }
  }
  const index = n === null ? -1 : moments.findIndex((moment) => moment.n === n)
  if (index >= 0 && Date.parse(moments[index]!.at) === Date.parse(at)) return { index }
  return { instant: Date.parse(at) }
}

const instantIn = (text: string | null): string | null =>
  text !== null && !Number.isNaN(Date.parse(text)) ? new Date(text).toISOString() : null

/** A moment of a replay while it is put in order: one row, or part of one, that says what happened. */
import type { ReplayMoment } from '../../../schemas/types.ts'

/**
 * What comes first of what happened at one instant, as one thing leads to the next: an event is judged,
 * a trigger fires, a run is made, works, ends, finds something, hands over.
 */
const RANKS = [
  'change',
  'state',
  'event',
  'evaluation',
  'opened',
  'fired',
  'told',
  'queued',
  'started',
  'step',
  'ended',
  'delivered',
  'finding',
  'handoff',
] as const
export type Rank = (typeof RANKS)[number]

export interface Draft extends Omit<ReplayMoment, 'n' | 'at'> {
  /** Epoch ms. */
  at: number
  /** Handoffs and findings before it in its chain: what they led to comes behind them. */
  depth: number
  rank: Rank
  /** Of its row, unique among those of its rank. */
  id: string
}

type Given = Pick<Draft, 'at' | 'rank' | 'id' | 'kind' | 'phase' | 'title'>

/** @param given what it is; all else is null or empty unless it says so */
export function draft(given: Given & Partial<Draft>): Draft {
  return {
    depth: 0,
    nodes: [],
    edges: [],
    entity: null,
    practice: false,
    event_id: null,
    dispatch_id: null,
    delivery_id: null,
    run_id: null,
    step: null,
    change_set: null,
    ms: null,
    cost_usd: null,
    window: null,
    cooldown: null,
    recomputed: false,
    ...given,
    title: oneLine(given.title),
  }
}

/** By time, then as one thing leads to the next, then by id: a total order. */
export function compareDrafts(a: Draft, b: Draft): number {
  return (
    a.at - b.at ||
    a.depth - b.depth ||
    RANKS.indexOf(a.rank) - RANKS.indexOf(b.rank) ||
    (a.id < b.id ? -1 : a.id > b.id ? 1 : 0)
  )
}

/** @param n number in the answer, from 1 */
export function presentMoment(
  { at, depth: _depth, rank: _rank, id: _id, ...moment }: Draft,
  n: number,
): ReplayMoment {
  return { n, at: new Date(at).toISOString(), ...moment }
}

const TITLE_MAX = 200

/** The first line of a text, cut to what a list shows. */
export function oneLine(text: string): string {
  const line = text.trim().split('\n', 1)[0] ?? ''
  return line.length > TITLE_MAX ? `${line.slice(0, TITLE_MAX - 1)}…` : line
}

/** Such as "1 event", "1,200 events". */
export const counted = (n: number, word: string): string =>
  `${n.toLocaleString('en')} ${word}${n === 1 ? '' : 's'}`

/** What is marked on the graph at an instant of a replay: what the moment lights, and a line on each part. */

import { durationWords } from '../../schemas/duration-words.ts'
import type { ReplayMoment } from '../../schemas/types.ts'
import type { GraphMarks, Note, Tone } from '../graph/types.ts'
import { shortNumber } from '../lib/backtest.ts'
import { durationMs, moment } from '../lib/time.ts'
import type { Filled, Held, Standing, Work } from './standing.ts'

/** @param instant epoch ms. @param known ids of the graph that is shown */
export function marksOf(
  standing: Standing,
  moment: ReplayMoment | null,
  instant: number,
  known: ReadonlySet<string>,
): GraphMarks {
  const tone = moment ? toneOf(moment) : 'neutral'
  return {
    lit: new Set(moment ? [...moment.nodes, ...moment.edges].filter((id) => known.has(id)) : []),
    pulses: moment
      ? moment.edges.filter((id) => known.has(id)).map((edge) => ({ edge, n: moment.n, tone }))
      : [],
    notes: notesOf(standing, moment, instant),
    changes: new Map(),
  }
}

const BAD: ReadonlySet<string> = new Set([
  'failed',
  'exhausted',
  'capped',
  'empty',
  'error',
  'refused',
  'dropped',
])
const GOOD: ReadonlySet<string> = new Set(['succeeded', 'delivered', 'fired', 'resumed'])
const WAITING: ReadonlySet<string> = new Set(['held', 'gathering', 'queued', 'cooldown', 'paused', 'folded'])

export function toneOf({ kind, phase }: ReplayMoment): Tone {
  if (kind === 'finding') return 'good'
  // That nobody takes over is how it is meant to be.
  if (kind === 'handoff' && phase === 'refused') return 'waiting'
  if (BAD.has(phase)) return 'bad'
  if (GOOD.has(phase)) return 'good'
  if (WAITING.has(phase)) return 'waiting'
  return kind === 'run' || kind === 'step' || kind === 'handoff' || kind === 'delivery' ? 'busy' : 'neutral'
}

/** The first line of a part wins its tone; the others follow it. */
function notesOf(standing: Standing, moment: ReplayMoment | null, instant: number): Map<string, Note> {
  const notes = new Map<string, Note>()
  const add = (id: string, note: Note): void => {
    const before = notes.get(id)
    if (!before) notes.set(id, note)
    else notes.set(id, { ...note, ...before, text: `${before.text} · ${note.text}` })
  }
  for (const [id, work] of workNotes(standing.running)) add(id, work)
  for (const [id, held] of heldNotes(standing.held)) add(id, held)
  for (const [id, filled] of standing.windows)
    if (isFresh(filled, instant)) add(id, windowNote(filled, standing.entity?.value))
  for (const [id, note] of coolingNotes(standing, instant)) add(id, note)
  // What is over is told of whoever has nothing else under way.
  for (const [id, { text, isGood }] of standing.outcomes)
    if (!notes.has(id)) add(id, { text, tone: isGood ? 'good' : 'bad' })
  if (moment?.kind === 'firing' && moment.phase === 'fired')
    for (const id of moment.nodes) {
      const note = notes.get(id)
      if (note) notes.set(id, { ...note, tone: 'bad' })
    }
  return notes
}

/** One line for each agent: what its newest run does, and how many more there are. */
function workNotes(running: ReadonlyMap<string, Work>): Map<string, Note> {
  const byNode = new Map<string, Work[]>()
  for (const work of running.values()) byNode.set(work.node, [...(byNode.get(work.node) ?? []), work])
  return new Map(
    [...byNode].map(([id, works]) => {
      const shown = works.findLast(({ isQueued }) => !isQueued) ?? works.at(-1)!
      const more = works.length > 1 ? `, and ${works.length - 1} more` : ''
      const practice = shown.practice ? ' (practice)' : ''
      const tone: Tone = shown.isQueued ? 'waiting' : 'busy'
      return [id, { text: `${shown.words}${practice}${more}`, tone }]
    }),
  )
}

function heldNotes(held: ReadonlyMap<string, Held>): Map<string, Note> {
  const counts = new Map<string, { held: number; gathering: number }>()
  for (const { node, phase } of held.values()) {
    const of = counts.get(node) ?? { held: 0, gathering: 0 }
    of[phase === 'gathering' ? 'gathering' : 'held']++
    counts.set(node, of)
  }
  const times = (word: string, n: number): string => (n === 0 ? '' : n === 1 ? word : `${n} ${word}`)
  return new Map(
    [...counts].map(([id, of]) => [
      id,
      {
        text: [times('gathering', of.gathering), times('held', of.held)].filter(Boolean).join(' · '),
        tone: 'waiting',
      },
    ]),
  )
}

/** A window says nothing any more once all that was in it has left it. */
const isFresh = ({ at, window }: Filled, instant: number): boolean =>
  window === null || instant - Date.parse(at) <= durationMs(window)

const OVER: Record<string, string> = { '>': 'more than ', '<': 'under ', '<=': 'at most ', '==': 'exactly ' }

/**
 * "3 of 5 in 10m", with how far it is to the threshold where it fills towards one.
 * @param about entity of the moment; another key is named
 */
function windowNote({ key, value, threshold, predicate, window }: Filled, about: string | undefined): Note {
  const op = /^(>=|<=|==|>|<)/.exec(predicate)?.[1] ?? '>='
  const of = threshold === null ? '' : ` of ${OVER[op] ?? ''}${shortNumber(threshold)}`
  const text = `${key && key !== about ? `${key}: ` : ''}${shortNumber(value)}${of}${window ? ` in ${durationWords(window)}` : ''}`
  if (threshold === null || threshold <= 0 || op.startsWith('<')) return { text, tone: 'neutral' }
  // Above 5 is met by 6 where events are counted.
  const goal =
    op === '>' && Number.isInteger(threshold) && Number.isInteger(value) ? threshold + 1 : threshold
  const progress = Math.min(1, Math.max(0, value / goal))
  return { text, tone: progress >= 1 ? 'waiting' : 'neutral', progress }
}

/** Until the last of its keys may wake again; times as the place shows them. */
function coolingNotes({ cooldowns }: Standing, instant: number): Map<string, Note> {
  const byNode = new Map<string, number[]>()
  for (const { node, until } of cooldowns.values()) {
    const ends = Date.parse(until)
    if (ends > instant) byNode.set(node, [...(byNode.get(node) ?? []), ends])
  }
  return new Map(
    [...byNode].map(([id, ends]) => {
      const keys = ends.length > 1 ? `${ends.length} keys ` : ''
      return [id, { text: `${keys}cooldown until ${hourOf(Math.max(...ends), instant)}`, tone: 'waiting' }]
    }),
  )
}

/** 12:04, or 12:04:07 where the minute is the one that is shown. */
function hourOf(at: number, instant: number): string {
  const within = at - instant < 120_000
  // Of its own day: the day is said beside it.
  return moment(at, at, within)
}

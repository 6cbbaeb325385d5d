/** Why a node or an edge did, or did not, act at a moment of a replay: in sentences, from what is recorded. */
import type { GraphEdge, GraphNode, ReplayMoment } from '../../schemas/types.ts'
import type { Frame } from './frame.ts'
import { clockOf, partWords } from './words.ts'

export interface Told {
  index: number
  moment: ReplayMoment
}

export interface Why {
  /** What it is. */
  title: string
  /** What the configuration and the state of then say about it. */
  state: string[]
  /** Its part in what the current moment belongs to; empty: it had none. */
  now: Told[]
  /** What it did before, newest first. */
  before: Told[]
  /** An event that its triggers can be asked about; null: none. */
  event: string | null
  /** Trigger that is asked; null: each. */
  trigger: string | null
}

const BEFORE_MAX = 12

/** @param id of a node or an edge */
export function whyOf(id: string, frame: Frame, moments: readonly ReplayMoment[]): Why {
  const { graph, index } = frame
  const node = graph.nodes.find((one) => one.id === id)
  const edge = graph.edges.find((one) => one.id === id)
  const about = aboutOf(id, edge)
  const told = toldOf(about, moments, index)
  const now = told.filter(({ moment }) => frame.moment !== null && isOfSame(moment, frame.moment))
  const before = told.filter((one) => !now.includes(one)).slice(0, BEFORE_MAX)
  const nowEvent = frame.moment?.event_id ?? null
  return {
    title: partWords(id, graph),
    state: [
      ...(node
        ? nodeState(node, frame)
        : edge
          ? edgeState(edge, frame)
          : ['Not part of the configuration then.']),
      ...(told.length === 0 ? ['Nothing is recorded of it up to here.'] : []),
    ],
    now,
    before,
    event: about.isJudged
      ? (nowEvent ?? before.find(({ moment }) => moment.event_id)?.moment.event_id ?? null)
      : null,
    trigger: about.trigger,
  }
}

interface About {
  /** Ids whose moments are its own. */
  ids: readonly string[]
  trigger: string | null
  /** Whether a trigger judged events on it. */
  isJudged: boolean
}

function aboutOf(id: string, edge: GraphEdge | undefined): About {
  const nameIn = (of: string): string | null => (of.startsWith('trigger:') ? of.slice(8) : null)
  if (!edge)
    return { ids: [id], trigger: nameIn(id), isJudged: id.startsWith('trigger:') || id.startsWith('source:') }
  // What a trigger made of an event lights the trigger, also where the event went no further.
  const ids = edge.kind === 'feeds' ? [id, edge.to] : edge.kind === 'wakes' ? [id, edge.from] : [id]
  const trigger = nameIn(edge.kind === 'feeds' ? edge.to : edge.from)
  return { ids, trigger, isJudged: edge.kind === 'feeds' || edge.kind === 'wakes' }
}

/** Its moments up to here, newest first. */
function toldOf({ ids }: About, moments: readonly ReplayMoment[], index: number): Told[] {
  const told: Told[] = []
  const MOST = 200
  for (let i = Math.min(index, moments.length - 1); i >= 0 && told.length < MOST; i--) {
    const moment = moments[i]!
    if (ids.some((id) => moment.nodes.includes(id) || moment.edges.includes(id)))
      told.push({ index: i, moment })
  }
  return told
}

/** Whether two moments belong to one thing that happened. */
function isOfSame(a: ReplayMoment, b: ReplayMoment): boolean {
  if (a.n === b.n) return true
  return (
    (a.event_id !== null && a.event_id === b.event_id) ||
    (a.dispatch_id !== null && a.dispatch_id === b.dispatch_id) ||
    (a.delivery_id !== null && a.delivery_id === b.delivery_id)
  )
}

function nodeState(node: GraphNode, frame: Frame): string[] {
  const said: string[] = []
  if (node.state === 'paused') said.push('Paused, so nothing runs.')
  if (node.state === 'missing') said.push('Named by the wiring, but did not exist.')
  if (node.state === 'off') said.push('No active connection leads to it.')
  for (const { node: of, key, until } of frame.cooldowns)
    if (of === node.id)
      said.push(`Fired for ${key || 'all'}; in cooldown until ${clockOf(Date.parse(until))}.`)
  for (const { node: of, phase } of frame.held)
    if (of === node.id)
      said.push(
        phase === 'gathering' ? 'A firing of it still gathers.' : 'A firing of it is held back by a limit.',
      )
  for (const { node: of, words } of frame.running) if (of === node.id) said.push(`A run of it: ${words}.`)
  const note = frame.marks.notes.get(node.id)
  if (note?.progress !== undefined) said.push(`Its window: ${note.text.split(' · ')[0]}.`)
  // What its badge tells, in full.
  else if (note && said.length === 0) said.push(note.text)
  return said
}

function edgeState(edge: GraphEdge, frame: Frame): string[] {
  const said: string[] = []
  const [from, to] = [edge.from, edge.to].map((id) => partWords(id, frame.graph)) as [string, string]
  if (!edge.enabled) said.push(`Switched off: ${from} does not wake ${to}.`)
  const paused = [edge.from, edge.to].filter(
    (id) => frame.graph.nodes.find((node) => node.id === id)?.state === 'paused',
  )
  for (const id of paused) said.push(`${capital(partWords(id, frame.graph))} is paused.`)
  for (const { node, key, until } of frame.cooldowns)
    if (node === edge.id || (edge.kind !== 'hands_off' && (node === edge.from || node === edge.to)))
      said.push(`Cooling down for ${key || 'all'} until ${clockOf(Date.parse(until))}.`)
  if (edge.kind === 'hands_off')
    said.push(`${capital(from)} hands over to ${to} when its verdict is ${edge.verdict}.`)
  return said
}

const capital = (text: string): string => text.slice(0, 1).toUpperCase() + text.slice(1)

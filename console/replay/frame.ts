/**
 * The graph at an instant of a replay: the configuration of then with its state. Pure: the same replay
 * and the same place give the same frame, whichever way one came there. A step takes one moment; a jump
 * folds from the checkpoint before it, so that 5,000 moments scrub smoothly.
 */
import type {
  GraphEdge,
  GraphNode,
  ProjectGraph,
  Replay,
  ReplayMoment,
  ReplayVersion,
} from '../../schemas/types.ts'
import type { GraphMarks } from '../graph/types.ts'
import { marksOf } from './marks.ts'
import {
  apply,
  type Cooldown,
  copyOf,
  dayOf,
  type Held,
  type Standing,
  startOf,
  type Work,
} from './standing.ts'

/** Where one is: the last moment that is shown (-1: none yet), and the instant, which may be later. */
export interface Place {
  index: number
  /** Epoch ms. */
  instant: number
}

export interface Frame extends Place {
  moment: ReplayMoment | null
  version: ReplayVersion
  graph: ProjectGraph
  marks: GraphMarks
  /** What the moment names and the graph of then lacks. */
  missing: readonly string[]
  running: readonly (Work & { run: string })[]
  held: readonly (Held & { firing: string })[]
  /** Those that are not over yet. */
  cooldowns: readonly Cooldown[]
  /** The run that the last moments were about. */
  run: string | null
  entity: ReplayMoment['entity']
  /** US dollars that runs cost since the start of the replay, practice left out. */
  spentUsd: number
}

/** Moments between two checkpoints: at most so many are folded for a jump. */
const STRIDE = 128

export interface Folded {
  frame(place: Place): Frame
}

export function fold(replay: Replay): Folded {
  const { moments } = replay
  const checkpoints: Standing[] = [startOf(replay)]
  const graphs = new Map(
    replay.versions.map((version) => [version, statefulGraph(version.graph, replay.result === null)]),
  )
  const versionAt = versionsOf(replay)
  let now = copyOf(checkpoints[0]!)
  let index = -1

  const step = (): void => {
    apply(now, moments[++index]!)
    const at = (index + 1) / STRIDE
    if (at === checkpoints.length) checkpoints.push(copyOf(now))
  }
  const goTo = (to: number): void => {
    const before = Math.min(Math.floor((to + 1) / STRIDE), checkpoints.length - 1)
    if (to < index || before * STRIDE - 1 > index) {
      now = copyOf(checkpoints[before]!)
      index = before * STRIDE - 1
    }
    while (index < to) step()
  }
  return {
    frame: (place) => {
      const to = Math.max(-1, Math.min(place.index, moments.length - 1))
      goTo(to)
      const version = versionAt(to, place.instant)
      const moment = moments[to] ?? null
      const { graph, known } = graphs.get(version)!
      return {
        index: to,
        instant: place.instant,
        moment,
        version,
        graph: graph(now, place.instant),
        marks: marksOf(now, moment, place.instant, known),
        missing: moment ? missingOf(moment, known) : [],
        running: [...now.running].map(([run, work]) => ({ ...work, run })),
        held: [...now.held].map(([firing, one]) => ({ ...one, firing })),
        cooldowns: [...now.cooldowns.values()].filter(({ until }) => Date.parse(until) > place.instant),
        run: now.run,
        entity: now.entity,
        spentUsd: [...now.costs.values()].reduce((sum, cost) => sum + cost, 0),
      }
    },
  }
}

/** The place of the last moment at or before an instant. @param instant epoch ms */
export function placeAt({ moments }: Pick<Replay, 'moments'>, instant: number): Place {
  let [low, high] = [0, moments.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (Date.parse(moments[middle]!.at) <= instant) low = middle + 1
    else high = middle
  }
  return { index: low - 1, instant }
}

/** The frame at a moment, or at an instant. @param where number of the moment in the replay; epoch ms */
export function frameAt(replay: Replay, where: { index: number } | { instant: number }): Frame {
  if ('instant' in where) return fold(replay).frame(placeAt(replay, where.instant))
  const at = replay.moments[where.index]?.at ?? replay.from
  return fold(replay).frame({ index: where.index, instant: Date.parse(at) })
}

/** The configuration in effect: a change counts from its own moment on, not from others of that instant. */
function versionsOf({ versions, moments }: Replay): (index: number, instant: number) => ReplayVersion {
  const begins = new Map<number, number>()
  moments.forEach(({ kind, change_set }, i) => {
    if (kind === 'change' && change_set !== null && !begins.has(change_set)) begins.set(change_set, i)
  })
  return (index, instant) =>
    versions.findLast(({ change_set, at }, i) => {
      const begun = begins.get(change_set)
      return i === 0 || (begun === undefined ? Date.parse(at) <= instant : begun <= index)
    })!
}

const missingOf = ({ nodes, edges }: ReplayMoment, known: ReadonlySet<string>): string[] =>
  [...nodes, ...edges].filter((id) => !known.has(id))

/**
 * A graph that takes the state of an instant; what did not change stays the same object.
 * @param hasAll whether the replay has all that happened: that of a result has its chain alone, and no counts of a day
 */
function statefulGraph(base: ProjectGraph, hasAll: boolean) {
  const nodes = new Map<string, GraphNode>()
  const edges = new Map<string, GraphEdge>()
  const known = new Set([...base.nodes, ...base.edges].map(({ id }) => id))
  let last: Pick<ProjectGraph, 'nodes' | 'edges'> = base
  const keep = <T extends { id: string }>(kept: Map<string, T>, one: T): T => {
    const before = kept.get(one.id)
    if (before && same(before, one)) return before
    kept.set(one.id, one)
    return one
  }
  const graph = (standing: Standing, instant: number): ProjectGraph => {
    const isToday = dayOf(instant) === standing.day
    const counted = (id: string, kind: string): number | null => {
      if (!hasAll) return null
      if (!isToday) return COUNTED.has(kind) ? 0 : null
      return standing.counts.get(id) ?? (COUNTED.has(kind) ? 0 : null)
    }
    const works = [...standing.running.values()]
    const shown = {
      nodes: base.nodes.map((node) =>
        keep(nodes, {
          ...node,
          state: stateOf(node, standing.paused.get(node.id)),
          today: counted(node.id, node.kind),
          last_at: standing.lastAt.get(node.id) ?? before(node.last_at, instant),
          running: works.filter((one) => one.node === node.id && !one.isQueued).length,
          queued: works.filter((one) => one.node === node.id && one.isQueued).length,
          // Of the whole day; a replay knows only what it saw.
          spend_today_usd: null,
          last_verdict: null,
        }),
      ),
      edges: base.edges.map((edge) =>
        keep(edges, {
          ...edge,
          today: counted(edge.id, edge.kind),
          last_at: standing.lastAt.get(edge.id) ?? before(edge.last_at, instant),
        }),
      ),
    }
    last = { nodes: keepList(last.nodes, shown.nodes), edges: keepList(last.edges, shown.edges) }
    return { ...base, at: new Date(instant).toISOString(), ...last }
  }
  return { graph, known }
}

/** What carries something that is counted: of the others nothing is known. */
const COUNTED: ReadonlySet<string> = new Set(['source', 'trigger', 'agent', 'feeds', 'wakes', 'hands_off'])

function stateOf({ state }: GraphNode, paused: boolean | undefined): GraphNode['state'] {
  if (paused === undefined || (state !== 'active' && state !== 'paused')) return state
  return paused ? 'paused' : 'active'
}

/** The list of before where each of its objects is still the same. */
const keepList = <T>(before: T[], list: T[]): T[] =>
  list.every((one, i) => one === before[i]) ? before : list

/** What a graph says of later is not known yet. */
const before = (at: string | null, instant: number): string | null =>
  at !== null && Date.parse(at) <= instant ? at : null

const same = (a: object, b: object): boolean =>
  Object.entries(a).every(([key, value]) => value === (b as Record<string, unknown>)[key])

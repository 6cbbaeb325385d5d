/** Replays to fold and to play: a short one with everything in it, and long ones made from a seed. */
import type {
  GraphEdge,
  GraphNode,
  ProjectGraph,
  Replay,
  ReplayMoment,
  ReplayVersion,
} from '../../schemas/types.ts'
import { graphEdge, graphNode } from './graph-fixture.ts'

export const FROM = '2026-11-20T12:00:00.000Z'
const START = Date.parse(FROM)
export const later = (seconds: number): string => new Date(START + seconds * 1_000).toISOString()

export function node(id: string, over: Partial<GraphNode> = {}): GraphNode {
  const [kind, name] = [id.slice(0, id.indexOf(':')), id.slice(id.indexOf(':') + 1)]
  return graphNode(kind as GraphNode['kind'], name, { detail: '', ...over })
}

export const edge = (id: string, kind: GraphEdge['kind'], from: string, to: string): GraphEdge =>
  graphEdge(kind, from, to, { id, verdict: kind === 'hands_off' ? 'investigate' : null })

export function graph(nodes: GraphNode[], edges: GraphEdge[]): ProjectGraph {
  return {
    project: { id: 'p1', name: 'Checkout', status: 'active', version: 3 },
    version: 3,
    at: FROM,
    nodes,
    edges,
    positions: [],
    source_of_truth: 'instance',
  }
}

export const NODES = {
  source: 'source:gateway',
  trigger: 'trigger:errs',
  triage: 'agent:triage',
  digger: 'agent:digger',
  feeds: 'feeds:gateway>errs',
  wakes: 'wakes:errs>triage',
  hands: 'hands_off:triage/investigate>digger',
} as const

const FIRST = graph(
  [node(NODES.source), node(NODES.trigger), node(NODES.triage)],
  [
    edge(NODES.feeds, 'feeds', NODES.source, NODES.trigger),
    edge(NODES.wakes, 'wakes', NODES.trigger, NODES.triage),
  ],
)
const SECOND = graph(
  [...FIRST.nodes, node(NODES.digger)],
  [...FIRST.edges, edge(NODES.hands, 'hands_off', NODES.triage, NODES.digger)],
)

export const VERSIONS: ReplayVersion[] = [
  { change_set: 3, at: later(-3_600), by: 'root', summary: 'project Checkout created', graph: FIRST },
  { change_set: 4, at: later(20), by: 'root', summary: 'agent digger created', graph: SECOND },
]

export function moment(seconds: number, over: Partial<ReplayMoment>): ReplayMoment {
  return {
    n: 0,
    at: later(seconds),
    kind: 'event',
    phase: 'stored',
    nodes: [],
    edges: [],
    title: 'something happened',
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
    ...over,
  }
}

export function replayOf(moments: ReplayMoment[], over: Partial<Replay> = {}): Replay {
  return {
    project: { id: 'p1', name: 'Checkout' },
    from: FROM,
    to: later(600),
    result: null,
    versions: VERSIONS,
    start: { counts: {}, running: [], held: [], cooldowns: [] },
    moments: moments.map((one, i) => ({ ...one, n: i + 1 })),
    gaps: [],
    next_from: null,
    ...over,
  }
}

const pay = { label: 'service', value: 'pay' }
const window = (value: number) => ({
  trigger: 'errs',
  key: 'pay',
  value,
  threshold: 5,
  predicate: '>= 5',
  window: '10m',
})

/** A window fills, a change is made, it fires, an agent runs and hands over, the next finds. */
export function chain(): Replay {
  const { source, trigger, triage, digger, feeds, wakes, hands } = NODES
  const came = (s: number, id: string) =>
    moment(s, { nodes: [source], edges: [feeds], event_id: id, entity: pay, title: `${id} came in` })
  const below = (s: number, id: string, value: number) =>
    moment(s, {
      kind: 'evaluation',
      phase: 'below',
      nodes: [trigger],
      event_id: id,
      entity: pay,
      window: window(value),
      title: `${value} of 5 errors`,
    })
  const run = (s: number, run_id: string, agent: string, phase: string, over: Partial<ReplayMoment> = {}) =>
    moment(s, { kind: 'run', phase, nodes: [agent], run_id, entity: pay, title: `run ${phase}`, ...over })
  return replayOf([
    came(1, 'evt_1'),
    below(1, 'evt_1', 3),
    came(2, 'evt_2'),
    below(2, 'evt_2', 4),
    moment(20, { kind: 'change', phase: 'created', nodes: [digger], change_set: 4, title: 'digger is made' }),
    came(30, 'evt_3'),
    moment(30, {
      kind: 'firing',
      phase: 'fired',
      nodes: [trigger],
      edges: [wakes],
      event_id: 'evt_3',
      dispatch_id: 'd1',
      entity: pay,
      window: window(5),
      cooldown: { node: trigger, key: 'pay', until: later(330) },
      title: 'errs fired for pay',
    }),
    run(30, 'r1', triage, 'queued', { edges: [wakes] }),
    run(31, 'r1', triage, 'running'),
    moment(32, { kind: 'step', phase: 'model', nodes: [triage], run_id: 'r1', step: 1, cost_usd: 0.002 }),
    moment(33, { kind: 'step', phase: 'tool', nodes: [triage], run_id: 'r1', step: 2 }),
    moment(34, { kind: 'step', phase: 'model', nodes: [triage], run_id: 'r1', step: 3, cost_usd: 0.003 }),
    run(35, 'r1', triage, 'succeeded', { cost_usd: 0.006, ms: 4_000 }),
    moment(35, { kind: 'handoff', phase: 'started', nodes: [triage, digger], edges: [hands], run_id: 'r1' }),
    run(35, 'r2', digger, 'queued'),
    run(36, 'r2', digger, 'running'),
    run(40, 'r2', digger, 'succeeded', { cost_usd: null }),
    moment(40, {
      kind: 'finding',
      phase: 'recorded',
      nodes: [digger],
      run_id: 'r2',
      title: 'The deploy broke pay',
    }),
  ])
}

/** Long: events, judgements, firings and runs of many keys over a day, the same for the same seed. */
export function long(count: number, seed = 7): Replay {
  let state = seed
  const random = (below: number): number => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
    return Math.floor((state / 2_147_483_648) * below)
  }
  const moments: ReplayMoment[] = []
  let at = 0
  for (let i = 0; moments.length < count; i++) {
    at += random(40)
    const key = `k${random(6)}`
    moments.push(...burst(at, i, key, random))
  }
  const ordered = moments.slice(0, count).sort((a, b) => Date.parse(a.at) - Date.parse(b.at))
  return replayOf(ordered, { to: later(at + 60) })
}

function burst(at: number, i: number, key: string, random: (below: number) => number): ReplayMoment[] {
  const { source, trigger, triage, feeds, wakes } = NODES
  const entity = { label: 'service', value: key }
  const event = moment(at, { nodes: [source], edges: [feeds], event_id: `evt_${i}`, entity })
  const filled = { trigger: 'errs', key, value: random(6), threshold: 5, predicate: '> 5', window: '10m' }
  if (random(4) > 0)
    return [
      event,
      moment(at, { kind: 'evaluation', phase: 'below', nodes: [trigger], window: filled, entity }),
    ]
  const run: Partial<ReplayMoment> = { kind: 'run', nodes: [triage], run_id: `r${i}`, entity }
  const cooldown = { node: trigger, key, until: later(at + 300) }
  return [
    event,
    moment(at, {
      kind: 'firing',
      phase: random(3) ? 'fired' : 'held',
      nodes: [trigger],
      dispatch_id: `d${i}`,
      cooldown,
    }),
    moment(at, { ...run, phase: 'queued', edges: [wakes] }),
    moment(at + 1, { kind: 'step', phase: 'model', nodes: [triage], run_id: `r${i}`, cost_usd: 0.001 }),
    moment(at + 2, {
      ...run,
      phase: random(5) ? 'succeeded' : 'failed',
      cost_usd: 0.001,
      practice: random(4) === 0,
    }),
  ]
}

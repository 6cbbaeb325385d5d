/**
 * The graph as operations would leave it, as far as the console can tell by itself: drawn at once,
 * until the daemon has answered with the graph as it would be. What an edit brings along by rule
 * (the sources of a trigger, the servers of an agent) is only in the daemon's answer.
 */
import type { GraphEdge, GraphNode, Operation, ProjectGraph } from '../../../schemas/types.ts'
import { HANDOFF_COOLDOWN } from './connect.ts'
import type { Step } from './draft.ts'
import {
  feedsId,
  handsOffId,
  nodeId,
  PART_KINDS,
  type PartKind,
  type PartRef,
  partOf,
  usesId,
  wakesId,
} from './ids.ts'
import { type Fields, isFields } from './values.ts'

/**
 * @param joins what is known of parts that join, by node
 * @returns the graph after the operations, nodes and edges in the order of a graph.
 */
export function foreseen(
  graph: ProjectGraph,
  operations: readonly Operation[],
  joins: NonNullable<Step['joins']> = {},
): ProjectGraph {
  const nodes = new Map(graph.nodes.map((node) => [node.id, node]))
  const edges = new Map(graph.edges.map((edge) => [edge.id, edge]))
  const draw = { nodes, edges }
  for (const operation of operations) {
    const { op, kind, name, spec = {} } = operation
    // Joined entities are of the instance, in no graph.
    if (kind === 'entity') continue
    if (kind === 'project') {
      if (op === 'patch' && name === graph.project.id) rewire(draw, spec, joins)
    } else if (op === 'delete') remove(draw, nodeId({ kind, name }))
    else if (op === 'move') move(draw, nodeId({ kind, name }), operation.event ?? '')
    else if (op === 'put') put(draw, { kind, name }, spec)
    else edit(draw, { kind, name }, spec)
  }
  return {
    ...graph,
    nodes: [...nodes.values()].sort(inOrder),
    edges: [...edges.values()]
      .filter(({ from, to }) => nodes.has(from) && nodes.has(to))
      .sort((a, b) => (a.id < b.id ? -1 : 1)),
  }
}

interface Drawn {
  nodes: Map<string, GraphNode>
  edges: Map<string, GraphEdge>
}

const RANK: readonly string[] = [...PART_KINDS, 'destination']
const inOrder = (a: GraphNode, b: GraphNode): number =>
  RANK.indexOf(a.kind) - RANK.indexOf(b.kind) || (a.name < b.name ? -1 : 1)

function put(drawn: Drawn, part: PartRef, spec: Fields): void {
  drawn.nodes.set(nodeId(part), freshNode(part, spec))
  edit(drawn, part, spec)
}

function edit(drawn: Drawn, part: PartRef, spec: Fields): void {
  const id = nodeId(part)
  const node = drawn.nodes.get(id)
  if (!node) return
  if (part.kind === 'trigger' && Array.isArray(spec.sources))
    replaceEdges(
      drawn,
      'feeds',
      'to',
      id,
      (spec.sources as string[]).map((s) => feeds(s, part.name)),
    )
  if (part.kind !== 'agent') return
  if ('mcp_servers' in spec)
    replaceEdges(
      drawn,
      'uses',
      'from',
      id,
      listOf(spec.mcp_servers).map((s) => uses(part.name, s)),
    )
  if ('verdicts' in spec) drawn.nodes.set(id, { ...node, verdicts: verdictsIn(spec) })
}

const listOf = (value: unknown): string[] => (Array.isArray(value) ? (value as string[]) : [])

const verdictsIn = ({ verdicts }: Fields): string[] =>
  Array.isArray(verdicts)
    ? verdicts.map((entry: unknown) =>
        typeof entry === 'string' ? entry : String((entry as Fields).verdict),
      )
    : []

function replaceEdges(
  { edges }: Drawn,
  kind: GraphEdge['kind'],
  end: 'from' | 'to',
  id: string,
  now: readonly GraphEdge[],
): void {
  const kept = new Set(now.map((edge) => edge.id))
  for (const edge of [...edges.values()])
    if (edge.kind === kind && edge[end] === id && !kept.has(edge.id)) edges.delete(edge.id)
  for (const edge of now) if (!edges.has(edge.id)) edges.set(edge.id, edge)
}

function remove({ nodes, edges }: Drawn, id: string): void {
  nodes.delete(id)
  for (const edge of [...edges.values()]) if (edge.from === id || edge.to === id) edges.delete(edge.id)
}

function move({ nodes }: Drawn, id: string, event: string): void {
  const node = nodes.get(id)
  if (node) nodes.set(id, { ...node, state: event === 'pause' ? 'paused' : 'active' })
}

/** A patch of the project's document, by entry. */
function rewire(drawn: Drawn, spec: Fields, joins: NonNullable<Step['joins']>): void {
  for (const [kind, names] of entries(spec.uses))
    for (const [name, use] of entries(names)) {
      const part = { kind: kind as PartKind, name }
      if (use === null) remove(drawn, nodeId(part))
      else if (!drawn.nodes.has(nodeId(part)))
        drawn.nodes.set(nodeId(part), freshNode(part, { ...joins[nodeId(part)] }))
    }
  for (const [trigger, agents] of entries(spec.wakes))
    for (const [agent, wake] of entries(agents)) {
      const id = wakesId(trigger, agent)
      if (wake === null) drawn.edges.delete(id)
      else drawn.edges.set(id, { ...(drawn.edges.get(id) ?? wakes(trigger, agent)), enabled: isOn(wake) })
    }
  for (const [agent, verdicts] of entries(spec.handoffs))
    for (const [verdict, targets] of entries(verdicts))
      for (const [to, row] of entries(targets)) {
        const id = handsOffId(agent, verdict, to)
        if (row === null) drawn.edges.delete(id)
        else
          drawn.edges.set(id, {
            ...(drawn.edges.get(id) ?? handsOff(agent, verdict, to)),
            cooldown: isFields(row) ? String(row.cooldown ?? HANDOFF_COOLDOWN) : HANDOFF_COOLDOWN,
          })
      }
}

const entries = (value: unknown): [string, unknown][] => (isFields(value) ? Object.entries(value) : [])
const isOn = (wake: unknown): boolean => isFields(wake) && wake.enabled === true

const plainEdge = (kind: GraphEdge['kind'], id: string, from: string, to: string): GraphEdge => ({
  id,
  kind,
  from,
  to,
  enabled: true,
  verdict: null,
  cooldown: null,
  all: false,
  last_at: null,
  today: null,
})
const feeds = (source: string, trigger: string): GraphEdge =>
  plainEdge('feeds', feedsId(source, trigger), `source:${source}`, `trigger:${trigger}`)
const wakes = (trigger: string, agent: string): GraphEdge =>
  plainEdge('wakes', wakesId(trigger, agent), `trigger:${trigger}`, `agent:${agent}`)
const uses = (agent: string, server: string): GraphEdge =>
  plainEdge('uses', usesId(agent, server), `agent:${agent}`, `mcp_server:${server}`)
const handsOff = (agent: string, verdict: string, to: string): GraphEdge => ({
  ...plainEdge('hands_off', handsOffId(agent, verdict, to), `agent:${agent}`, `agent:${to}`),
  verdict,
})

const freshNode = (part: PartRef, spec: Fields): GraphNode => ({
  id: nodeId(part),
  ...part,
  detail: detailOf(part.kind, spec),
  state: spec.paused === true ? 'paused' : 'active',
  health: 'waiting',
  reason: null,
  customized: false,
  shared_with: [],
  last_at: null,
  today: null,
  running: 0,
  queued: 0,
  spend_today_usd: null,
  last_verdict: null,
  verdicts: part.kind === 'agent' ? verdictsIn(spec) : [],
})

function detailOf(kind: PartKind, spec: Fields): string {
  const field = {
    source: 'connector',
    trigger: 'description',
    agent: 'model',
    mcp_server: 'url',
    skill: 'description',
  }
  const value = spec[field[kind]]
  return typeof value === 'string' ? value : ''
}

/** Ids of the nodes and edges two graphs differ in, beside what only time changes. */
export function changesBetween(
  before: ProjectGraph,
  after: ProjectGraph,
  touched: ReadonlySet<string>,
): Map<string, 'created' | 'changed' | 'deleted'> {
  const changes = new Map<string, 'created' | 'changed' | 'deleted'>()
  const compare = <T extends { id: string }>(
    was: readonly T[],
    is: readonly T[],
    text: (one: T) => string,
  ) => {
    const old = new Map(was.map((one) => [one.id, one]))
    for (const one of is) {
      const then = old.get(one.id)
      if (!then) changes.set(one.id, 'created')
      else if (touched.has(one.id) || text(then) !== text(one)) changes.set(one.id, 'changed')
      old.delete(one.id)
    }
    for (const id of old.keys()) changes.set(id, 'deleted')
  }
  compare(before.nodes, after.nodes, ({ state, verdicts }) => `${state === 'paused'} ${verdicts.join(',')}`)
  compare(before.edges, after.edges, ({ enabled, cooldown }) => `${enabled} ${cooldown}`)
  return changes
}

/** A graph with the nodes and edges that another has and it has not, so that what goes is still drawn. */
export function withGone(after: ProjectGraph, before: ProjectGraph): ProjectGraph {
  const nodes = new Set(after.nodes.map(({ id }) => id))
  const edges = new Set(after.edges.map(({ id }) => id))
  return {
    ...after,
    nodes: [...after.nodes, ...before.nodes.filter(({ id }) => !nodes.has(id))].sort(inOrder),
    edges: [...after.edges, ...before.edges.filter(({ id }) => !edges.has(id))].sort((a, b) =>
      a.id < b.id ? -1 : 1,
    ),
  }
}

/** Ids of the parts whose own fields these operations change. */
export const editedBy = (operations: readonly Operation[]): Set<string> =>
  new Set(
    operations
      .filter(({ op, kind }) => op === 'patch' && kind !== 'project')
      .map(nodeId)
      .filter((id) => partOf(id) !== null),
  )

/**
 * The structure of a project's graph: its parts, what leads from one to another, and whom they tell
 * (SPEC.md, Project: wiring). Pure: the same for what is stored now, for a draft and for the
 * documents as of a change-set. What happened lately is filled in by activity.ts.
 */
import type { GraphEdge, GraphNode } from '../../schemas/types.ts'
import type { PartKind } from '../changes/declared.ts'
import { partKinds } from '../changes/declared.ts'
import { partsOf } from '../wiring/project-doc.ts'
import { HANDOFF_COOLDOWN, wiringOf } from '../wiring/wires.ts'
import { edgeOf, listOf } from './edges.ts'
import { edgeIds, NODE_KINDS, nodeId } from './ids.ts'
import { destinationNodes, tellsEdges } from './nodes/destinations.ts'
import { detailOf } from './nodes/details.ts'
import { reachedAgents } from './nodes/reached.ts'
import type { GraphWorld, PartNames } from './world.ts'

export interface GraphStructure {
  /** By kind, then name. */
  nodes: GraphNode[]
  /** By id. */
  edges: GraphEdge[]
}

/** @returns the graph of a project without live state: counts are null or 0, `last_at` is null */
export function structureOf(world: GraphWorld): GraphStructure {
  const names = namesOf(world)
  const nodes = [
    ...partKinds.flatMap((kind) => [...names[kind]].map((name) => partNode(world, kind, name))),
    ...destinationNodes(world, names),
  ]
  const reached = reachedAgents(world)
  for (const node of nodes)
    if (node.kind === 'agent' && node.state === 'active' && !reached.has(node.name)) node.state = 'off'
  const edges = [
    ...feedsEdges(world, names),
    ...wiringEdges(world),
    ...usesEdges(world, names),
    ...tellsEdges(world, names),
  ]
  return { nodes: nodes.sort(byKindAndName), edges: edges.sort((a, b) => compare(a.id, b.id)) }
}

/** The parts a project uses, plans and names in its wiring, and what these refer to. */
function namesOf(world: GraphWorld): PartNames {
  const names = Object.fromEntries(partKinds.map((kind) => [kind, new Set<string>()])) as Record<
    PartKind,
    Set<string>
  >
  for (const { kind, name } of partsOf(world.doc)) names[kind].add(name)
  for (const { kind, name } of world.ownership) names[kind].add(name)
  const { wakes, handoffs } = wiringOf(world.doc)
  for (const { trigger, agent } of wakes) {
    names.trigger.add(trigger)
    names.agent.add(agent)
  }
  for (const { agent, to } of handoffs) names.agent.add(agent).add(to)
  for (const trigger of names.trigger)
    for (const source of listOf(world.part('trigger', trigger)?.sources)) names.source.add(source)
  for (const agent of names.agent)
    for (const server of listOf(world.part('agent', agent)?.mcp_servers)) names.mcp_server.add(server)
  return names
}

function partNode(world: GraphWorld, kind: PartKind, name: string): GraphNode {
  const doc = world.part(kind, name)
  const owned = world.ownership.find((row) => row.kind === kind && row.name === name)?.state
  return {
    id: nodeId(kind, name),
    kind,
    name,
    detail: doc ? detailOf(kind, doc) : '',
    state: !doc ? 'missing' : doc.paused === true ? 'paused' : 'active',
    health: doc ? 'ok' : 'attention',
    reason: doc
      ? null
      : owned === 'missing'
        ? 'it was deleted; Repair makes it again as its template planned it'
        : 'the project names it, and it is not there',
    customized: doc !== undefined && owned === 'customized',
    shared_with: [...world.sharedWith(kind, name)].sort(
      (a, b) => compare(a.name, b.name) || compare(a.id, b.id),
    ),
    last_at: null,
    today: null,
    running: 0,
    queued: 0,
    spend_today_usd: null,
    verdicts: kind === 'agent' ? verdictsOf(doc?.verdicts) : [],
  }
}

function verdictsOf(verdicts: unknown): string[] {
  return ((verdicts ?? []) as { verdict: string }[]).map(({ verdict }) => verdict)
}

/** A trigger that names no source watches each one of the project. */
function feedsEdges(world: GraphWorld, names: PartNames): GraphEdge[] {
  return [...names.trigger].flatMap((trigger) => {
    const doc = world.part('trigger', trigger)
    if (!doc) return []
    const named = listOf(doc.sources)
    const all = named.length === 0
    return [...new Set(all ? names.source : named)].map((source) =>
      edgeOf('feeds', edgeIds.feeds(source, trigger), nodeId('source', source), nodeId('trigger', trigger), {
        all,
      }),
    )
  })
}

function wiringEdges({ doc }: GraphWorld): GraphEdge[] {
  const { wakes, handoffs } = wiringOf(doc)
  return [
    ...wakes.map(({ trigger, agent, enabled }) =>
      edgeOf('wakes', edgeIds.wakes(trigger, agent), nodeId('trigger', trigger), nodeId('agent', agent), {
        enabled: enabled === true,
      }),
    ),
    ...handoffs.map(({ agent, verdict, to, cooldown }) =>
      edgeOf('hands_off', edgeIds.handsOff(agent, verdict, to), nodeId('agent', agent), nodeId('agent', to), {
        verdict,
        cooldown: cooldown ?? HANDOFF_COOLDOWN,
      }),
    ),
  ]
}

function usesEdges(world: GraphWorld, names: PartNames): GraphEdge[] {
  return [...names.agent].flatMap((agent) =>
    [...new Set(listOf(world.part('agent', agent)?.mcp_servers))].map((server) =>
      edgeOf('uses', edgeIds.uses(agent, server), nodeId('agent', agent), nodeId('mcp_server', server)),
    ),
  )
}

function byKindAndName(a: GraphNode, b: GraphNode): number {
  return (
    NODE_KINDS.indexOf(a.kind) - NODE_KINDS.indexOf(b.kind) || compare(a.name, b.name) || compare(a.id, b.id)
  )
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

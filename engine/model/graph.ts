/**
 * The structure of a project's graph: its parts, what leads from one to another, and whom they tell
 * (SPEC.md, Project: wiring). Pure: the same for what is stored now, for a draft and for the
 * documents as of a change-set. What happened lately is filled in by graph/activity.ts.
 */
import type { AgentSpec, GraphEdge, GraphNode } from '../../schemas/types.ts'
import { sentenceOf } from '../../schemas/words.ts'
import { maskedUrl } from './credentials.ts'
import { type Doc, documentOf, type PartKind, partKinds } from './documents.ts'
import { HANDOFF_COOLDOWN, type ProjectDoc, partsOf, wiringOf } from './project.ts'

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
    last_verdict: null,
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

/* An edge as the structure makes it: nothing has passed it yet. */

/** @param from,to ids of nodes. */
export function edgeOf(
  kind: GraphEdge['kind'],
  id: string,
  from: string,
  to: string,
  more: Partial<Pick<GraphEdge, 'enabled' | 'verdict' | 'cooldown' | 'all'>> = {},
): GraphEdge {
  return {
    id,
    kind,
    from,
    to,
    enabled: true,
    verdict: null,
    cooldown: null,
    all: false,
    ...more,
    last_at: null,
    today: null,
  }
}

/** Names in a field of a document; none where it is left out. */
const listOf = (field: unknown): readonly string[] => (Array.isArray(field) ? (field as string[]) : [])

/* Ids of nodes and edges: stable as long as the parts keep their names (schemas/graph-node.json, graph-edge.json). */

type NodeKind = GraphNode['kind']

/** Kinds of nodes in the order they are listed. */
const NODE_KINDS: readonly NodeKind[] = ['source', 'trigger', 'agent', 'mcp_server', 'skill', 'destination']

/** @param name of a part; of a destination `webhook:<subscription>`, `write_back:<agent>`, `github:<agent>` or `slack:<channel>` */
export const nodeId = (kind: NodeKind, name: string): string => `${kind}:${name}`

export const edgeIds = {
  feeds: (source: string, trigger: string): string => `feeds:${source}>${trigger}`,
  wakes: (trigger: string, agent: string): string => `wakes:${trigger}>${agent}`,
  handsOff: (agent: string, verdict: string, to: string): string => `hands_off:${agent}/${verdict}>${to}`,
  uses: (agent: string, server: string): string => `uses:${agent}>${server}`,
  /** A trigger and an agent may have one name, so that the kind of the teller is said. */
  tells: (from: 'trigger' | 'agent', name: string, destination: string): string =>
    `tells:${from}:${name}>${destination}`,
}

/* Whom a project tells: addresses subscribed to its triggers, and where its agents send their findings. */

/** Where an agent's findings go. */
interface Outlet {
  agent: string
  /** What follows `destination:` in the id of the node. */
  id: string
  name: string
  detail: string
}

function destinationNodes(world: GraphWorld, names: PartNames): GraphNode[] {
  const subscribed = world.destinations.map(({ id, name, disabled }) =>
    destination(id, name, 'firings', disabled),
  )
  const outlets = new Map(outletsOf(world, names).map((outlet) => [outlet.id, outlet]))
  return [
    ...subscribed,
    ...[...outlets.values()].map(({ id, name, detail }) => destination(id, name, detail)),
  ]
}

function tellsEdges(world: GraphWorld, names: PartNames): GraphEdge[] {
  const subscribed = world.destinations.flatMap(({ id, trigger }) =>
    (trigger === null ? [...names.trigger] : [trigger]).map((name) =>
      edgeOf('tells', edgeIds.tells('trigger', name, id), nodeId('trigger', name), nodeId('destination', id)),
    ),
  )
  const findings = outletsOf(world, names).map(({ agent, id }) =>
    edgeOf('tells', edgeIds.tells('agent', agent, id), nodeId('agent', agent), nodeId('destination', id)),
  )
  return [...subscribed, ...findings]
}

function outletsOf(world: GraphWorld, names: PartNames): Outlet[] {
  return [...names.agent].flatMap((agent) => {
    const doc = world.part('agent', agent) ?? {}
    const { webhook_url: url, slack_channel: channel, github } = doc
    const outlets: Outlet[] = []
    if (typeof url === 'string' && url !== '')
      outlets.push({ agent, id: `write_back:${agent}`, name: shownUrl(url), detail: 'findings' })
    if (typeof channel === 'string' && channel !== '')
      outlets.push({ agent, id: `slack:${channel}`, name: channel, detail: 'findings, to Slack' })
    // Where a finding goes there says the event that woke the agent, so each agent has its own.
    const writes = listOf(doc.github_writes).flatMap((write) => GITHUB_WRITES[write] ?? [])
    if (typeof github === 'string' && github !== '' && writes.length > 0)
      outlets.push({
        ...{ agent, id: `github:${agent}`, name: `GitHub, as ${github}` },
        detail: `findings, as ${writes.join(' and ')}`,
      })
    return outlets
  })
}

/** What an agent may write on GitHub, in words. */
const GITHUB_WRITES: Readonly<Record<string, string>> = { comment: 'comments', check: 'checks' }

/** The rule of agents lets text pass that only looks like an address. */
const shownUrl = (url: string): string => (URL.canParse(url) ? maskedUrl(url) : 'an address that is none')

function destination(id: string, name: string, detail: string, disabled = false): GraphNode {
  return {
    id: nodeId('destination', id),
    kind: 'destination',
    name,
    detail,
    state: disabled ? 'off' : 'active',
    health: disabled ? 'attention' : 'ok',
    reason: disabled ? 'the recipient said that it is gone; subscribe it again' : null,
    customized: false,
    shared_with: [],
    last_at: null,
    today: null,
    running: 0,
    queued: 0,
    spend_today_usd: null,
    last_verdict: null,
    verdicts: [],
  }
}

/* The one line under the name of a part in the graph. */

/** Connector of a source, sentence of a trigger, model of an agent, address of an MCP server, description of a skill. */
function detailOf(kind: PartKind, doc: Doc): string {
  if (kind === 'source') return documentOf('source', doc).connector
  if (kind === 'trigger') return sentenceOf(documentOf('trigger', doc))
  if (kind === 'agent') return modelOf(documentOf('agent', doc))
  if (kind === 'mcp_server') return addressOf(documentOf('mcp_server', doc).url)
  return documentOf('skill', doc).description
}

function modelOf({ model, provider }: AgentSpec): string {
  return model || (provider ? `default model of ${provider}` : 'default model')
}

/** Without name, password and query, where credentials tend to be. */
function addressOf(url: string): string {
  if (!URL.canParse(url) || url.startsWith('stdio:')) return url
  const { protocol, host, pathname } = new URL(url)
  return `${protocol}//${host}${pathname}`
}

/* Which agents of a project run at all. */

/** Agents that a wire which is on wakes, and those that these hand over to, however far. */
function reachedAgents({ doc }: Pick<GraphWorld, 'doc'>): Set<string> {
  const { wakes, handoffs } = wiringOf(doc)
  const reached = new Set(wakes.filter(({ enabled }) => enabled).map(({ agent }) => agent))
  // A set that grows while it is walked is walked to its end.
  for (const agent of reached) for (const row of handoffs) if (row.agent === agent) reached.add(row.to)
  return reached
}

/* What the structure of a graph is made of: documents of one instant, now or in the past. */

/** An address that triggers tell. */
export interface GraphDestination {
  /** What follows `destination:` in its id: webhook:<subscription>. */
  id: string
  /** Where it leads, masked. */
  name: string
  /** Its trigger; null: every trigger of the project. */
  trigger: string | null
  /** The recipient said that it is gone, and nothing is sent there any more. */
  disabled: boolean
}

export interface GraphWorld {
  /** Id of the project. */
  id: string
  doc: ProjectDoc
  /** The document of a part; undefined: it is not there. Only fields that are no secret are read. */
  part(kind: PartKind, name: string): Doc | undefined
  /** Other projects that use a part, by name. */
  sharedWith(kind: PartKind, name: string): readonly { id: string; name: string }[]
  /** Objects of the project's plan that a hand edited, or deleted. */
  ownership: readonly { kind: PartKind; name: string; state: 'customized' | 'missing' }[]
  /** Subscriptions of the project or of its triggers; what agents write back to is read from their documents. */
  destinations: readonly GraphDestination[]
}

/** Names of the parts of a graph. */
type PartNames = Record<PartKind, ReadonlySet<string>>

/** The setting that says where people put the nodes of a project. */
export const positionsKey = (project: string): string => `graph_positions/${project}`

/** A row of a subscription as a graph needs it. */
export interface SubscriptionRow {
  id: string
  trigger_name: string | null
  masked: string
  disabled_at: number | null
}

/** @param at epoch ms; one that is disabled later is not yet */
export const destinationOf = (
  { id, trigger_name: trigger, masked, disabled_at: disabledAt }: SubscriptionRow,
  at = Number.POSITIVE_INFINITY,
): GraphDestination => ({
  ...{ id: `webhook:${id}`, name: masked, trigger },
  disabled: disabledAt !== null && disabledAt <= at,
})

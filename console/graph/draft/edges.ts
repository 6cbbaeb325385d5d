/** What is done to connections that are there: switched, changed, taken away. */
import type { GraphEdge, Operation, ProjectGraph, ToolPolicy } from '../../../schemas/types.ts'
import { HANDOFF_COOLDOWN, serversOf, sourcesOf } from './connect.ts'
import type { Step } from './draft.ts'
import { edgeWords, findNode, handsOffId, nameOf, patchProject } from './ids.ts'
import { composed } from './patch.ts'

/** A wake is switched on or off. */
export function switchWake(graph: ProjectGraph, { from, to }: GraphEdge, enabled: boolean): Step {
  const [trigger, agent] = [nameOf(from), nameOf(to)]
  return {
    label: `${trigger} wakes ${agent}: ${enabled ? 'on' : 'off'}`,
    said: enabled
      ? `Trigger ${trigger} wakes ${agent} again.`
      : `Trigger ${trigger} no longer wakes ${agent}.`,
    operations: [patchProject(graph, { wakes: { [trigger]: { [agent]: { enabled } } } })],
  }
}

/**
 * A handoff's verdict, its wait, or both are changed.
 * @returns null when nothing would. @throws Error when another handoff stands there already
 */
export function changeHandoff(
  graph: ProjectGraph,
  edge: GraphEdge,
  change: { verdict?: string; cooldown?: string },
): Step | null {
  const [agent, to] = [nameOf(edge.from), nameOf(edge.to)]
  const was = { verdict: edge.verdict ?? '', cooldown: edge.cooldown ?? HANDOFF_COOLDOWN }
  const is = {
    verdict: (change.verdict ?? was.verdict).toLowerCase(),
    cooldown: (change.cooldown ?? was.cooldown).trim() || HANDOFF_COOLDOWN,
  }
  if (is.verdict === was.verdict && is.cooldown === was.cooldown) return null
  const moved = is.verdict !== was.verdict
  if (moved && graph.edges.some(({ id }) => id === handsOffId(agent, is.verdict, to)))
    throw new Error(`${to} takes over from ${agent} on ${is.verdict} already.`)
  const row = { [to]: { cooldown: is.cooldown } }
  return {
    label: moved
      ? `${to} takes over from ${agent} on ${is.verdict}, not ${was.verdict}`
      : `${to} takes over from ${agent} on ${is.verdict} every ${is.cooldown} at most`,
    said: `Agent ${to} now takes over from ${agent} on ${is.verdict}, at most once every ${is.cooldown} for the same entity.`,
    operations: [
      patchProject(graph, {
        handoffs: {
          [agent]: { ...(moved ? { [was.verdict]: { [to]: null } } : {}), [is.verdict]: row },
        },
      }),
    ],
  }
}

/** Why a connection cannot be taken away, in a sentence; null: it can. */
export function disconnectRefusal(graph: ProjectGraph, edge: GraphEdge): string | null {
  if (edge.kind === 'tells')
    return `The subscribers of ${nameOf(edge.from)} are set in its own fields and subscriptions.`
  if (edge.kind === 'feeds' && sourcesOf(graph, nameOf(edge.to)).length < 2)
    return `A trigger watches at least one source: connect ${nameOf(edge.to)} with another first.`
  return null
}

/** Tools an agent may call: its lines for a server go with the server. */
export type ToolsOf = (agent: string) => readonly ToolPolicy[]

/**
 * Connections are taken away, all in one step.
 * @throws Error when one of them is refused
 */
export function disconnect(graph: ProjectGraph, edges: readonly GraphEdge[], toolsOf: ToolsOf): Step {
  for (const edge of edges) {
    const refused = disconnectRefusal(graph, edge)
    if (refused !== null) throw new Error(refused)
  }
  const ofKind = (kind: GraphEdge['kind']) => edges.filter((edge) => edge.kind === kind)
  const operations: Operation[] = []
  for (const [trigger, gone] of byName(ofKind('feeds'), 'to')) {
    const left = sourcesOf(graph, trigger).filter((source) => !gone.includes(`source:${source}`))
    if (left.length === 0)
      throw new Error(`A trigger watches at least one source: leave ${trigger} with one of them.`)
    operations.push({ op: 'patch', kind: 'trigger', name: trigger, spec: { sources: left } })
  }
  for (const [agent, gone] of byName(ofKind('uses'), 'from'))
    operations.push(withoutServers(graph, agent, gone.map(nameOf), toolsOf(agent)))
  const wiring = wiringWithout([...ofKind('wakes'), ...ofKind('hands_off')])
  if (wiring) operations.push(patchProject(graph, wiring))
  const [first] = edges
  const words = edges.length === 1 ? edgeWords(first!) : `${edges.length} connections`
  return {
    label: `${words}: no more`,
    said: edges.length === 1 ? `No more: ${words}.` : `${words} are gone.`,
    operations,
  }
}

/** A patch of a project that takes wakes and handoffs away; null when there are none. */
export function wiringWithout(edges: readonly GraphEdge[]): Record<string, unknown> | null {
  let patch: unknown = {}
  for (const { kind, from, to, verdict } of edges) {
    const [a, b] = [nameOf(from), nameOf(to)]
    if (kind === 'wakes') patch = composed(patch, { wakes: { [a]: { [b]: null } } })
    if (kind === 'hands_off')
      patch = composed(patch, { handoffs: { [a]: { [verdict ?? '']: { [b]: null } } } })
  }
  return Object.keys(patch as object).length ? (patch as Record<string, unknown>) : null
}

function withoutServers(
  graph: ProjectGraph,
  agent: string,
  gone: readonly string[],
  tools: readonly ToolPolicy[],
): Operation {
  const left = serversOf(graph, agent).filter((server) => !gone.includes(server))
  const lines = tools.filter(({ server }) => !gone.includes(server))
  return {
    op: 'patch',
    kind: 'agent',
    name: agent,
    spec: {
      mcp_servers: left.length ? left : null,
      ...(lines.length === tools.length ? {} : { tools: lines.length ? lines : null }),
    },
  }
}

function byName(edges: readonly GraphEdge[], end: 'from' | 'to'): Map<string, string[]> {
  const other = end === 'from' ? 'to' : 'from'
  const rows = new Map<string, string[]>()
  for (const edge of edges) rows.set(nameOf(edge[end]), [...(rows.get(nameOf(edge[end])) ?? []), edge[other]])
  return rows
}

/** Verdicts of the agent a handoff leaves, and the handoff's own, which may be gone from the list. */
export function verdictsOf(graph: ProjectGraph, edge: GraphEdge): string[] {
  const own = (findNode(graph, edge.from)?.verdicts ?? []).map((word) => word.toLowerCase())
  return [...new Set([...own, ...(edge.verdict ? [edge.verdict] : [])])]
}

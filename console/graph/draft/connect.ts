/** Connections: which can be made, why another cannot, and the step that makes one. */
import type { GraphNode, ProjectGraph } from '../../../schemas/types.ts'
import type { Connection } from '../types.ts'
import type { Step } from './draft.ts'
import {
  called,
  feedsId,
  findEdge,
  findNode,
  handsOffId,
  patchProject,
  sentence,
  usesId,
  wakesId,
} from './ids.ts'

/** Wait before the same entity is handed over again, where none is said. */
export const HANDOFF_COOLDOWN = '30m'
const SOURCES_MAX = 100
const SERVERS_MAX = 20

interface Ends {
  from: GraphNode
  to: GraphNode
}

/** @returns null when the connection can be made, else why not, in a sentence. */
export function refusal(graph: ProjectGraph, connection: Connection): string | null {
  const from = findNode(graph, connection.from)
  const to = findNode(graph, connection.to)
  if (!from || !to) return 'Both ends have to be in the project.'
  const missing = [from, to].find(({ state }) => state === 'missing')
  if (missing) return `${sentence(called(missing))} is missing; repair it first.`
  if (from.id === to.id) return selfRefusal(from)
  const ends = { from, to }
  if (from.kind === 'source') return fromSource(graph, ends)
  if (from.kind === 'trigger') return fromTrigger(graph, ends)
  if (from.kind === 'agent') return fromAgent(graph, ends, connection.verdict)
  if (from.kind === 'destination') return 'Nothing leads on from a destination.'
  if (from.kind === 'skill') return 'Every agent of the project sees its skills; they are not connected.'
  return 'An agent works with an MCP server: begin at the agent.'
}

const selfRefusal = ({ kind, name }: GraphNode): string =>
  kind === 'agent' ? `${name} cannot hand over to itself.` : 'A part is not connected with itself.'

function fromSource(graph: ProjectGraph, { from, to }: Ends): string | null {
  if (to.kind !== 'trigger') return 'A source feeds a trigger; a trigger wakes an agent.'
  if (findEdge(graph, feedsId(from.name, to.name))) return `${to.name} watches ${from.name} already.`
  if (sourcesOf(graph, to.name).length >= SOURCES_MAX)
    return `A trigger watches at most ${SOURCES_MAX} sources.`
  return null
}

function fromTrigger(graph: ProjectGraph, { from, to }: Ends): string | null {
  if (to.kind === 'source') return 'A source feeds a trigger: start at the source.'
  if (to.kind !== 'agent') return 'A trigger wakes an agent.'
  if (findEdge(graph, wakesId(from.name, to.name)))
    return `${from.name} wakes ${to.name} already; it can be switched on and off.`
  return null
}

function fromAgent(graph: ProjectGraph, { from, to }: Ends, verdict: string | null): string | null {
  if (to.kind === 'mcp_server') {
    if (verdict !== null) return 'A verdict leads to an agent; draw from the agent itself to an MCP server.'
    if (findEdge(graph, usesId(from.name, to.name))) return `${from.name} works with ${to.name} already.`
    if (serversOf(graph, from.name).length >= SERVERS_MAX)
      return `An agent works with at most ${SERVERS_MAX} MCP servers.`
    return null
  }
  if (to.kind !== 'agent') return 'An agent hands over to an agent, or works with an MCP server.'
  if (from.verdicts.length === 0)
    return `${from.name} has no verdicts to hand over on; give it one in its fields first.`
  if (verdict === null)
    return freeVerdicts(graph, from, to.name).length === 0
      ? `${to.name} takes over on each verdict of ${from.name} already.`
      : null
  if (!from.verdicts.some((word) => word.toLowerCase() === verdict.toLowerCase()))
    return `${verdict} is not among the verdicts of ${from.name}.`
  if (findEdge(graph, handsOffId(from.name, verdict.toLowerCase(), to.name)))
    return `${to.name} takes over from ${from.name} on ${verdict} already.`
  return null
}

/** Verdicts on which the other does not take over yet. */
const freeVerdicts = (graph: ProjectGraph, from: GraphNode, to: string): string[] =>
  from.verdicts.filter((word) => !findEdge(graph, handsOffId(from.name, word.toLowerCase(), to)))

/** Of a connection that says none and needs one: the verdicts it can be on. More than one is asked of whoever makes it. */
export function verdictsFor(graph: ProjectGraph, { from, to, verdict }: Connection): string[] {
  const [start, target] = [findNode(graph, from), findNode(graph, to)]
  const isHandoff = start?.kind === 'agent' && target?.kind === 'agent' && verdict === null
  return isHandoff ? freeVerdicts(graph, start, target.name) : []
}

/** Sources a trigger watches, in the order of the graph. */
export const sourcesOf = (graph: ProjectGraph, trigger: string): string[] =>
  namesAcross(graph, 'feeds', 'to', `trigger:${trigger}`)

/** MCP servers an agent works with. */
export const serversOf = (graph: ProjectGraph, agent: string): string[] =>
  namesAcross(graph, 'uses', 'from', `agent:${agent}`)

function namesAcross(graph: ProjectGraph, kind: string, end: 'from' | 'to', id: string): string[] {
  const other = end === 'from' ? 'to' : 'from'
  return graph.edges
    .filter((edge) => edge.kind === kind && edge[end] === id)
    .map((edge) => edge[other].slice(edge[other].indexOf(':') + 1))
}

/**
 * The step that makes a connection; of a verdict that is not said, the first that is free.
 * @param cooldown of a handoff. @throws Error when it is refused: ask first
 */
export function connect(graph: ProjectGraph, connection: Connection, cooldown = HANDOFF_COOLDOWN): Step {
  const refused = refusal(graph, connection)
  if (refused !== null) throw new Error(refused)
  const from = findNode(graph, connection.from)!
  const to = findNode(graph, connection.to)!
  if (from.kind === 'source')
    return {
      label: `${to.name} watches ${from.name}`,
      said: `Trigger ${to.name} now watches ${from.name}.`,
      operations: [
        {
          op: 'patch',
          kind: 'trigger',
          name: to.name,
          spec: { sources: [...sourcesOf(graph, to.name), from.name] },
        },
      ],
    }
  if (from.kind === 'trigger') {
    return {
      label: `${from.name} wakes ${to.name}`,
      said: `Trigger ${from.name} now wakes ${to.name}.`,
      operations: [patchProject(graph, { wakes: { [from.name]: { [to.name]: { enabled: true } } } })],
    }
  }
  if (to.kind === 'mcp_server')
    return {
      label: `${from.name} works with ${to.name}`,
      said: `Agent ${from.name} now works with ${to.name}.`,
      operations: [
        {
          op: 'patch',
          kind: 'agent',
          name: from.name,
          spec: { mcp_servers: [...serversOf(graph, from.name), to.name] },
        },
      ],
    }
  const verdict = (connection.verdict ?? freeVerdicts(graph, from, to.name)[0]!).toLowerCase()
  return {
    label: `${to.name} takes over from ${from.name} on ${verdict}`,
    said: `Agent ${to.name} now takes over from ${from.name} on ${verdict}.`,
    operations: [
      patchProject(graph, { handoffs: { [from.name]: { [verdict]: { [to.name]: { cooldown } } } } }),
    ],
  }
}

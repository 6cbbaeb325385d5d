/** Ids of a graph's nodes and edges, and what they stand for. */
import type { GraphEdge, GraphNode, Operation, ProjectGraph } from '../../../schemas/types.ts'
import { KIND_WORDS } from '../../lib/fields.ts'

export type PartKind = Exclude<GraphNode['kind'], 'destination'>

/** A part by kind and name. */
export interface PartRef {
  kind: PartKind
  name: string
}

export const PART_KINDS: readonly PartKind[] = ['source', 'trigger', 'agent', 'mcp_server', 'skill']

export const nodeId = ({ kind, name }: { kind: string; name: string }): string => `${kind}:${name}`

export const feedsId = (source: string, trigger: string): string => `feeds:${source}>${trigger}`
export const wakesId = (trigger: string, agent: string): string => `wakes:${trigger}>${agent}`
export const handsOffId = (agent: string, verdict: string, to: string): string =>
  `hands_off:${agent}/${verdict}>${to}`
export const usesId = (agent: string, server: string): string => `uses:${agent}>${server}`

/** The part behind a node's id; null for a destination, and for an edge. */
export function partOf(id: string): PartRef | null {
  const at = id.indexOf(':')
  const kind = id.slice(0, at) as PartKind
  return PART_KINDS.includes(kind) ? { kind, name: id.slice(at + 1) } : null
}

/** "trigger high-errors" */
export const called = ({ kind, name }: { kind: string; name: string }): string =>
  `${KIND_WORDS[kind]?.one ?? kind} ${name}`

/** A sentence as it begins. */
export const sentence = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)

/** Name of the part a node's id stands for. */
export const nameOf = (id: string): string => id.slice(id.indexOf(':') + 1)

/** An edge in words: "high-errors wakes triage". */
export function edgeWords({ kind, from, to, verdict }: GraphEdge): string {
  const [a, b] = [nameOf(from), nameOf(to)]
  if (kind === 'feeds') return `${b} watches ${a}`
  if (kind === 'wakes') return `${a} wakes ${b}`
  if (kind === 'uses') return `${a} works with ${b}`
  if (kind === 'tells') return `${a} tells ${b}`
  return `${b} takes over from ${a} on ${verdict}`
}

export const findNode = (graph: ProjectGraph, id: string): GraphNode | undefined =>
  graph.nodes.find((node) => node.id === id)

export const findEdge = (graph: ProjectGraph, id: string): GraphEdge | undefined =>
  graph.edges.find((edge) => edge.id === id)

/** A patch of a project's document. */
export const patchProject = (graph: ProjectGraph, spec: Record<string, unknown>): Operation => ({
  op: 'patch',
  kind: 'project',
  name: graph.project.id,
  spec,
})

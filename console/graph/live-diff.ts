/** What changed between two looks at a project: what stayed keeps its object, what moved on pulses. */
import type { GraphEdge, ProjectGraph } from '../../schemas/types.ts'
import type { Pulse, Tone } from './types.ts'

/** At most so many pulses for an edge of one look: a pulse says that something came, not how much. */
const PULSES = 3

/** The new graph with the old objects for nodes and edges that are the same. */
export function keepSame(before: ProjectGraph | undefined, after: ProjectGraph): ProjectGraph {
  if (!before) return after
  return {
    ...after,
    nodes: keepEach(before.nodes, after.nodes),
    edges: keepEach(before.edges, after.edges),
    positions: same(before.positions, after.positions) ? before.positions : after.positions,
  }
}

function keepEach<T extends { id: string }>(before: T[], after: T[]): T[] {
  const known = new Map(before.map((each) => [each.id, each]))
  const kept = after.map((each) => {
    const old = known.get(each.id)
    return old && same(old, each) ? old : each
  })
  return kept.length === before.length && kept.every((each, i) => each === before[i]) ? before : kept
}

const same = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b)

const TONES: Record<GraphEdge['kind'], Tone> = {
  feeds: 'neutral',
  wakes: 'busy',
  hands_off: 'busy',
  uses: 'neutral',
  tells: 'good',
}

/** @param first number that is free for a pulse */
export function pulsesBetween(before: ProjectGraph, after: ProjectGraph, first: number): Pulse[] {
  const known = new Map(before.edges.map((edge) => [edge.id, edge]))
  const came = moreOf(before, after)
  const pulses: Pulse[] = []
  for (const edge of after.edges) {
    const old = known.get(edge.id)
    if (!old || old === edge) continue
    for (let i = Math.min(PULSES, carried(old, edge, came)); i > 0; i--)
      pulses.push({ edge: edge.id, n: first + pulses.length, tone: TONES[edge.kind] })
  }
  return pulses
}

/** How many more each node counts since the look before. */
function moreOf(before: ProjectGraph, after: ProjectGraph): (node: string) => number {
  const known = new Map(before.nodes.map((node) => [node.id, node.today ?? 0]))
  const now = new Map(after.nodes.map((node) => [node.id, node.today ?? 0]))
  return (node) => (now.get(node) ?? 0) - (known.get(node) ?? now.get(node) ?? 0)
}

/**
 * How often it carried something; after midnight the count starts anew, and the last time tells. What is
 * fed is not counted by edge: it is what came to the source.
 */
function carried(before: GraphEdge, after: GraphEdge, came: (node: string) => number): number {
  const more = (after.today ?? 0) - (before.today ?? 0)
  if (more > 0) return more
  const later = after.last_at !== null && (before.last_at === null || after.last_at > before.last_at)
  if (!later) return 0
  return after.kind === 'feeds' ? Math.max(1, came(after.from)) : 1
}

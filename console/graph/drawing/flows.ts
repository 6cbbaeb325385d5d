/** A large graph as flows: one for each trigger, from the sources it watches to whom its agents tell. */
import type { GraphNode, ProjectGraph } from '../../../schemas/types.ts'
import { compareNames } from '../../lib/by-name.ts'
import type { Recent } from './connected.ts'

export interface Flow {
  /** Id of its trigger; where none leads to its parts, of the first of them. */
  id: string
  /** Null: parts that are wired, and that no trigger leads to. */
  trigger: GraphNode | null
  sources: readonly GraphNode[]
  /** Those it wakes first, then who takes over. */
  agents: readonly GraphNode[]
  destinations: readonly GraphNode[]
  /** Of everything in it, tools included. */
  ids: ReadonlySet<string>
}

/** Beyond so many screens a drawing opens as flows. */
export const FLOWS_FROM = 3

type Wiring = Pick<ProjectGraph, 'nodes' | 'edges'>

/** Those that fired last come first, then by name. Parts without wires are in none. */
export function flowsOf(graph: Wiring, recent: Recent = {}): Flow[] {
  const ways = waysOf(graph)
  const flows = graph.nodes.flatMap((node) =>
    node.kind === 'trigger' && ways.isWired(node.id) ? [flowOf(node, ways)] : [],
  )
  const inSome = new Set(flows.flatMap(({ ids }) => [...ids]))
  const rest = graph.nodes.filter(({ id, kind }) => kind !== 'skill' && !inSome.has(id) && ways.isWired(id))
  flows.sort(
    (a, b) => (recent[b.id] ?? 0) - (recent[a.id] ?? 0) || compareNames(a.trigger!.name, b.trigger!.name),
  )
  return [...flows, ...withoutTrigger(rest, ways)]
}

/** Flows in whose names all of the words are. */
export function flowsWith(flows: readonly Flow[], text: string): Flow[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean)
  if (words.length === 0) return [...flows]
  return flows.filter(({ trigger, sources, agents, destinations }) => {
    const names = [...(trigger ? [trigger] : []), ...sources, ...agents, ...destinations]
      .map(({ name, detail, kind }) => `${name} ${kind === 'trigger' ? detail : ''}`.toLowerCase())
      .join('\n')
    return words.every((word) => names.includes(word))
  })
}

interface Ways {
  node(id: string): GraphNode | undefined
  from(id: string): readonly string[]
  to(id: string): readonly string[]
  isWired(id: string): boolean
}

function waysOf({ nodes, edges }: Wiring): Ways {
  const known = new Map(nodes.map((node) => [node.id, node]))
  const [out, into] = [new Map<string, string[]>(), new Map<string, string[]>()]
  const add = (to: Map<string, string[]>, id: string, other: string): void => {
    const list = to.get(id)
    if (list) list.push(other)
    else to.set(id, [other])
  }
  for (const { from, to } of edges) {
    add(out, from, to)
    add(into, to, from)
  }
  return {
    node: (id) => known.get(id),
    from: (id) => out.get(id) ?? [],
    to: (id) => into.get(id) ?? [],
    isWired: (id) => out.has(id) || into.has(id),
  }
}

/** All that a trigger leads to, breadth first. */
function reached(from: string, ways: Ways): string[] {
  const found = new Set([from])
  for (const id of found) for (const to of ways.from(id)) found.add(to)
  return [...found]
}

function flowOf(trigger: GraphNode, ways: Ways): Flow {
  const sources = ways.to(trigger.id)
  return flow(trigger.id, trigger, [...new Set([...sources, ...reached(trigger.id, ways)])], ways)
}

function flow(id: string, trigger: GraphNode | null, ids: readonly string[], ways: Ways): Flow {
  const nodes = ids.flatMap((one) => ways.node(one) ?? [])
  const of = (kind: GraphNode['kind']): GraphNode[] => nodes.filter((node) => node.kind === kind)
  return {
    id,
    trigger,
    sources: of('source'),
    agents: of('agent'),
    destinations: of('destination'),
    ids: new Set(ids),
  }
}

/** Agents that nothing wakes and whom they hand over to: a flow for each connected part of them. */
function withoutTrigger(rest: readonly GraphNode[], ways: Ways): Flow[] {
  const left = new Set(rest.map(({ id }) => id))
  const flows: Flow[] = []
  for (const { id } of rest) {
    if (!left.has(id)) continue
    const found = new Set([id])
    for (const one of found)
      for (const other of [...ways.from(one), ...ways.to(one)]) if (left.has(other)) found.add(other)
    for (const one of found) left.delete(one)
    // What they share with the flows of triggers, such as a server or a destination, is shown here, too.
    const all = [...found, ...[...found].flatMap((one) => [...ways.from(one)])]
    flows.push(flow(id, null, [...new Set(all)], ways))
  }
  return flows
}

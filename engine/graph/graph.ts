/** The graph of a project as it is declared: what happened in it is filled in by live/fill.ts. */
import type { GraphNode, ProjectGraph } from '../../schemas/types.ts'
import type { Declared } from '../declared/declared.ts'
import { driftsOf } from '../declared/label-drift.ts'
import { healthOf } from '../sources/health.ts'
import type { Positions } from './positions.ts'
import type { GraphStructure } from './structure.ts'

export interface GraphParts {
  declared: Declared
  positions: Positions
  /** The catalog file is imported at every start. */
  isSynced: boolean
}

/** @param id of a live project. @param structure of it, as it is stored. */
export function declaredGraph(
  { declared, positions, isSynced }: GraphParts,
  id: string,
  { nodes, edges }: GraphStructure,
): ProjectGraph {
  const { kinds, changes, clock } = declared
  const stored = kinds.project.find(id)!
  const healthy = sourceHealth(declared)
  return {
    project: {
      id,
      name: stored.name,
      status: stored.state === 'paused' ? 'paused' : stored.state === 'draft' ? 'draft' : 'active',
      version: stored.changeSet,
    },
    version: changes.version(),
    at: new Date(clock.now()).toISOString(),
    nodes: nodes.map(healthy).map((node) => withDrift(declared, node)),
    edges,
    positions: positions.of(id, nodes),
    source_of_truth: isSynced ? 'file' : 'instance',
  }
}

/** A label it depends on does not come: it is drawn as something to look at. */
function withDrift(declared: Declared, node: GraphNode): GraphNode {
  const { kind, name, health, state } = node
  if (health === 'attention' || state === 'missing') return node
  if (kind !== 'source' && kind !== 'trigger' && kind !== 'agent') return node
  const [reason] = driftsOf(declared, kind, name)
  return reason === undefined ? node : { ...node, health: 'attention', reason }
}

/** What only the writer knows of a source: whether it can take events at all. */
function sourceHealth({ sources }: Declared): (node: GraphNode) => GraphNode {
  const { queries, live, polls, credentials } = sources.store
  const storageReason = sources.store.storageReason()
  return (node) => {
    if (node.kind !== 'source') return node
    const row = queries.byName(node.name)
    const source = row && live.byId(row.id)
    // One that a draft makes is not live yet.
    if (!row || !source) return node
    const { status, reason } = healthOf(row, source, storageReason, polls.find(row.id), credentials)
    return status === 'error' || status === 'refused' ? { ...node, health: 'attention', reason } : node
  }
}

/**
 * Where people put nodes. A setting of the instance and no part of what is declared: no change-set
 * has it, no catalog file, and it goes with its project.
 */
import type { GraphPosition } from '../../schemas/types.ts'
import type { Clock } from '../clock.ts'
import { openSettings } from '../settings/settings.ts'
import type { StoreHandle } from '../store/handle.ts'

export interface Positions {
  /** Without those of nodes that are gone, sorted by node. */
  of(project: string, nodes: readonly { id: string }[]): GraphPosition[]
  /** Replaces all; of a node that is named twice the last one counts. */
  put(project: string, positions: readonly GraphPosition[]): void
  forget(project: string): void
}

/** Of the setting that has them. */
export const positionsKey = (project: string): string => `graph_positions/${project}`

export function openPositions(store: StoreHandle, clock: Clock): Positions {
  const settings = openSettings(store, clock)
  return {
    of: (project, nodes) => {
      const known = new Set(nodes.map(({ id }) => id))
      return (settings.get<GraphPosition[]>(positionsKey(project)) ?? []).filter(({ node }) =>
        known.has(node),
      )
    },
    put: (project, positions) => {
      const last = new Map(positions.map((position) => [position.node, position]))
      const sorted = [...last.values()].sort((a, b) => (a.node < b.node ? -1 : 1))
      settings.put(positionsKey(project), sorted.length ? sorted : undefined)
    },
    forget: (project) => settings.put(positionsKey(project), undefined),
  }
}

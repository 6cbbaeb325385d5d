/** Where people put nodes, as it is stored: read and written at once, outside of any draft. */
import { type QueryClient, useQueryClient } from '@tanstack/react-query'
import type { GraphMoves, GraphPosition, ProjectGraph } from '../../../../schemas/types.ts'
import { graphApi, graphKeys } from '../../../graph-client.ts'
import { notifications } from '../../../lib/notices.ts'
import { withMoves } from '../../draft/draft.ts'

export interface Positions {
  /** As they are known now. */
  now(): readonly GraphPosition[]
  /** Others move nodes, too: only what moved is written. Null: nothing did. */
  move(moves: GraphMoves | null): void
}

export function usePositions(live: ProjectGraph): Positions {
  const queries = useQueryClient()
  const key = graphKeys.graph(live.project.id)
  const known = (): ProjectGraph => queries.getQueryData<ProjectGraph>(key) ?? live
  return {
    now: () => known().positions,
    move: (moves) => {
      if (!moves) return
      // An answer that is under way is of before.
      void queries.cancelQueries({ queryKey: key })
      queries.setQueryData(key, { ...known(), positions: withMoves(known().positions, moves) })
      void store(queries, live.project.id, moves)
    },
  }
}

/** Writes of this tab, one after the other. */
let last: Promise<void> = Promise.resolve()

async function store(queries: QueryClient, project: string, moves: GraphMoves): Promise<void> {
  const mine = last.then(async () => {
    try {
      await graphApi.moveNodes(project, moves)
    } catch (error) {
      notifications.show({
        color: 'red',
        title: 'Couldn’t keep the positions',
        message: (error as Error).message,
      })
    }
  })
  last = mine
  await mine
  if (last === mine) await queries.invalidateQueries({ queryKey: graphKeys.graph(project) })
}

/** Where people put nodes, as it is stored: read and written at once, outside of any draft. */
import { type QueryClient, useQueryClient } from '@tanstack/react-query'
import type { GraphPosition, ProjectGraph } from '../../../../schemas/types.ts'
import { graphApi, graphKeys } from '../../../graph-client.ts'
import { notifications } from '../../../lib/notices.ts'

/** What becomes of the positions that are stored; null: they stay as they are. */
type Change = (now: readonly GraphPosition[]) => readonly GraphPosition[] | null

export interface Positions {
  /** As they are known now. */
  now(): readonly GraphPosition[]
  change(to: Change): void
}

export function usePositions(live: ProjectGraph): Positions {
  const queries = useQueryClient()
  const key = graphKeys.graph(live.project.id)
  const known = (): ProjectGraph => queries.getQueryData<ProjectGraph>(key) ?? live
  return {
    now: () => known().positions,
    change: (to) => {
      const next = to(known().positions)
      if (!next) return
      // An answer that is under way is of before.
      void queries.cancelQueries({ queryKey: key })
      queries.setQueryData(key, { ...known(), positions: [...next] })
      void store(queries, live.project.id, to)
    },
  }
}

/** Writes of this tab, one after the other. */
let last: Promise<void> = Promise.resolve()

/** All positions are written at once, so they are read anew: others move nodes, too. */
async function store(queries: QueryClient, project: string, to: Change): Promise<void> {
  const mine = last.then(async () => {
    try {
      const next = to((await graphApi.graph(project)).positions)
      if (next) await graphApi.putPositions(project, [...next])
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

/** Where people put nodes, as it is stored: read and written at once, outside of any draft. */
import { useQueryClient } from '@tanstack/react-query'
import type { GraphPosition, ProjectGraph } from '../../../../schemas/types.ts'
import { graphApi, graphKeys } from '../../../graph-client.ts'

export interface Positions {
  /** As they are known now. */
  now(): readonly GraphPosition[]
  put(positions: readonly GraphPosition[]): void
}

export function usePositions(live: ProjectGraph): Positions {
  const queries = useQueryClient()
  const key = graphKeys.graph(live.project.id)
  const known = (): ProjectGraph => queries.getQueryData<ProjectGraph>(key) ?? live
  return {
    now: () => known().positions,
    put: (positions) => {
      queries.setQueryData(key, { ...known(), positions: [...positions] })
      void graphApi
        .putPositions(live.project.id, [...positions])
        .finally(() => queries.invalidateQueries({ queryKey: key }))
    },
  }
}

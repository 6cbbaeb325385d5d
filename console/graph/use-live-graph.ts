/** A project's graph as it is now: asked every two seconds while the page is seen. */
import { type UseQueryResult, useQuery } from '@tanstack/react-query'
import { useEffect, useMemo, useRef, useState } from 'react'
import type { ProjectGraph } from '../../schemas/types.ts'
import { graphApi, graphKeys } from '../graph-client.ts'
import { keepSame, pulsesBetween } from './live-diff.ts'
import { type GraphMarks, NO_MARKS, type Pulse } from './types.ts'

const EVERY_MS = 2_000
/** After a longer gap what came is no longer news. */
const STALE_MS = 10_000

/** @returns the query, and what came since the look before as pulses */
export function useLiveGraph(project: string): {
  query: UseQueryResult<ProjectGraph, Error>
  marks: GraphMarks
} {
  const query = useQuery({
    queryKey: graphKeys.graph(project),
    queryFn: ({ signal }) => graphApi.graph(project, signal),
    refetchInterval: EVERY_MS,
    refetchIntervalInBackground: false,
    structuralSharing: (before, after) => keepSame(before as ProjectGraph | undefined, after as ProjectGraph),
  })
  const pulses = usePulses(query.data)
  const marks = useMemo(() => (pulses.length ? { ...NO_MARKS, pulses } : NO_MARKS), [pulses])
  return { query, marks }
}

function usePulses(graph: ProjectGraph | undefined): readonly Pulse[] {
  const before = useRef<ProjectGraph | undefined>(undefined)
  const next = useRef(1)
  const [pulses, setPulses] = useState<readonly Pulse[]>([])
  useEffect(() => {
    const last = before.current
    before.current = graph
    if (!graph || !last || last.project.id !== graph.project.id) return
    if (Date.parse(graph.at) - Date.parse(last.at) > STALE_MS) return
    const found = pulsesBetween(last, graph, next.current)
    next.current += found.length
    if (found.length) setPulses(found)
  }, [graph])
  return pulses
}

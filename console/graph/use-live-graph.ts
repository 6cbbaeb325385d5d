/** A project's graph as it is now: asked every two seconds while the page is seen. */
import { type UseQueryResult, useQuery } from '@tanstack/react-query'
import { useEffect, useMemo, useRef, useState } from 'react'
import type { ProjectGraph } from '../../schemas/types.ts'
import { graphApi, graphKeys } from '../graph-client.ts'
import { keepSame, pulsesBetween } from './live-diff.ts'
import { type Look, lookOf, pacesOf, withLook } from './live-pace.ts'
import { type GraphMarks, NO_MARKS, type Pace, type Pulse } from './types.ts'

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
  const paces = usePaces(query.data)
  const marks = useMemo(
    () => (pulses.length || paces.size ? { ...NO_MARKS, pulses, paces } : NO_MARKS),
    [pulses, paces],
  )
  return { query, marks }
}

const NO_PACES: ReadonlyMap<string, Pace> = new Map()

function usePaces(graph: ProjectGraph | undefined): ReadonlyMap<string, Pace> {
  const looks = useRef<{ project: string; looks: Look[] }>({ project: '', looks: [] })
  const [paces, setPaces] = useState(NO_PACES)
  useEffect(() => {
    if (!graph) return
    const before = looks.current.project === graph.project.id ? looks.current.looks : []
    looks.current = { project: graph.project.id, looks: withLook(before, lookOf(graph)) }
    const found = pacesOf(looks.current.looks)
    setPaces((was) => {
      if (found.size === 0 && was.size === 0) return was
      // What goes on as it did keeps its object, so that its node is not drawn again.
      return new Map([...found].map(([id, pace]) => [id, samePace(was.get(id), pace) ?? pace]))
    })
  }, [graph])
  return paces
}

const samePace = (before: Pace | undefined, now: Pace): Pace | null =>
  before && JSON.stringify(before) === JSON.stringify(now) ? before : null

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

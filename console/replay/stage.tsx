/** The graph of then, with what is marked on it. */
import { useQuery } from '@tanstack/react-query'
import { useReactFlow } from '@xyflow/react'
import { useCallback, useEffect, useMemo, useRef } from 'react'
import type { ProjectGraph } from '../../schemas/types.ts'
import { GraphCanvas } from '../graph/graph-canvas.tsx'
import { KnowsNeverContext } from '../graph/marks/instant.tsx'
import { graphApi, graphKeys } from '../graph-client.ts'
import type { Frame } from './frame.ts'

interface Props {
  frame: Frame
  selected: string | null
  onSelect: (id: string | null) => void
}

export function Stage({ frame, selected, onSelect }: Props) {
  const { graph: then } = frame
  const graph = usePlaced(then)
  const chosen = useMemo(() => (selected === null ? [] : [selected]), [selected])
  const select = useCallback((ids: readonly string[]) => onSelect(ids.at(-1) ?? null), [onSelect])
  return (
    <KnowsNeverContext value={false}>
      <div className="replay-graph" data-lit={frame.marks.lit.size > 0}>
        <GraphCanvas
          graph={graph}
          label={`${then.project.name} as it was then`}
          marks={frame.marks}
          selected={chosen}
          onSelect={select}
          tools={<FitVersion version={then.version} />}
          height="var(--replay-graph)"
        />
      </div>
    </KnowsNeverContext>
  )
}

/** People find parts where they put them: the places of today, for what was there then. */
function usePlaced(then: ProjectGraph): ProjectGraph {
  const id = then.project.id
  const { data } = useQuery({
    queryKey: [...graphKeys.graph(id), 'positions'],
    queryFn: ({ signal }) => graphApi.graph(id, signal),
    staleTime: 60_000,
    select: ({ positions }) => positions,
  })
  return useMemo(() => {
    const known = new Set(then.nodes.map((node) => node.id))
    return data?.length ? { ...then, positions: data.filter(({ node }) => known.has(node)) } : then
  }, [then, data])
}

/** Another configuration has other parts: all of it is brought into view again. It is drawn after a frame or two. */
function FitVersion({ version }: { version: number }) {
  const flow = useReactFlow()
  const shown = useRef(version)
  useEffect(() => {
    if (shown.current === version) return
    const timer = setTimeout(() => {
      shown.current = version
      void flow.fitView({ padding: 0.08, maxZoom: 1 })
    }, DRAWN_MS)
    return () => clearTimeout(timer)
  }, [version, flow])
  return null
}

const DRAWN_MS = 60

/** The graph of then, with what is marked on it. */
import { useReactFlow } from '@xyflow/react'
import { useCallback, useEffect, useMemo, useRef } from 'react'
import { GraphCanvas } from '../graph/graph-canvas.tsx'
import { FIT } from '../graph/hands/use-refit.ts'
import { KnowsNeverContext } from '../graph/marks/instant.tsx'
import type { Frame } from './frame.ts'

interface Props {
  frame: Frame
  selected: string | null
  onSelect: (id: string | null) => void
}

export function Stage({ frame, selected, onSelect }: Props) {
  const { graph } = frame
  const chosen = useMemo(() => (selected === null ? [] : [selected]), [selected])
  const select = useCallback((ids: readonly string[]) => onSelect(ids.at(-1) ?? null), [onSelect])
  return (
    <KnowsNeverContext value={false}>
      <div className="replay-graph" data-lit={frame.marks.lit.size > 0}>
        <GraphCanvas
          graph={graph}
          label={`${graph.project.name} as it was then`}
          marks={frame.marks}
          selected={chosen}
          onSelect={select}
          tools={<FitVersion version={graph.version} />}
          height="var(--replay-graph)"
        />
      </div>
    </KnowsNeverContext>
  )
}

/** Another configuration has other parts: all of it is brought into view again. It is drawn after a frame or two. */
function FitVersion({ version }: { version: number }) {
  const flow = useReactFlow()
  const shown = useRef(version)
  useEffect(() => {
    if (shown.current === version) return
    const timer = setTimeout(() => {
      shown.current = version
      void flow.fitView(FIT)
    }, DRAWN_MS)
    return () => clearTimeout(timer)
  }, [version, flow])
  return null
}

const DRAWN_MS = 60

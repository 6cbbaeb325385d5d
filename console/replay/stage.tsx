/** The graph of then, with what is marked on it. */
import { useCallback, useDeferredValue, useMemo } from 'react'
import { GraphCanvas } from '../graph/graph-canvas.tsx'
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
  // After what is around it, in slices: with it a project of 300 parts is 110 ms of work (2026-11-27).
  const isDrawn = useDeferredValue(true, false)
  return (
    <KnowsNeverContext value={false}>
      <div className="replay-graph" data-lit={frame.marks.lit.size > 0}>
        {isDrawn ? (
          <GraphCanvas
            graph={graph}
            label={`${graph.project.name} as it was then`}
            mode="replay"
            marks={frame.marks}
            selected={chosen}
            onSelect={select}
            height="var(--replay-graph)"
          />
        ) : (
          <div className="graph-canvas" style={{ height: 'var(--replay-graph)' }} />
        )}
      </div>
    </KnowsNeverContext>
  )
}

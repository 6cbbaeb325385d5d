/** An edge: its line, and its label where it has one. */
import { BaseEdge, EdgeLabelRenderer, type EdgeProps } from '@xyflow/react'
import { memo } from 'react'
import { edgeLine } from '../drawing/edge-path.ts'
import { isOfVerdict } from '../drawing/geometry.ts'
import type { FlowEdge } from '../flow.ts'
import { Badge } from '../marks/badge.tsx'
import { ChangeChip } from '../marks/chips.tsx'
import { edgeLabel } from '../words.ts'

export const EdgeLineShape = memo(function EdgeLineShape(props: EdgeProps<FlowEdge>) {
  const { drawn, note, change, under, via, beside } = props.data!
  const hasOwnPort = isOfVerdict(props.sourceHandleId ?? '')
  const line = edgeLine({
    from: { x: props.sourceX, y: props.sourceY },
    to: { x: props.targetX, y: props.targetY },
    lane: Math.max(props.sourceY + under.from, props.targetY + under.to) + 10,
    via,
    hasOwnPort,
    ...(beside && { beside }),
  })
  const label = edgeLabel(drawn, hasOwnPort)
  const isOff = drawn.edge?.enabled === false
  return (
    <>
      <BaseEdge
        path={line.d}
        className="graph-edge"
        data-kind={drawn.kind}
        data-off={isOff}
        data-change={change}
        data-tone={note?.tone}
        interactionWidth={18}
        markerEnd={props.markerEnd}
      />
      {(label || note || change) && (
        <EdgeLabelRenderer>
          <div
            className="graph-edge-label nodrag nopan"
            data-edge={drawn.id}
            data-selected={props.selected}
            data-off={isOff}
            style={{
              transform: `translate(-50%, -50%) translate(${line.label.x}px, ${line.label.y}px)`,
            }}
          >
            {change && <ChangeChip change={change} />}
            {label && <span>{label}</span>}
            {note && <Badge note={note} />}
          </div>
        </EdgeLabelRenderer>
      )}
    </>
  )
})

export const EDGE_TYPES = { line: EdgeLineShape }

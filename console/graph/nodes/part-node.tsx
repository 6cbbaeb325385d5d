/**
 * A part of a project: its name, one line of what matters where it is looked at (now, at an instant, or while one
 * edits), its health, its tools, a row for each verdict with a port, and marks on its rim.
 */
import type { NodeProps } from '@xyflow/react'
import { memo, useContext } from 'react'
import type { GraphNode } from '../../../schemas/types.ts'
import { CutName } from '../../parts/cut-name.tsx'
import { kindWord } from '../drawing/fold.ts'
import type { FlowNode } from '../flow.ts'
import { Badge } from '../marks/badge.tsx'
import { Chips } from '../marks/chips.tsx'
import { ModeContext } from '../marks/instant.tsx'
import { healthWords } from '../words.ts'
import { KIND_ICONS } from './icons.ts'
import { NodeLine } from './node-line.tsx'
import { Ports } from './ports.tsx'
import { ToolChips } from './tool-chips.tsx'

export const PartNode = memo(function PartNode({ data }: NodeProps<FlowNode>) {
  const { drawn, change, note } = data
  const node = drawn.node!
  const mode = useContext(ModeContext)
  const Icon = KIND_ICONS[node.kind]
  return (
    <div
      className="graph-node"
      data-kind={node.kind}
      data-state={node.state}
      data-change={change}
      data-tone={note?.tone}
    >
      <Chips facts={data} node={node} />
      <div className="graph-node-head">
        <span className="graph-node-icon" aria-hidden>
          <Icon size={16} strokeWidth={1.7} />
        </span>
        <span className="graph-node-name" title={`${kindWord(node.kind)} ${node.name}`}>
          <CutName>{node.name}</CutName>
        </span>
        {mode !== 'edit' && <ToolChips tools={drawn.tools} agent={node.id} isShort />}
        <Health node={node} />
      </div>
      <div className="graph-node-line">
        <NodeLine facts={data} node={node} mode={mode} />
        {mode === 'edit' && <ToolChips tools={drawn.tools} agent={node.id} isShort={false} />}
      </div>
      {node.running > 0 && <div className="graph-working" aria-hidden />}
      {drawn.verdicts.length > 0 && (
        <ul className="graph-verdicts" aria-label="Verdicts">
          {drawn.verdicts.map((verdict) => (
            <li key={verdict} title={`Verdict ${verdict}`}>
              {verdict}
            </li>
          ))}
        </ul>
      )}
      {note && <Badge note={note} />}
      <Ports facts={data} />
    </div>
  )
})

function Health({ node }: { node: GraphNode }) {
  const words = healthWords(node)
  return (
    <span className="graph-health" data-health={node.health} title={words}>
      <span className="graph-hidden">{words}</span>
    </span>
  )
}

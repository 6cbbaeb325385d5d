/** A collapsed group: it says how many it stands for, and what of them needs a look. */
import type { NodeProps } from '@xyflow/react'
import { ChevronsUpDown } from 'lucide-react'
import { memo } from 'react'
import type { FlowNode } from '../flow.ts'
import { Ports } from './ports.tsx'

export const GroupNode = memo(function GroupNode({ data }: NodeProps<FlowNode>) {
  const { members, name } = data.drawn
  const troubled = members.filter((node) => node.health === 'attention').length
  const running = members.reduce((sum, node) => sum + node.running, 0)
  return (
    <div
      className="graph-node graph-group"
      data-kind={members[0]!.kind}
      title="Collapsed; open it by Enter or a double click"
    >
      <div className="graph-node-head">
        <span className="graph-node-icon" aria-hidden>
          <ChevronsUpDown size={16} strokeWidth={1.7} />
        </span>
        <span className="graph-node-name">{name}</span>
      </div>
      <div className="graph-node-line">
        <span className="graph-node-words">
          {troubled ? `${troubled} need attention` : 'none needs attention'}
        </span>
        {running > 0 && <strong className="graph-node-aside">{running} running</strong>}
      </div>
      <Ports facts={data} />
    </div>
  )
})

/** A collapsed group: it says how many it stands for, and what of them needs a look. */
import { ChevronsUpDown } from 'lucide-react'
import { memo } from 'react'
import { type PartNode, Ports } from './frame.tsx'

export const GroupNode = memo(function GroupNode({ data }: PartNode) {
  const { members, name } = data.drawn
  const troubled = members.filter((node) => node.health === 'attention').length
  const running = members.reduce((sum, node) => sum + node.running, 0)
  return (
    <div className="graph-node graph-group" data-kind={members[0]!.kind}>
      <div className="graph-node-head">
        <span className="graph-node-icon" aria-hidden>
          <ChevronsUpDown size={15} />
        </span>
        <span className="graph-node-name">{name}</span>
      </div>
      <div className="graph-node-detail">Collapsed; open it by Enter or a double click</div>
      <div className="graph-node-live">
        <span>{troubled ? `${troubled} need attention` : 'none needs attention'}</span>
        {running > 0 && <strong>{running} running</strong>}
      </div>
      <Ports facts={data} />
    </div>
  )
})

/** What every node has: its kind, name and detail, health, chips on its rim, marks, and handles. */
import { Handle, type NodeProps, Position } from '@xyflow/react'
import type { LucideIcon } from 'lucide-react'
import type { CSSProperties, ReactNode } from 'react'
import type { GraphNode } from '../../../schemas/types.ts'
import { kindWord } from '../drawing/fold.ts'
import { portsOf } from '../drawing/geometry.ts'
import type { FlowNode, NodeFacts } from '../flow.ts'
import { Chips } from '../marks/chips.tsx'
import { NoteMark } from '../marks/note-mark.tsx'
import { HEALTH_WORDS } from '../words.ts'

export type PartNode = NodeProps<FlowNode>

export function Frame({
  facts,
  node,
  icon: Icon,
  children,
}: {
  facts: NodeFacts
  node: GraphNode
  icon: LucideIcon
  /** Its live line, and what only its kind has. */
  children?: ReactNode
}) {
  return (
    <div className="graph-node" data-kind={node.kind} data-state={node.state} data-change={facts.change}>
      <Chips facts={facts} node={node} />
      <div className="graph-node-head">
        <span className="graph-node-icon" aria-hidden>
          <Icon size={15} />
        </span>
        <span className="graph-node-name" title={`${kindWord(node.kind)} ${node.name}`}>
          {node.name}
        </span>
        <span
          className="graph-health"
          data-health={node.health}
          title={node.reason ?? HEALTH_WORDS[node.health]}
        >
          <span className="graph-hidden">{node.reason ?? HEALTH_WORDS[node.health]}</span>
        </span>
      </div>
      <div className="graph-node-detail" title={node.detail}>
        {node.detail}
      </div>
      {children}
      {facts.note && <NoteMark note={facts.note} />}
      <Ports facts={facts} />
    </div>
  )
}

const SIDES = { left: Position.Left, right: Position.Right, bottom: Position.Bottom }

/**
 * Handles, where edges start and end. Where none can be drawn, points that React Flow measures the same
 * way and that listen to nothing: three hundred nodes have a thousand of them.
 */
export function Ports({ facts }: { facts: NodeFacts }) {
  return portsOf(facts.drawn).map((port) => {
    const style = (port.side === 'bottom' ? { left: port.x } : { '--port-y': `${port.y}px` }) as CSSProperties
    return facts.connectable ? (
      <Handle key={port.id} id={port.id} type={port.type} position={SIDES[port.side]} style={style} />
    ) : (
      <span
        key={port.id}
        className={`react-flow__handle react-flow__handle-${port.side} ${port.type}`}
        data-handleid={port.id}
        data-handlepos={port.side}
        style={style}
      />
    )
  })
}

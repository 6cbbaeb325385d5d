/** Handles of a node, where edges start and end. */
import { Handle, Position } from '@xyflow/react'
import type { CSSProperties } from 'react'
import { portsOf } from '../drawing/geometry.ts'
import type { NodeFacts } from '../flow.ts'

const SIDES = { left: Position.Left, right: Position.Right }

/**
 * Where none can be drawn, points that React Flow measures the same way and that listen to nothing: three hundred
 * nodes have a thousand of them.
 */
export function Ports({ facts }: { facts: NodeFacts }) {
  return portsOf(facts.drawn).map((port) => {
    const style = { '--port-y': `${port.y}px` } as CSSProperties
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

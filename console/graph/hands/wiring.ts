/** What a line between two nodes, or one node let go on another, stands for. */
import type { Connection } from '../types.ts'

const VERDICT = 'verdict:'

/** A connection as React Flow tells it. */
export function connectionOf(made: {
  source: string
  target: string
  sourceHandle?: string | null
}): Connection {
  const handle = made.sourceHandle ?? ''
  return {
    from: made.source,
    to: made.target,
    verdict: handle.startsWith(VERDICT) ? handle.slice(VERDICT.length) : null,
  }
}

interface Held {
  fromNode: { id: string } | null
  toNode: { id: string } | null
  fromHandle: { id?: string | null; type: string } | null
  toHandle: { id?: string | null } | null
}

/** A line that is held over a node, whichever end it was drawn from; null: it is over none. */
export function heldConnection({ fromNode, toNode, fromHandle, toHandle }: Held): Connection | null {
  if (!fromNode || !toNode || !fromHandle) return null
  const isBackwards = fromHandle.type === 'target'
  const [source, target] = isBackwards ? [toNode.id, fromNode.id] : [fromNode.id, toNode.id]
  return connectionOf({ source, target, sourceHandle: (isBackwards ? toHandle : fromHandle)?.id ?? null })
}

/** From left to right, as wires run. */
const ORDER = ['source', 'trigger', 'agent', 'mcp_server', 'destination']
const columnOf = (id: string): number => ORDER.indexOf(id.slice(0, id.indexOf(':')))

/** How two parts would be wired: as kinds follow each other. */
export function wiringOf(a: string, b: string): Connection {
  const [from, to] = columnOf(a) <= columnOf(b) ? [a, b] : [b, a]
  return { from, to, verdict: null }
}

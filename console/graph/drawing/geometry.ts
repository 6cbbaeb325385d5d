/**
 * Sizes of what is drawn, in pixels at full size, and where edges start and end. Fixed by kind and
 * verdicts, never by what a node shows at the moment: so nothing is measured, and a drawing that runs
 * does not move.
 */
import type { GraphNode } from '../../../schemas/types.ts'

export const WIDTH = 236
/** Of handles; an edge starts at the outer rim. */
export const HANDLE = 10
/** How far an attachment stands in under its agent. */
export const INDENT = 28
export const VERDICT_TOP = 84
export const VERDICT_ROW = 22
/** Where the general handles are, from the top of a node. */
export const PORT_Y = 24

export interface Box {
  x: number
  y: number
  width: number
  height: number
}

export interface Port {
  id: string
  type: 'source' | 'target'
  side: 'left' | 'right' | 'bottom'
  /** Centre, from the node's corner. */
  x: number
  y: number
}

type Sized = { kind: GraphNode['kind'] | 'group'; verdicts: readonly string[]; attached: boolean }

const HEIGHTS: Record<Sized['kind'], number> = {
  source: 82,
  trigger: 82,
  agent: 82,
  mcp_server: 58,
  skill: 58,
  destination: 82,
  group: 82,
}

export function sizeOf(node: Sized): { width: number; height: number } {
  const verdicts = node.kind === 'agent' ? node.verdicts.length : 0
  return {
    width: node.attached ? WIDTH - INDENT : WIDTH,
    height: HEIGHTS[node.kind] + (verdicts ? verdicts * VERDICT_ROW + 8 : 0),
  }
}

export const verdictPort = (verdict: string): string => `verdict:${verdict}`

/** Handles of a node: in on the left, out on the right, one out per verdict, and below for MCP servers. */
export function portsOf(node: Sized): Port[] {
  const { width, height } = sizeOf(node)
  const into: Port = { id: 'in', type: 'target', side: 'left', x: 0, y: PORT_Y }
  const out: Port = { id: 'out', type: 'source', side: 'right', x: width, y: PORT_Y }
  if (node.kind === 'agent')
    return [
      into,
      out,
      ...node.verdicts.map(
        (verdict, i): Port => ({
          id: verdictPort(verdict),
          type: 'source',
          side: 'right',
          x: width,
          y: VERDICT_TOP + i * VERDICT_ROW + VERDICT_ROW / 2,
        }),
      ),
      { id: 'uses', type: 'source', side: 'bottom', x: 14, y: height },
    ]
  if (node.kind === 'source') return [out]
  if (node.kind === 'trigger' || node.kind === 'group') return [into, out]
  return node.kind === 'skill' ? [] : [into]
}

/**
 * Sizes of what is drawn, in pixels at full size, and where edges start and end. A node is 208 × 60 whatever it shows,
 * and grows by a row for each verdict that has a port: so nothing is measured, and a drawing that runs does not move.
 */
import type { GraphNode } from '../../../schemas/types.ts'

export const WIDTH = 208
export const HEIGHT = 60
/** Between two columns: room for the label of a handoff. */
export const COLUMN_GAP = 88
export const ROW_GAP = 16
/** Between two connected parts, one below the other. */
export const PART_GAP = 32
/** What is put by hand stands on a grid of so many pixels. */
export const GRID = 8
/** Of handles; an edge starts at the outer rim. */
export const HANDLE = 10
export const VERDICT_ROW = 22
/** Where the general handles are, from the top of a node. */
export const PORT_Y = HEIGHT / 2

export interface Box {
  x: number
  y: number
  width: number
  height: number
}

/** A stretch on which a line runs level. */
export interface Corridor {
  left: number
  right: number
  y: number
}

export interface Port {
  id: string
  type: 'source' | 'target'
  side: 'left' | 'right'
  /** Centre, from the node's corner. */
  x: number
  y: number
}

type Sized = { kind: GraphNode['kind'] | 'group'; verdicts: readonly string[] }

export const sizeOf = ({ verdicts }: Pick<Sized, 'verdicts'>): { width: number; height: number } => ({
  width: WIDTH,
  height: HEIGHT + verdicts.length * VERDICT_ROW,
})

export const verdictPort = (verdict: string): string => `verdict:${verdict}`
export const isOfVerdict = (port: string): boolean => port.startsWith(verdictPort(''))

/** Handles of a node: in on the left, out on the right, and one out per verdict that it shows. */
export function portsOf(node: Sized): Port[] {
  const into: Port = { id: 'in', type: 'target', side: 'left', x: 0, y: PORT_Y }
  const out: Port = { id: 'out', type: 'source', side: 'right', x: WIDTH, y: PORT_Y }
  if (node.kind === 'source') return [out]
  if (node.kind === 'destination') return [into]
  if (node.kind !== 'agent') return [into, out]
  const verdicts = node.verdicts.map(
    (verdict, i): Port => ({
      id: verdictPort(verdict),
      type: 'source',
      side: 'right',
      x: WIDTH,
      y: HEIGHT + i * VERDICT_ROW + VERDICT_ROW / 2,
    }),
  )
  return [into, out, ...verdicts]
}

/** The port at which an edge leaves a node: that of its verdict; `out` if the edge has no verdict, or the node does not show it. */
export function leavingPort(node: Sized, verdict: string | null): Port {
  const ports = portsOf(node)
  const own = verdict === null ? undefined : ports.find(({ id }) => id === verdictPort(verdict))
  return own ?? ports.find(({ id }) => id === 'out')!
}

/**
 * What React Flow is given: a node or an edge keeps its object while nothing it shows has changed, so
 * that a poll of a large project renders only what moved on.
 */
import type { Edge, Node } from '@xyflow/react'
import type { Beside, EdgeEnds } from './drawing/edge-path.ts'
import type { Drawn, DrawnEdge, DrawnNode } from './drawing/fold.ts'
import {
  type Box,
  type Corridor,
  HANDLE,
  isOfVerdict,
  leavingPort,
  PORT_Y,
  type Port,
  portsOf,
} from './drawing/geometry.ts'
import { besideOthers, corridorsOf } from './drawing/routes.ts'
import type { Layout } from './layout.ts'
import type { GraphMarks, Note, Pace } from './types.ts'
import { describeDrawn, describeEdge, edgeLabel, nodeTitle } from './words.ts'

export type Change = 'created' | 'changed' | 'deleted'

export interface NodeFacts extends Record<string, unknown> {
  drawn: DrawnNode
  note: Note | null
  change: Change | null
  pace: Pace | null
  connectable: boolean
}
export interface EdgeFacts extends Record<string, unknown> {
  drawn: DrawnEdge
  note: Note | null
  change: Change | null
  /** From its ends down to where a line that runs back is free of the nodes. */
  under: { from: number; to: number }
  /** Where it passes between nodes. */
  via: readonly Corridor[]
  /** Among others between the same two nodes; absent: it is the only one. */
  beside: Beside | undefined
}
export type FlowNode = Node<NodeFacts>
export type FlowEdge = Edge<EdgeFacts>

export interface Look {
  marks: GraphMarks
  /** Ids of nodes and edges that are drawn in full; null: all are. */
  lit: ReadonlySet<string> | null
  selected: ReadonlySet<string>
  /** The one node that Tab reaches. */
  tabStop: string | null
  /** Where nodes are while they are dragged. */
  moved: ReadonlyMap<string, { x: number; y: number }>
  editable: boolean
  /** Epoch ms. */
  now: number
}

/** What was given for an id the last time, and of what it was made. */
export type Kept<T> = Map<string, { of: readonly unknown[]; made: T }>

function keep<T>(kept: Kept<T>, id: string, of: readonly unknown[], make: () => T): T {
  const before = kept.get(id)
  if (before && before.of.length === of.length && before.of.every((value, i) => Object.is(value, of[i])))
    return before.made
  const made = make()
  kept.set(id, { of, made })
  return made
}

const SIDES = { left: 'left', right: 'right' } as const
const handleOf = (port: Port) => ({
  id: port.id,
  type: port.type,
  position: SIDES[port.side] as never,
  x: port.x - HANDLE / 2,
  y: port.y - HANDLE / 2,
  width: HANDLE,
  height: HANDLE,
})

export function flowNodes(drawn: Drawn, layout: Layout, look: Look, kept: Kept<FlowNode>): FlowNode[] {
  return drawn.nodes.flatMap((node) => {
    const box = layout.boxes.get(node.id)
    if (!box) return []
    const at = look.moved.get(node.id) ?? box
    const facts = [
      node.node ?? node.name,
      node.hidden,
      node.tools.map(({ id }) => id).join(),
      box.width,
      box.height,
      at.x,
      at.y,
      look.marks.notes.get(node.id),
      look.marks.changes.get(node.id),
      look.marks.paces?.get(node.id),
      isNodeLit(node, look),
      look.selected.has(node.id),
      look.tabStop === node.id,
      look.editable,
    ]
    return keep(kept, node.id, facts, () => flowNode(node, { ...box, x: at.x, y: at.y }, look))
  })
}

function flowNode(node: DrawnNode, box: Box, look: Look): FlowNode {
  const selected = look.selected.has(node.id)
  const { width, height } = box
  return {
    id: node.id,
    type: node.kind,
    position: { x: box.x, y: box.y },
    width,
    height,
    measured: { width, height },
    handles: portsOf(node).map(handleOf),
    selected,
    selectable: node.kind !== 'group',
    draggable: node.kind !== 'group',
    // What is neither selected nor dragged would let a double click through to the ground.
    ...(node.kind === 'group' ? { style: { pointerEvents: 'all' as const } } : {}),
    className: isNodeLit(node, look) ? '' : 'faded',
    ariaRole: 'group',
    ariaLabel: describeDrawn(node, look.marks, look.now),
    domAttributes: {
      tabIndex: look.tabStop === node.id ? 0 : -1,
      'aria-current': selected ? 'true' : undefined,
    },
    data: {
      drawn: node,
      note: look.marks.notes.get(node.id) ?? null,
      change: look.marks.changes.get(node.id) ?? null,
      pace: look.marks.paces?.get(node.id) ?? null,
      connectable: look.editable && node.kind !== 'group',
    },
  }
}

export function flowEdges(drawn: Drawn, layout: Layout, look: Look, kept: Kept<FlowEdge>): FlowEdge[] {
  const nodes = new Map(drawn.nodes.map((node) => [node.id, node]))
  const routes = routesOf(drawn, layout.boxes)
  const besides = besidesOf(drawn.edges, nodes, look.marks)
  return drawn.edges.flatMap((edge) => {
    const [from, to] = [nodes.get(edge.from), nodes.get(edge.to)]
    const [start, end] = [layout.boxes.get(edge.from), layout.boxes.get(edge.to)]
    if (!from || !to || !start || !end) return []
    const leaves = leavingPort(from, edge.verdict)
    const under = { from: start.height - leaves.y, to: end.height - PORT_Y }
    // What is dragged takes its lines along; they find their way again where it is put down.
    const isMoved = look.moved.has(edge.from) || look.moved.has(edge.to)
    const via = isMoved ? DIRECT : (routes.get(edge.id) ?? DIRECT)
    const beside = besides.get(edge.id)
    const facts = [
      edge.edge ?? edge.members.join(),
      leaves.id,
      beside && Object.values(beside).join(),
      via,
      under.from,
      under.to,
      look.marks.notes.get(edge.id),
      look.marks.changes.get(edge.id),
      isLit(edge, look),
      look.selected.has(edge.id),
    ]
    return keep(kept, edge.id, facts, () => flowEdge(edge, from, to, { under, via, beside }, look))
  })
}

/** A group is lit when anything in it is. */
const isNodeLit = (node: DrawnNode, look: Look): boolean =>
  !look.lit || look.lit.has(node.id) || node.members.some(({ id }) => look.lit!.has(id))

function isLit(edge: DrawnEdge, look: Look): boolean {
  if (!look.lit) return true
  return edge.members.some((id) => look.lit!.has(id)) || look.lit.has(edge.id)
}

function flowEdge(
  edge: DrawnEdge,
  from: DrawnNode,
  to: DrawnNode,
  line: Pick<EdgeFacts, 'under' | 'via' | 'beside'>,
  look: Look,
): FlowEdge {
  const handle = leavingPort(from, edge.verdict).id
  return {
    id: edge.id,
    type: 'line',
    source: edge.from,
    target: edge.to,
    sourceHandle: handle,
    targetHandle: 'in',
    selected: look.selected.has(edge.id),
    selectable: edge.edge !== null,
    className: isLit(edge, look) ? '' : 'faded',
    markerEnd: { type: 'arrowclosed' as never, width: 15, height: 15 },
    ariaLabel: edge.edge
      ? describeEdge(edge.edge, (id) => titleOf(id === from.id ? from : to))
      : `${edge.members.length} edges from ${titleOf(from)} to ${titleOf(to)}`,
    data: {
      drawn: edge,
      note: look.marks.notes.get(edge.id) ?? null,
      change: look.marks.changes.get(edge.id) ?? null,
      ...line,
    },
  }
}

const DIRECT: readonly Corridor[] = []

type Routes = ReadonlyMap<string, readonly Corridor[]>
const routed = new WeakMap<ReadonlyMap<string, Box>, { edges: readonly DrawnEdge[]; routes: Routes }>()

/** Of each line that passes nodes the way it takes; found once for each layout. */
export function routesOf(drawn: Pick<Drawn, 'nodes' | 'edges'>, boxes: ReadonlyMap<string, Box>): Routes {
  const known = routed.get(boxes)
  if (known?.edges === drawn.edges) return known.routes
  const nodes = new Map(drawn.nodes.map((node) => [node.id, node]))
  const all = [...boxes.values()]
  const routes = new Map<string, readonly Corridor[]>()
  const taken = new Map<number, number[]>()
  for (const edge of drawn.edges) {
    const ends = endsOf(edge, nodes, boxes)
    const via = ends ? corridorsOf(ends, all) : []
    if (via.length > 0) routes.set(edge.id, besideOthers(via, taken))
  }
  routed.set(boxes, { edges: drawn.edges, routes })
  return routes
}

/** Letters that fit into a row of a label. */
const ROW_LETTERS = 12

/** Of lines that are between the same two nodes, which of them each is, from the top; of one alone, where it says more than a row. */
export function besidesOf(
  edges: readonly DrawnEdge[],
  nodes: ReadonlyMap<string, DrawnNode>,
  { notes, changes }: GraphMarks,
): Map<string, Beside> {
  const together = new Map<string, { edge: DrawnEdge; port: Port }[]>()
  for (const edge of edges) {
    const from = edge.kind === 'hands_off' ? nodes.get(edge.from) : undefined
    if (!from) continue
    const ends = `${edge.from} ${edge.to}`
    together.set(ends, [...(together.get(ends) ?? []), { edge, port: leavingPort(from, edge.verdict) }])
  }
  const besides = new Map<string, Beside>()
  for (const group of together.values()) {
    const rowsOf = ({ edge, port }: (typeof group)[number]): number =>
      Math.ceil(edgeLabel(edge, isOfVerdict(port.id)).length / ROW_LETTERS) +
      (notes.has(edge.id) ? 1 : 0) +
      (changes.has(edge.id) ? 1 : 0)
    const rows = Math.max(1, ...group.map(rowsOf))
    if (group.length === 1 && rows === 1) continue
    const sorted = [...group].sort((a, b) => a.port.y - b.port.y)
    sorted.forEach(({ edge }, rank) => {
      besides.set(edge.id, { rank, of: sorted.length, rows })
    })
  }
  return besides
}

/** Where an edge leaves and arrives; null: an end of it is not drawn. */
export function endsOf(
  edge: DrawnEdge,
  nodes: ReadonlyMap<string, DrawnNode>,
  boxes: ReadonlyMap<string, Box>,
): EdgeEnds | null {
  const [from, start, end] = [nodes.get(edge.from), boxes.get(edge.from), boxes.get(edge.to)]
  if (!from || !start || !end) return null
  const port = leavingPort(from, edge.verdict)
  const rim = HANDLE / 2
  return {
    from: { x: start.x + port.x + (port.side === 'right' ? rim : 0), y: start.y + port.y },
    to: { x: end.x - rim, y: end.y + PORT_Y },
    lane: Math.max(start.y + start.height, end.y + end.height) + 10,
    hasOwnPort: isOfVerdict(port.id),
  }
}

const titleOf = (node: DrawnNode): string => (node.node ? nodeTitle(node.node) : node.name)

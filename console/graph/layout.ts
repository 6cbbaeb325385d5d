/**
 * Where nodes stand: a pure function, so that the same graph always gives the same picture. Each connected part of the
 * graph is laid out from left to right, a column for each kind; the parts stand below each other, what fired last
 * first. A node more therefore moves its own part and what is below. Positions that people stored win.
 */
import type { GraphPosition } from '../../schemas/types.ts'
import { clearOf } from './drawing/clear.ts'
import { connectedParts, type Part, type Recent } from './drawing/connected.ts'
import type { Drawn, DrawnNode } from './drawing/fold.ts'
import {
  type Box,
  COLUMN_GAP,
  leavingPort,
  PART_GAP,
  PORT_Y,
  ROW_GAP,
  sizeOf,
  WIDTH,
} from './drawing/geometry.ts'
import { placeInLayers } from './drawing/layers.ts'

export interface Layout {
  boxes: ReadonlyMap<string, Box>
}

/** What the layout reads of a graph; equal keys have equal layouts. */
export function layoutKey(drawn: Drawn, positions: readonly GraphPosition[], recent: Recent = {}): string {
  return JSON.stringify([
    drawn.nodes.map((node) => [node.id, node.kind, node.verdicts.length]),
    drawn.edges.map((edge) => [edge.from, edge.to, edge.kind]),
    positions.map(({ node, x, y }) => [node, x, y]),
    recent,
  ])
}

/** @param recent when triggers last fired: those parts come first */
export function layoutGraph(
  drawn: Pick<Drawn, 'nodes' | 'edges'>,
  positions: readonly GraphPosition[],
  recent: Recent = {},
): Layout {
  const boxes = new Map<string, Box>()
  let top = 0
  for (const part of connectedParts(drawn, recent)) {
    const laid = layPart(part)
    for (const [id, box] of laid.boxes) boxes.set(id, { ...box, y: box.y + top })
    top += laid.height + PART_GAP
  }
  fromLeft(boxes)
  applyStored(drawn, boxes, positions)
  return { boxes }
}

/** Around all that is drawn; nothing: of no size. */
export function extentOf(boxes: ReadonlyMap<string, Box>): Box {
  let [left, top, right, bottom] = [Infinity, Infinity, -Infinity, -Infinity]
  for (const box of boxes.values()) {
    left = Math.min(left, box.x)
    top = Math.min(top, box.y)
    right = Math.max(right, box.x + box.width)
    bottom = Math.max(bottom, box.y + box.height)
  }
  return left === Infinity
    ? { x: 0, y: 0, width: 0, height: 0 }
    : { x: left, y: top, width: right - left, height: bottom - top }
}

interface Laid {
  boxes: Map<string, Box>
  height: number
}

/** Column in which a part that starts with this kind starts. */
const COLUMNS: Record<DrawnNode['kind'], number> = {
  source: 0,
  trigger: 1,
  agent: 2,
  mcp_server: 3,
  destination: 3,
  skill: 0,
  group: 0,
}

function layPart(part: Part): Laid {
  if (part.loose) return layLoose(part)
  const nodes = new Map(part.nodes.map((node) => [node.id, node]))
  const placed = placeInLayers(
    part.nodes.map((node) => ({ id: node.id, column: firstColumn(node), height: sizeOf(node).height })),
    part.edges.map((edge) => ({
      ...{ from: edge.from, to: edge.to },
      leaves: leavingPort(nodes.get(edge.from)!, edge.verdict).y,
      arrives: PORT_Y,
    })),
    ROW_GAP,
  )
  const boxes = new Map(
    part.nodes.map((node) => {
      const { column, y } = placed.get(node.id)!
      return [node.id, { ...sizeOf(node), x: column * (WIDTH + COLUMN_GAP), y }]
    }),
  )
  return { boxes, height: extentOf(boxes).height }
}

/** What is told stands right of whoever tells it. */
function firstColumn(node: DrawnNode): number {
  const column = startColumn(node)
  return column === COLUMNS.destination ? 0 : column
}

function startColumn(node: DrawnNode): number {
  return COLUMNS[node.kind === 'group' ? node.members[0]!.kind : node.kind]
}

/** Nodes nothing leads to or from, each in the column of its kind. */
function layLoose(part: Part): Laid {
  const next = new Map<number, number>()
  const boxes = new Map<string, Box>()
  for (const node of part.nodes) {
    const column = startColumn(node)
    const y = next.get(column) ?? 0
    boxes.set(node.id, { ...sizeOf(node), x: column * (WIDTH + COLUMN_GAP), y })
    next.set(column, y + sizeOf(node).height + ROW_GAP)
  }
  return { boxes, height: extentOf(boxes).height }
}

/** A drawing without sources begins with its triggers: an empty column would take the room of a full one. */
function fromLeft(boxes: Map<string, Box>): void {
  const { x: left } = extentOf(boxes)
  if (left !== 0) for (const [id, box] of boxes) boxes.set(id, { ...box, x: box.x - left })
}

/** What was laid out gives way to what was put. */
function applyStored(
  drawn: Pick<Drawn, 'nodes'>,
  boxes: Map<string, Box>,
  positions: readonly GraphPosition[],
): void {
  const stored = positions.filter(({ node }) => boxes.has(node))
  if (!stored.length) return
  for (const { node, x, y } of stored) boxes.set(node, { ...boxes.get(node)!, x, y })
  clearOf(
    drawn.nodes.map((node) => node.id),
    new Set(stored.map(({ node }) => node)),
    boxes,
    ROW_GAP,
  )
}

/**
 * Where nodes stand: a pure function, so that the same graph always gives the same picture. dagre lays
 * out each connected part of the graph from left to right; the parts stand below each other in the order
 * of their names, and in several columns where they would be a tower. A node more therefore moves its own
 * part and what is below. Positions that people stored win.
 */
import { Graph, layout as runDagre } from '@dagrejs/dagre'
import type { GraphPosition } from '../../schemas/types.ts'
import { clearOf } from './drawing/clear.ts'
import { assignColumns } from './drawing/columns.ts'
import { connectedParts, type Part } from './drawing/connected.ts'
import type { Drawn, DrawnNode } from './drawing/fold.ts'
import { type Box, INDENT, sizeOf, WIDTH } from './drawing/geometry.ts'

/** Between two columns: room for the label of a handoff. */
const COLUMN_GAP = 124
const ROW_GAP = 38
const PART_GAP = 46
const ATTACHMENT_GAP = 14
/** Height from which parts are set in columns; a multiple of it, so that one node more rarely turns over. */
const SHELF = 2_400
const SHELF_GAP = 190

export interface Layout {
  boxes: ReadonlyMap<string, Box>
  /** Around the skills; null: there are none, or they are collapsed. */
  skills: Box | null
}

/** What the layout reads of a graph; equal keys have equal layouts. */
export function layoutKey(drawn: Drawn, positions: readonly GraphPosition[]): string {
  return JSON.stringify([
    drawn.nodes.map((node) => [node.id, node.kind, node.verdicts.length, node.attached]),
    drawn.edges.map((edge) => [edge.from, edge.to, edge.kind]),
    positions.map(({ node, x, y }) => [node, x, y]),
  ])
}

export function layoutGraph(drawn: Drawn, positions: readonly GraphPosition[]): Layout {
  const boxes = new Map<string, Box>()
  const hangers = hanging(drawn)
  const bottom = placeParts(drawn, hangers, boxes)
  const skills = placeSkills(drawn, boxes, bottom)
  placeHanging(hangers, boxes)
  applyStored(drawn, hangers, boxes, positions)
  return { boxes, skills: skills && around(skills, boxes) }
}

/** Attachments by the agent under which they hang. */
function hanging(drawn: Drawn): Map<string, DrawnNode[]> {
  const attached = new Map(drawn.nodes.filter((node) => node.attached).map((node) => [node.id, node]))
  const found = new Map<string, DrawnNode[]>()
  for (const edge of drawn.edges) {
    const node = edge.kind === 'uses' ? attached.get(edge.to) : undefined
    if (node) found.set(edge.from, [...(found.get(edge.from) ?? []), node])
  }
  return found
}

const heightWith = (node: DrawnNode, hangers: Map<string, DrawnNode[]>): number =>
  (hangers.get(node.id) ?? []).reduce(
    (sum, attached) => sum + sizeOf(attached).height + ATTACHMENT_GAP,
    sizeOf(node).height,
  )

/** @returns the bottom of the drawing */
function placeParts(drawn: Drawn, hangers: Map<string, DrawnNode[]>, boxes: Map<string, Box>): number {
  const laid = connectedParts(drawn).map((part) => layPart(part, hangers))
  const total = laid.reduce((sum, part) => sum + part.height + PART_GAP, 0)
  const wide = Math.max(WIDTH, ...laid.map((part) => part.width))
  // About as many columns as give a picture twice as wide as high.
  const columns = Math.max(1, Math.floor(Math.sqrt((2 * total) / (wide + SHELF_GAP))))
  const limit = Math.max(SHELF, Math.ceil(total / columns / (SHELF / 2)) * (SHELF / 2))
  let [x, y, widest, bottom] = [0, 0, 0, 0]
  for (const part of laid) {
    if (y > 0 && y + part.height > limit) {
      x += widest + SHELF_GAP
      y = 0
      widest = 0
    }
    for (const [id, box] of part.boxes) boxes.set(id, { ...box, x: box.x + x, y: box.y + y })
    widest = Math.max(widest, part.width)
    y += part.height + PART_GAP
    bottom = Math.max(bottom, y)
  }
  return bottom
}

interface Laid {
  boxes: Map<string, Box>
  width: number
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

function layPart(part: Part, hangers: Map<string, DrawnNode[]>): Laid {
  if (part.loose) return layLoose(part)
  const graph = new Graph({ multigraph: true })
  const columns = new Map(part.nodes.map((node) => [node.id, firstColumn(node)]))
  // dagre takes a function here; its types name only its own.
  const ranker = ((ranked: Graph) => assignColumns(ranked, (id) => columns.get(id))) as never
  graph.setGraph({ rankdir: 'LR', nodesep: ROW_GAP, edgesep: 12, ranksep: COLUMN_GAP, ranker })
  graph.setDefaultEdgeLabel(() => ({}))
  for (const node of part.nodes) graph.setNode(node.id, { width: WIDTH, height: heightWith(node, hangers) })
  for (const edge of part.edges) graph.setEdge(edge.from, edge.to, {}, edge.id)
  runDagre(graph)
  const first = Math.min(...part.nodes.map((node) => startColumn(node)))
  const [left, top] = ['x', 'y'].map((axis) =>
    Math.min(...part.nodes.map((node) => corner(graph, node.id, axis))),
  )
  const boxes = new Map(
    part.nodes.map((node) => [
      node.id,
      {
        ...sizeOf(node),
        x: Math.round(corner(graph, node.id, 'x') - left! + first * (WIDTH + COLUMN_GAP)),
        y: Math.round(corner(graph, node.id, 'y') - top!),
      },
    ]),
  )
  return { boxes, ...extent(part.nodes, boxes, hangers) }
}

/** What is used or told stands right of whoever uses or tells it. */
function firstColumn(node: DrawnNode): number {
  const column = startColumn(node)
  return column === COLUMNS.destination ? 0 : column
}

function startColumn(node: DrawnNode): number {
  return COLUMNS[node.kind === 'group' ? node.members[0]!.kind : node.kind]
}

function corner(graph: Graph, id: string, axis: string): number {
  const label = graph.node(id) as { x: number; y: number; width: number; height: number }
  return axis === 'x' ? label.x - label.width / 2 : label.y - label.height / 2
}

function extent(nodes: readonly DrawnNode[], boxes: Map<string, Box>, hangers: Map<string, DrawnNode[]>) {
  return {
    width: Math.max(...nodes.map((node) => boxes.get(node.id)!.x + WIDTH)),
    height: Math.max(...nodes.map((node) => boxes.get(node.id)!.y + heightWith(node, hangers))),
  }
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
  return { boxes, ...extent(part.nodes, boxes, new Map()) }
}

const SKILL_GAP = 14
const SKILLS_IN_A_ROW = 4

/** In rows under the drawing: no edge leads to them, since every agent of the project sees them. */
function placeSkills(drawn: Drawn, boxes: Map<string, Box>, bottom: number): DrawnNode[] | null {
  const skills = drawn.nodes.filter((node) => node.kind === 'skill')
  const top = bottom + 56
  skills.forEach((node, i) => {
    const size = sizeOf(node)
    boxes.set(node.id, {
      ...size,
      x: (i % SKILLS_IN_A_ROW) * (WIDTH + SKILL_GAP) + 16,
      y: top + Math.floor(i / SKILLS_IN_A_ROW) * (size.height + SKILL_GAP),
    })
  })
  return skills.length ? skills : null
}

function around(skills: readonly DrawnNode[], boxes: ReadonlyMap<string, Box>): Box {
  const all = skills.map((node) => boxes.get(node.id)!)
  const x = Math.min(...all.map((box) => box.x)) - 16
  const y = Math.min(...all.map((box) => box.y)) - 40
  return {
    x,
    y,
    width: Math.max(...all.map((box) => box.x + box.width)) + 16 - x,
    height: Math.max(...all.map((box) => box.y + box.height)) + 16 - y,
  }
}

function placeHanging(hangers: Map<string, DrawnNode[]>, boxes: Map<string, Box>): void {
  for (const [agent, attached] of hangers) {
    const above = boxes.get(agent)!
    let y = above.y + above.height + ATTACHMENT_GAP
    for (const node of attached) {
      const size = sizeOf(node)
      boxes.set(node.id, { ...size, x: above.x + INDENT, y })
      y += size.height + ATTACHMENT_GAP
    }
  }
}

/** What hangs under an agent goes where the agent went; what was laid out gives way to what was put. */
function applyStored(
  drawn: Drawn,
  hangers: Map<string, DrawnNode[]>,
  boxes: Map<string, Box>,
  positions: readonly GraphPosition[],
): void {
  const stored = new Map(positions.filter(({ node }) => boxes.has(node)).map((at) => [at.node, at]))
  if (!stored.size) return
  const fixed = new Set(stored.keys())
  for (const [id, at] of stored) {
    const before = boxes.get(id)!
    boxes.set(id, { ...before, x: at.x, y: at.y })
    for (const { id: under } of hangers.get(id) ?? []) {
      if (stored.has(under)) continue
      const box = boxes.get(under)!
      boxes.set(under, { ...box, x: box.x + at.x - before.x, y: box.y + at.y - before.y })
      fixed.add(under)
    }
  }
  clearOf(
    drawn.nodes.map((node) => node.id),
    fixed,
    boxes,
    ROW_GAP / 2,
  )
}

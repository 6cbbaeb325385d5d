/** What a picture has: the drawing, and under it in rows what the page shows beside it. */
import type { GraphNode } from '../../../schemas/types.ts'
import type { Drawn, DrawnNode } from '../drawing/fold.ts'
import { type Box, HEIGHT, ROW_GAP, WIDTH } from '../drawing/geometry.ts'
import { extentOf, type Layout } from '../layout.ts'
import type { Picture } from './svg.ts'

const IN_A_ROW = 4
const CAPTION = 28

interface Shown {
  drawn: Drawn
  layout: Layout
  /** Parts that are not connected. */
  loose: readonly GraphNode[]
  skills: readonly GraphNode[]
}

export function wholePicture({
  drawn,
  layout,
  loose,
  skills,
}: Shown): Pick<Picture, 'drawn' | 'layout' | 'captions'> {
  // MCP servers stand in the agents that use them; as nodes they are told in full.
  const servers = new Map(drawn.nodes.flatMap(({ tools }) => tools.map((tool) => [tool.id, tool])))
  const boxes = new Map(layout.boxes)
  const nodes = [...drawn.nodes]
  const captions: { text: string; at: Box }[] = []
  for (const [text, parts] of [
    ['Tools of the agents above', [...servers.values()]],
    ['Not connected', loose],
    ['Skills: every agent sees them', skills],
  ] as const) {
    if (parts.length === 0) continue
    const { x, y, height } = extentOf(boxes)
    const top = y + height + 2 * ROW_GAP
    captions.push({ text, at: { x, y: top, width: WIDTH, height: CAPTION } })
    parts.forEach((node, i) => {
      nodes.push(nodeOf(node))
      boxes.set(node.id, {
        x: x + (i % IN_A_ROW) * (WIDTH + ROW_GAP),
        y: top + CAPTION + Math.floor(i / IN_A_ROW) * (HEIGHT + ROW_GAP),
        width: WIDTH,
        height: HEIGHT,
      })
    })
  }
  return { drawn: { ...drawn, nodes }, layout: { boxes }, captions }
}

const nodeOf = (node: GraphNode): DrawnNode => ({
  id: node.id,
  kind: node.kind,
  name: node.name,
  verdicts: [],
  tools: [],
  node,
  members: [],
  hidden: 0,
})

/** What of a graph is shown: all of it, its flows as a list, or one of them as a drawing of its own. */
import { useMemo } from 'react'
import type { ProjectGraph } from '../../../schemas/types.ts'
import type { Canvas, CanvasView } from '../canvas.ts'
import { extentOf, type Layout, layoutGraph } from '../layout.ts'
import type { GraphMarks } from '../types.ts'
import type { Recent } from './connected.ts'
import { type Room, screensOf } from './fit.ts'
import { FLOWS_FROM, flowsOf } from './flows.ts'
import type { Drawn } from './fold.ts'
import { type Box, COLUMN_GAP, WIDTH } from './geometry.ts'
import { narrowed, type Split } from './loose.ts'

interface Given {
  graph: ProjectGraph
  marks: GraphMarks
  split: Split
  /** Of everything. */
  all: Layout
  recent: Recent
  room: Room
  view: CanvasView
  /** Whether a part that is alone may be followed by another. */
  canFollow: boolean
}

export type Shown = Pick<Canvas, 'drawn' | 'layout' | 'extent' | 'ghost' | 'screens' | 'flows' | 'isListed'>

export function useShown(given: Given): Shown {
  const { graph, marks, split, all, recent, room, view, canFollow } = given
  const whole = useMemo(() => extentOf(all.boxes), [all])
  const screens = room.height > 0 ? screensOf(whole, room, window.innerHeight) : 0
  const isLarge = screens > FLOWS_FROM
  const flows = useMemo(
    () => (isLarge ? flowsOf({ nodes: graph.nodes, edges: graph.edges }, recent) : []),
    [isLarge, graph.nodes, graph.edges, recent],
  )
  const wantsFlows = isLarge && (view.flows ?? true)
  const flow = wantsFlows ? flows.find(({ id }) => id === view.flow) : undefined
  const own = useMemo(() => {
    if (!flow) return null
    // What a draft makes meanwhile is made for what one looks at.
    const ids = new Set(flow.ids)
    for (const [id, change] of marks.changes) if (change === 'created') ids.add(id)
    const drawn = narrowed(split.drawn, ids)
    const put = graph.positions.filter(({ node }) => marks.changes.get(node) === 'created')
    return { drawn, layout: layoutGraph(drawn, put, recent) }
  }, [flow, split.drawn, marks.changes, graph.positions, recent])
  return useMemo(() => {
    const { drawn, layout } = own ?? { drawn: split.drawn, layout: all }
    const ghost = canFollow ? ghostOf(drawn, layout) : null
    const extent = extentOf(ghost ? new Map([...layout.boxes, ['ghost', ghost]]) : layout.boxes)
    return { drawn, layout, extent, ghost, screens, flows, isListed: wantsFlows && !own }
  }, [all, own, split.drawn, canFollow, screens, flows, wantsFlows])
}

/** Where the next part would stand: beside a source that is alone. */
function ghostOf(drawn: Drawn, layout: Layout): Box | null {
  const [only, ...others] = drawn.nodes
  if (only?.kind !== 'source' || others.length > 0) return null
  const box = layout.boxes.get(only.id)
  return box ? { ...box, x: box.x + WIDTH + COLUMN_GAP } : null
}

/** Ways through a graph: to the next node by an arrow key, and all that is up- and downstream of one. */
import type { Box } from './geometry.ts'

export interface Way {
  id: string
  from: string
  to: string
}

export type Arrow = 'ArrowLeft' | 'ArrowRight' | 'ArrowUp' | 'ArrowDown'

/** Nodes within so many pixels of each other's left side stand in one column. */
const COLUMN = 140

/**
 * Left and right follow edges, to the end nearest in height; without an edge there they go to the
 * nearest node that way. Up and down stay in the column.
 * @returns null: there is nothing that way
 */
export function nextNode(
  at: string,
  arrow: Arrow,
  boxes: ReadonlyMap<string, Box>,
  ways: readonly Way[],
): string | null {
  const here = boxes.get(at)
  if (!here) return null
  if (arrow === 'ArrowUp' || arrow === 'ArrowDown') return inColumn(at, here, arrow, boxes)
  const forward = arrow === 'ArrowRight'
  const ends = ways
    .filter((way) => (forward ? way.from : way.to) === at && way.from !== way.to)
    .map((way) => (forward ? way.to : way.from))
    .filter((id) => boxes.has(id))
  return nearest(here, ends, boxes) ?? sideways(at, here, forward, boxes)
}

function nearest(here: Box, ids: readonly string[], boxes: ReadonlyMap<string, Box>): string | null {
  const far = (id: string) => Math.abs(boxes.get(id)!.y - here.y)
  return ids.reduce<string | null>((best, id) => (best === null || far(id) < far(best) ? id : best), null)
}

function inColumn(at: string, here: Box, arrow: Arrow, boxes: ReadonlyMap<string, Box>): string | null {
  const down = arrow === 'ArrowDown'
  let best: string | null = null
  for (const [id, box] of boxes) {
    if (id === at || Math.abs(box.x - here.x) > COLUMN) continue
    if (down ? box.y <= here.y : box.y >= here.y) continue
    if (best === null || Math.abs(box.y - here.y) < Math.abs(boxes.get(best)!.y - here.y)) best = id
  }
  return best
}

function sideways(at: string, here: Box, forward: boolean, boxes: ReadonlyMap<string, Box>): string | null {
  const there = [...boxes].filter(
    ([id, box]) => id !== at && (forward ? box.x - here.x : here.x - box.x) > COLUMN,
  )
  const far = (box: Box) => Math.hypot(box.x - here.x, (box.y - here.y) * 2)
  return (
    there.reduce<[string, Box] | null>(
      (best, each) => (best === null || far(each[1]) < far(best[1]) ? each : best),
      null,
    )?.[0] ?? null
  )
}

/** Nodes and edges from which one comes to these nodes, and to which one comes from them; with them. */
export function pathOf(ids: readonly string[], ways: readonly Way[]): Set<string> {
  const found = new Set(ids)
  for (const way of ways) if (found.has(way.id)) found.add(way.from).add(way.to)
  const starts = [...found]
  for (const [near, far] of [
    ['from', 'to'],
    ['to', 'from'],
  ] as const) {
    const reached = new Set(starts)
    const open = [...starts]
    for (let id = open.pop(); id !== undefined; id = open.pop())
      for (const way of ways) {
        if (way[near] !== id) continue
        found.add(way.id).add(way[far])
        if (!reached.has(way[far])) open.push(way[far])
        reached.add(way[far])
      }
  }
  return found
}

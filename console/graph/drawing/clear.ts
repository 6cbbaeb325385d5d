/** Moves nodes that were laid out below the nodes that people put where they would stand. */
import type { Box } from './geometry.ts'

const overlap = (a: Box, b: Box, gap: number): boolean =>
  a.x < b.x + b.width + gap &&
  b.x < a.x + a.width + gap &&
  a.y < b.y + b.height + gap &&
  b.y < a.y + a.height + gap

/** @param fixed never move. @param gap between two nodes, in pixels */
export function clearOf(
  ids: readonly string[],
  fixed: ReadonlySet<string>,
  boxes: Map<string, Box>,
  gap: number,
): void {
  const put = [...fixed].map((id) => boxes.get(id)!).sort((a, b) => a.y - b.y)
  for (const id of ids) {
    const start = boxes.get(id)
    if (!start || fixed.has(id)) continue
    let box = start
    for (const other of put) if (overlap(box, other, gap)) box = { ...box, y: other.y + other.height + gap }
    if (box === start) continue
    boxes.set(id, box)
    put.push(box)
    put.sort((a, b) => a.y - b.y)
  }
}

/**
 * Which way a line takes that has nodes between its ends: never behind one of them, as far as there is room beside it.
 * A line keeps to its own curve where that is free; else it runs level through the nearest gap of each column.
 */
import type { EdgeEnds } from './edge-path.ts'
import type { Box, Corridor } from './geometry.ts'

/** From a line to a node that it passes; gaps between rows are 16 wide. */
const CLEARANCE = 6
/** Places of a curve that are looked at over a column. */
const LOOKS = 8

/**
 * @param boxes of the nodes, the ends among them
 * @returns where it runs level, from left to right; none: its own curve is free, or it runs back
 */
export function corridorsOf({ from, to }: Pick<EdgeEnds, 'from' | 'to'>, boxes: readonly Box[]): Corridor[] {
  const columns = columnsOf(boxes.filter((box) => box.x > from.x && box.x + box.width < to.x))
  if (columns.every((column) => isFree({ from, to }, column))) return []
  const corridors: Corridor[] = []
  let at = from
  for (const column of columns) {
    const left = Math.min(...column.map(({ x }) => x)) - CLEARANCE
    const right = Math.max(...column.map(({ x, width }) => x + width)) + CLEARANCE
    const y = nearestGap(heightAt({ from: at, to }, (left + right) / 2), column)
    corridors.push({ left, right, y })
    at = { x: right, y }
  }
  return corridors
}

/** Lines through one gap are so far apart, of which a gap between rows holds three. */
const APART = 3

/**
 * Lines through one gap lie beside each other; what has no room lies on another.
 * @param taken heights of lines by the left end of their column, to which these are added
 */
export function besideOthers(via: readonly Corridor[], taken: Map<number, number[]>): Corridor[] {
  return via.map((corridor) => {
    const others = taken.get(corridor.left) ?? []
    const isFreeAt = (y: number) => others.every((other) => Math.abs(other - y) >= APART)
    const y = [0, APART, -APART].map((by) => corridor.y + by).find(isFreeAt) ?? corridor.y
    taken.set(corridor.left, [...others, y])
    return { ...corridor, y }
  })
}

/** Boxes that stand above each other, from left to right. */
function columnsOf(boxes: readonly Box[]): Box[][] {
  const columns: { boxes: Box[]; right: number }[] = []
  for (const box of [...boxes].sort((a, b) => a.x - b.x)) {
    const last = columns.at(-1)
    if (last && box.x < last.right) {
      last.boxes.push(box)
      last.right = Math.max(last.right, box.x + box.width)
    } else columns.push({ boxes: [box], right: box.x + box.width })
  }
  return columns.map((column) => column.boxes)
}

const isIn = (y: number, { y: top, height }: Box): boolean =>
  y > top - CLEARANCE && y < top + height + CLEARANCE

function isFree(ends: Pick<EdgeEnds, 'from' | 'to'>, column: readonly Box[]): boolean {
  return column.every((box) => {
    for (let i = 0; i <= LOOKS; i++)
      if (isIn(heightAt(ends, box.x + (box.width * i) / LOOKS), box)) return false
    return true
  })
}

/** Height of the curve that edgeLine draws, at a place between its ends: its bends lie halfway. */
function heightAt({ from, to }: Pick<EdgeEnds, 'from' | 'to'>, x: number): number {
  const [width, target] = [to.x - from.x, (x - from.x) / (to.x - from.x)]
  if (width <= 0) return from.y
  // x(t) = width (1.5 t - 1.5 t² + t³) grows with t: halved until it is found.
  let [low, high] = [0, 1]
  for (let i = 0; i < 20; i++) {
    const t = (low + high) / 2
    if (1.5 * t - 1.5 * t * t + t * t * t < target) low = t
    else high = t
  }
  return from.y + (to.y - from.y) * (3 * low * low - 2 * low ** 3)
}

/** The height that is nearest to this one and free: between two boxes, or clear of all of them. */
function nearestGap(y: number, column: readonly Box[]): number {
  if (!column.some((box) => isIn(y, box))) return y
  const sorted = [...column].sort((a, b) => a.y - b.y)
  const gaps = [sorted[0]!.y - 2 * CLEARANCE]
  let bottom = sorted[0]!.y + sorted[0]!.height
  for (const box of sorted.slice(1)) {
    // Wide gaps are passed near their edge, as what is nearest goes.
    const [top, end] = [bottom + CLEARANCE, box.y - CLEARANCE]
    if (end >= top) gaps.push(Math.min(end, Math.max(top, y)))
    bottom = Math.max(bottom, box.y + box.height)
  }
  gaps.push(bottom + 2 * CLEARANCE)
  return gaps.reduce((best, gap) => (Math.abs(gap - y) < Math.abs(best - y) ? gap : best))
}

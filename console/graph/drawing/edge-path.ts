/** The line of an edge as SVG path data, and where its label stands. The canvas and its pictures draw the same. */
import type { Corridor } from './geometry.ts'

export interface EdgeEnds {
  from: { x: number; y: number }
  to: { x: number; y: number }
  /** Height under which a line that runs back passes free of both nodes. */
  lane: number
  /** Where it passes between nodes, from left to right; absent: it passes none. */
  via?: readonly Corridor[]
  /** Its label stands by where it leaves, which is its own: in the middle those that cross would hide each other's. */
  hasOwnPort?: boolean
  /** Of several between the same two nodes, which: their labels keep clear of each other. */
  beside?: Beside
}

/** One of several lines between the same two nodes. */
export interface Beside {
  /** From the top, beginning at 0. */
  rank: number
  of: number
  /** Rows of text in the largest of their labels. */
  rows: number
}

/** A row of a label, in pixels: a chip is one, too. */
const LABEL_ROW = 18
/** Labels of lines with ports of their own are so far apart already: as their ports are, where the labels stand. */
const PORTS_APART = 16

export interface EdgeLine {
  d: string
  label: { x: number; y: number }
}

const point = (x: number, y: number): string => `${round(x)},${round(y)}`
const round = (n: number): number => Math.round(n * 10) / 10

/** Forward in one curve, or in several between nodes; back, or to itself, in a loop below both nodes. */
export function edgeLine({
  from,
  to,
  lane,
  via = [],
  hasOwnPort = false,
  beside = ALONE,
}: EdgeEnds): EdgeLine {
  // Each that runs back has a lane of its own, with its label on it.
  if (to.x < from.x + 24) return backwards(from, to, lane + beside.rank * beside.rows * LABEL_ROW)
  const apart = Math.max(0, beside.rows * LABEL_ROW - (hasOwnPort ? PORTS_APART : 0))
  const shift = (beside.rank - (beside.of - 1) / 2) * apart
  const label = (end: EdgeEnds['to'], least: number): EdgeLine['label'] => {
    const tall = beside.of === 1 ? ((beside.rows - 1) * TEXT_ROW) / 2 : 0
    const { x, y } = labelOn(from, end, { least, share: hasOwnPort ? BY_PORT : 0.5, above: ABOVE + tall })
    return { x, y: y + shift }
  }
  if (via.length === 0)
    return { d: `M${point(from.x, from.y)} ${curve(from, to, LEAST_BEND)}`, label: label(to, LEAST_BEND) }
  const parts = [`M${point(from.x, from.y)}`]
  let at = from
  for (const { left, right, y } of via) {
    parts.push(curve(at, { x: left, y }, 0), `L${point(right, y)}`)
    at = { x: right, y }
  }
  parts.push(curve(at, to, 0))
  // Where nothing stands: between what it leaves and the first nodes that it passes.
  const [first] = via
  return { d: parts.join(' '), label: label({ x: first!.left, y: first!.y }, 0) }
}

const ALONE: Beside = { rank: 0, of: 1, rows: 1 }
/** So that a short line leaves and arrives level all the same. */
const LEAST_BEND = 28
/** Of the way along the curve. */
const BY_PORT = 0.3
/** A line that is level, or nearly so, would be hidden by its label: that stands above it. */
const NEARLY_LEVEL = 16
const ABOVE = 12
/** Height of a row of its text, by which one of several rows stands higher. */
const TEXT_ROW = 14

/** @param share of the way along the curve @param above how far a level line lies below */
function labelOn(
  from: EdgeEnds['from'],
  to: EdgeEnds['to'],
  { least, share, above: most }: { least: number; share: number; above: number },
): EdgeLine['label'] {
  const bend = Math.max(least, (to.x - from.x) / 2)
  const above = Math.abs(from.y - to.y) < NEARLY_LEVEL ? most : 0
  return {
    x: bezier(share, from.x, from.x + bend, to.x - bend, to.x),
    y: bezier(share, from.y, from.y, to.y, to.y) - above,
  }
}

const bezier = (t: number, a: number, b: number, c: number, d: number): number =>
  round((1 - t) ** 3 * a + 3 * t * (1 - t) ** 2 * b + 3 * t ** 2 * (1 - t) * c + t ** 3 * d)

/** @param least length of the bends, so that a short line leaves and arrives level all the same */
function curve(from: EdgeEnds['from'], to: EdgeEnds['to'], least: number): string {
  const bend = Math.max(least, (to.x - from.x) / 2)
  return `C${point(from.x + bend, from.y)} ${point(to.x - bend, to.y)} ${point(to.x, to.y)}`
}

function backwards(from: EdgeEnds['from'], to: EdgeEnds['to'], lane: number): EdgeLine {
  const out = 40
  return {
    d:
      `M${point(from.x, from.y)} C${point(from.x + out, from.y)} ${point(from.x + out, lane)} ${point(from.x, lane)} ` +
      `L${point(to.x, lane)} C${point(to.x - out, lane)} ${point(to.x - out, to.y)} ${point(to.x, to.y)}`,
    label: { x: (from.x + to.x) / 2, y: lane },
  }
}

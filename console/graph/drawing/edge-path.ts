/** The line of an edge as SVG path data, and where its label stands. The canvas and its pictures draw the same. */

export interface EdgeEnds {
  from: { x: number; y: number }
  to: { x: number; y: number }
  /** Height under which a line that runs back passes free of both nodes. */
  lane: number
}

export interface EdgeLine {
  d: string
  label: { x: number; y: number }
}

const point = (x: number, y: number): string => `${round(x)},${round(y)}`
const round = (n: number): number => Math.round(n * 10) / 10

/** Forward in one curve; back, or to itself, in a loop below both nodes. */
export function edgeLine({ from, to, lane }: EdgeEnds): EdgeLine {
  if (to.x < from.x + 24) return backwards(from, to, lane)
  const bend = Math.max(28, (to.x - from.x) / 2)
  return {
    d: `M${point(from.x, from.y)} C${point(from.x + bend, from.y)} ${point(to.x - bend, to.y)} ${point(to.x, to.y)}`,
    label: { x: (from.x + to.x) / 2, y: (from.y + to.y) / 2 },
  }
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

/**
 * Where the nodes of a connected part stand: in columns from left to right, with few crossings and level lines. The
 * steps are those of Sugiyama, Tagawa and Toda (1981): turn what leads back, give each node its column, order each
 * column by where its neighbours are, then move nodes up and down within that order. Pure, and the same each time.
 */

export interface LayerNode {
  id: string
  height: number
  /** The column it stands in or right of. */
  column: number
}

export interface LayerEdge {
  from: string
  to: string
  /** Where it leaves and arrives, from the top of its nodes. */
  leaves: number
  arrives: number
}

export interface Placed {
  column: number
  /** Of its top. */
  y: number
}

/** A node, or the stretch of a line through a column between its ends. */
interface Place {
  height: number
  column: number
  /** Of its top; whole numbers only at the end. */
  y: number
  at: number
  isLine: boolean
  left: Join[]
  right: Join[]
}

/** A line to a place of the next column on that side; level when the other's top is `offset` below the own one. */
interface Join {
  to: Place
  offset: number
  weight: number
}

/** Between lines that pass beside each other; a line and a node are half of both gaps apart. */
const LINE_GAP = 8
/** A long line is kept level between its ends before others are. */
const WEIGHT = { line: 8, end: 2, short: 1 }
/** Orders that are tried, and for how many in a row without fewer crossings. */
const ORDERS = 24
const ORDERS_IN_VAIN = 4
/** Sweeps over the columns until nothing moves by more than a hundredth of a pixel; 300 nodes need some 40 (2026-11). */
const SWEEPS = 200
const STILL = 0.01
/** A line that is not level by less than this is made level. */
const NEARLY_LEVEL = 4

/** @param gap between two nodes of a column, px. @returns whole pixels, by id, from 0 */
export function placeInLayers(
  nodes: readonly LayerNode[],
  edges: readonly LayerEdge[],
  gap: number,
): Map<string, Placed> {
  const forward = turned(nodes, edges)
  const columns = columnsOf(nodes, forward)
  const places = new Map(nodes.map(({ id, height }) => [id, placeOf(height, columns.get(id)!)]))
  const layers = order(layersOf(places, forward))
  const apart = (a: Place, b: Place): number =>
    a.height + (a.isLine ? LINE_GAP / 2 : gap / 2) + (b.isLine ? LINE_GAP / 2 : gap / 2)
  settle(layers, apart)
  level(layers, apart)
  const top = Math.min(...[...places.values()].map(({ y }) => y))
  return new Map([...places].map(([id, { column, y }]) => [id, { column, y: whole(y - top) }]))
}

/** Halves go the same way wherever the last digits of a sum differ. */
const whole = (y: number): number => Math.round(Math.round(y * 1_000) / 1_000)

const placeOf = (height: number, column: number, isLine = false): Place => ({
  ...{ height, column, isLine, y: 0, at: 0 },
  left: [],
  right: [],
})

/** Edges so that none leads back to where it came from: those that would are turned, and none is to itself. */
function turned(nodes: readonly LayerNode[], edges: readonly LayerEdge[]): LayerEdge[] {
  const out = new Map<string, LayerEdge[]>(nodes.map(({ id }) => [id, []]))
  for (const edge of edges) if (edge.from !== edge.to) out.get(edge.from)!.push(edge)
  const state = new Map<string, 'open' | 'done'>()
  const found: LayerEdge[] = []
  for (const { id } of nodes) {
    if (state.has(id)) continue
    state.set(id, 'open')
    const way = [{ id, edges: out.get(id)!.values() }]
    while (way.length) {
      const { value: edge, done } = way.at(-1)!.edges.next()
      if (done) {
        state.set(way.pop()!.id, 'done')
        continue
      }
      const { from, to, leaves, arrives } = edge
      const leadsBack = state.get(to) === 'open'
      found.push(leadsBack ? { from: to, to: from, leaves: arrives, arrives: leaves } : edge)
      if (state.has(to)) continue
      state.set(to, 'open')
      way.push({ id: to, edges: out.get(to)!.values() })
    }
  }
  return found
}

/** The column of each: its own or further right, and right of all that lead to it. @param edges none leads back */
function columnsOf(nodes: readonly LayerNode[], edges: readonly LayerEdge[]): Map<string, number> {
  const columns = new Map(nodes.map(({ id, column }) => [id, column]))
  const waiting = new Map(nodes.map(({ id }) => [id, 0]))
  const out = new Map<string, string[]>(nodes.map(({ id }) => [id, []]))
  for (const { from, to } of edges) {
    waiting.set(to, waiting.get(to)! + 1)
    out.get(from)!.push(to)
  }
  const open = nodes.map(({ id }) => id).filter((id) => waiting.get(id) === 0)
  for (const id of open)
    for (const to of out.get(id)!) {
      columns.set(to, Math.max(columns.get(to)!, columns.get(id)! + 1))
      const left = waiting.get(to)! - 1
      waiting.set(to, left)
      if (left === 0) open.push(to)
    }
  return columns
}

/** The columns with what stands in each, lines that pass through among it; joins what is next to each other. */
function layersOf(places: ReadonlyMap<string, Place>, edges: readonly LayerEdge[]): Place[][] {
  const layers: Place[][] = []
  const add = (place: Place): void => {
    layers[place.column] ??= []
    layers[place.column]!.push(place)
  }
  const join = (a: Place, b: Place, offset: number): void => {
    const weight = a.isLine && b.isLine ? WEIGHT.line : a.isLine || b.isLine ? WEIGHT.end : WEIGHT.short
    a.right.push({ to: b, offset, weight })
    b.left.push({ to: a, offset: -offset, weight })
  }
  for (const place of places.values()) add(place)
  for (const { from, to, leaves, arrives } of edges) {
    const [start, end] = [places.get(from)!, places.get(to)!]
    let last = start
    for (let column = start.column + 1; column < end.column; column += 1) {
      const line = placeOf(0, column, true)
      add(line)
      join(last, line, last === start ? leaves : 0)
      last = line
    }
    join(last, end, (last === start ? leaves : 0) - arrives)
  }
  return Array.from(layers, (layer) => layer ?? [])
}

/** Orders each column by the middle of its neighbours, from the left and from the right in turn; keeps the best. */
function order(layers: Place[][]): Place[][] {
  number(layers)
  let best = layers.map((layer) => [...layer])
  let [least, inVain] = [crossings(layers), 0]
  for (let n = 0; n < ORDERS && least > 0 && inVain < ORDERS_IN_VAIN; n += 1) {
    const fromLeft = n % 2 === 0
    // Those that are pulled alike are turned around every other time: so an order is left that is only the best near by.
    const ties = n % 4 < 2 ? 1 : -1
    for (const layer of fromLeft ? layers : layers.toReversed()) {
      const middle = new Map(layer.map((place) => [place, middleOf(fromLeft ? place.left : place.right)]))
      sortWhere(layer, middle, ties)
    }
    exchange(layers)
    const found = crossings(layers)
    inVain += 1
    if (found >= least) continue
    ;[least, inVain] = [found, 0]
    best = layers.map((layer) => [...layer])
  }
  number(best)
  return best
}

function number(layers: readonly Place[][]): void {
  for (const layer of layers)
    layer.forEach((place, at) => {
      place.at = at
    })
}

const middleOf = (joins: readonly Join[]): number | null =>
  joins.length ? joins.reduce((sum, { to }) => sum + to.at, 0) / joins.length : null

/** Sorts those that have a middle, among their own places: what has no neighbour on that side stays where it is. */
function sortWhere(layer: Place[], middle: ReadonlyMap<Place, number | null>, ties: 1 | -1): void {
  const free = layer.filter((place) => middle.get(place) !== null)
  const sorted = [...free].sort((a, b) => middle.get(a)! - middle.get(b)! || (a.at - b.at) * ties).values()
  for (const [at, place] of layer.entries())
    layer[at] = middle.get(place) === null ? place : sorted.next().value!
  number([layer])
}

/** Exchanges two that are next to each other, as long as that takes a crossing away. */
function exchange(layers: readonly Place[][]): void {
  for (const layer of layers)
    for (let i = 0; i + 1 < layer.length; i += 1) {
      const [a, b] = [layer[i]!, layer[i + 1]!]
      const sides = (['left', 'right'] as const).map((side) => between(a[side], b[side]))
      const gained = sides.reduce((sum, [now, then]) => sum + now - then, 0)
      if (gained <= 0) continue
      ;[layer[i], layer[i + 1]] = [b, a]
      ;[a.at, b.at] = [b.at, a.at]
    }
}

/** Crossings of the lines of two places, the first above the second; and once they are exchanged. */
function between(a: readonly Join[], b: readonly Join[]): [now: number, then: number] {
  let [now, then] = [0, 0]
  for (const one of a)
    for (const two of b) {
      if (one.to.at > two.to.at) now += 1
      if (one.to.at < two.to.at) then += 1
    }
  return [now, then]
}

/** Of all lines between columns: for each, those before it that end below it (Barth, Jünger and Mutzel, 2002). */
function crossings(layers: readonly Place[][]): number {
  let sum = 0
  for (const [column, layer] of layers.entries()) {
    const size = (layers[column + 1]?.length ?? 0) + 1
    const tree = new Int32Array(size + 1)
    let lines = 0
    for (const place of layer) {
      const ends = place.right.map(({ to }) => to.at)
      for (const end of ends) {
        sum += lines
        for (let i = end + 1; i > 0; i -= i & -i) sum -= tree[i]!
      }
      lines += ends.length
      for (const end of ends) for (let i = end + 1; i <= size; i += i & -i) tree[i]! += 1
    }
  }
  return sum
}

type Apart = (above: Place, below: Place) => number

/** Moves all up and down until their lines are as level as the order and the gaps let them, by least squares. */
function settle(layers: readonly Place[][], apart: Apart): void {
  for (const layer of layers) {
    let y = 0
    for (const [at, place] of layer.entries()) {
      if (at > 0) y += apart(layer[at - 1]!, place)
      place.y = y
    }
  }
  for (let n = 0; n < SWEEPS; n += 1) {
    let moved = 0
    for (const layer of n % 2 ? layers : layers.toReversed()) moved = Math.max(moved, settleOne(layer, apart))
    if (moved < STILL) return
  }
}

/**
 * Puts a column where its neighbours pull it, as near as the gaps let it: those that would overlap move as one to where
 * all of them are pulled (pool adjacent violators, Barlow et al. 1972), which is the least of the squares.
 * @returns by how much one moved at most
 */
function settleOne(layer: readonly Place[], apart: Apart): number {
  // Each block stands where its first place is to stand, the others below it at the least distance.
  const blocks: { sum: number; weight: number; offsets: number[]; places: Place[] }[] = []
  for (const place of layer) {
    const pulls = [...place.left, ...place.right]
    // What only leads to itself stays where it is.
    const weight = pulls.reduce((all, one) => all + one.weight, 0) || 1
    const sum = pulls.length
      ? pulls.reduce((all, { to, offset, weight: one }) => all + one * (to.y - offset), 0)
      : place.y
    blocks.push({ sum, weight, offsets: [0], places: [place] })
    for (let i = blocks.length - 1; i > 0; i -= 1) {
      const [above, below] = [blocks[i - 1]!, blocks[i]!]
      const shift = above.offsets.at(-1)! + apart(above.places.at(-1)!, below.places[0]!)
      if (above.sum / above.weight + shift <= below.sum / below.weight) break
      above.sum += below.sum - shift * below.weight
      above.weight += below.weight
      above.offsets.push(...below.offsets.map((offset) => offset + shift))
      above.places.push(...below.places)
      blocks.pop()
    }
  }
  let moved = 0
  for (const { sum, weight, offsets, places } of blocks)
    for (const [i, place] of places.entries()) {
      const y = sum / weight + offsets[i]!
      moved = Math.max(moved, Math.abs(y - place.y))
      place.y = y
    }
  return moved
}

const isLevel = (place: Place, { to, offset }: Join): boolean => Math.abs(place.y + offset - to.y) < 0.001

/** Makes lines level that nearly are, by the end that has room: a bend of a pixel is seen as a mistake. */
function level(layers: readonly Place[][], apart: Apart): void {
  const move = (place: Place, by: number): boolean => {
    const layer = layers[place.column]!
    const [above, below] = [layer[place.at - 1], layer[place.at + 1]]
    const isFree =
      (!above || above.y + apart(above, place) <= place.y + by) &&
      (!below || place.y + by + apart(place, below) <= below.y)
    // What is level already stays so.
    if (!isFree || [...place.left, ...place.right].some((join) => isLevel(place, join))) return false
    place.y += by
    return true
  }
  for (const layer of layers)
    for (const place of layer)
      for (const { to, offset } of place.right) {
        const by = place.y + offset - to.y
        if (by !== 0 && Math.abs(by) <= NEARLY_LEVEL && !move(to, by)) move(place, -by)
      }
}

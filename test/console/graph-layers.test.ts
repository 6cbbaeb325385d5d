import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type LayerEdge, type LayerNode, placeInLayers } from '../../console/graph/drawing/layers.ts'

const GAP = 16
const node = (id: string, column: number, height = 60): LayerNode => ({ id, column, height })
const edge = (from: string, to: string, leaves = 30): LayerEdge => ({ from, to, leaves, arrives: 30 })
const place = (nodes: LayerNode[], edges: LayerEdge[]) => Object.fromEntries(placeInLayers(nodes, edges, GAP))

/** A connected graph: each node but the first is joined with one before it, and some more are. */
const graphs = fc
  .array(
    fc.record({
      column: fc.nat(3),
      rows: fc.nat(3),
      with: fc.nat(),
      more: fc.array(fc.nat(), { maxLength: 3 }),
      back: fc.boolean(),
    }),
    { minLength: 2, maxLength: 40 },
  )
  .map((all) => {
    const nodes = all.map(({ column, rows }, i) => node(`n${i}`, column, 60 + rows * 22))
    const edges = all.flatMap(({ with: first, more, back }, i) => {
      if (i === 0) return more.length ? [edge('n0', 'n0')] : []
      const before = edge(`n${first % i}`, `n${i}`)
      const others = more.map((n) => edge(`n${i}`, `n${n % all.length}`))
      return [back ? edge(before.to, before.from) : before, ...others]
    })
    return { nodes, edges }
  })

describe('nodes in layers', () => {
  it('stand in their column or right of it, apart from each other, and the same each time', () => {
    fc.assert(
      fc.property(graphs, ({ nodes, edges }) => {
        const placed = place(nodes, edges)
        for (const { id, column } of nodes) expect(placed[id]!.column).toBeGreaterThanOrEqual(column)
        for (const column of new Set(nodes.map(({ id }) => placed[id]!.column))) {
          const sorted = nodes
            .filter(({ id }) => placed[id]!.column === column)
            .sort((a, b) => placed[a.id]!.y - placed[b.id]!.y)
          for (const [i, below] of sorted.slice(1).entries()) {
            const above = sorted[i]!
            // Each is a whole number: two that are rounded may come one pixel nearer.
            expect(placed[below.id]!.y - placed[above.id]!.y).toBeGreaterThanOrEqual(above.height + GAP - 1)
          }
        }
        expect(Math.min(...nodes.map(({ id }) => placed[id]!.y))).toBe(0)
        expect(place(nodes, edges)).toEqual(placed)
      }),
      { numRuns: 150 },
    )
  })

  it('stand right of all that lead to them, but for a way that leads back', () => {
    const nodes = ['t', 'a', 'b', 'c'].map((id) => node(id, id === 't' ? 1 : 2))
    const placed = place(nodes, [edge('t', 'a'), edge('a', 'b'), edge('b', 'c'), edge('c', 'a')])
    expect(['t', 'a', 'b', 'c'].map((id) => placed[id]!.column)).toEqual([1, 2, 3, 4])
  })

  it('are ordered so that lines cross least', () => {
    const nodes = [
      ...['s1', 's2', 's3'].map((id) => node(id, 0)),
      ...['t1', 't2', 't3'].map((id) => node(id, 1)),
    ]
    const placed = place(nodes, [...[edge('s1', 't3'), edge('s2', 't1'), edge('s3', 't2'), edge('s1', 't2')]])
    const lines = [
      ['s1', 't3'],
      ['s2', 't1'],
      ['s3', 't2'],
      ['s1', 't2'],
    ].map((ends) => ends.map((id) => placed[id]!.y))
    const crossing = lines.flatMap(([a, b], i) =>
      lines.slice(i + 1).filter(([c, d]) => (a! - c!) * (b! - d!) < 0),
    )
    expect(crossing).toEqual([])
  })

  it('are level with what they lead to, by where the line leaves and arrives', () => {
    const placed = place(
      [node('trigger', 1), node('agent', 2, 104), node('next', 3)],
      [edge('trigger', 'agent'), edge('agent', 'next', 93)],
    )
    expect(placed.trigger!.y).toBe(placed.agent!.y)
    expect(placed.next!.y + 30).toBe(placed.agent!.y + 93)
  })
})

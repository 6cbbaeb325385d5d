import { describe, expect, it } from 'vitest'
import type { Recent } from '../../console/graph/drawing/connected.ts'
import { attachmentFold, foldGraph, kindFold } from '../../console/graph/drawing/fold.ts'
import type { Box } from '../../console/graph/drawing/geometry.ts'
import { splitLoose } from '../../console/graph/drawing/loose.ts'
import { extentOf, layoutGraph } from '../../console/graph/layout.ts'
import type { ProjectGraph } from '../../schemas/types.ts'
import { graphEdge, graphNode, graphOf, manyParts } from './graph-fixture.ts'

/** As the page shows it: what is not connected stands elsewhere. */
const layoutOf = (graph: ProjectGraph, recent: Recent = {}) =>
  layoutGraph(splitLoose(graph, foldGraph(graph), graph.positions).drawn, graph.positions, recent)
const boxesOf = (graph: ProjectGraph, recent: Recent = {}): Record<string, Box> =>
  Object.fromEntries(layoutOf(graph, recent).boxes)

function overlaps(boxes: Record<string, Box>): string[] {
  const all = Object.entries(boxes)
  return all.flatMap(([a, one], i) =>
    all
      .slice(i + 1)
      .filter(
        ([, two]) =>
          one.x < two.x + two.width &&
          two.x < one.x + one.width &&
          one.y < two.y + two.height &&
          two.y < one.y + one.height,
      )
      .map(([b]) => `${a} and ${b}`),
  )
}

const chain = () =>
  graphOf(
    [
      graphNode('source', 'gw'),
      graphNode('trigger', 'errs'),
      graphNode('agent', 'triage', { verdicts: ['investigate', 'dismiss'] }),
      graphNode('agent', 'digger', { verdicts: ['unclear'] }),
      graphNode('mcp_server', 'logs'),
      graphNode('destination', 'hooks'),
    ],
    [
      graphEdge('feeds', 'source:gw', 'trigger:errs'),
      graphEdge('wakes', 'trigger:errs', 'agent:triage'),
      graphEdge('hands_off', 'agent:triage', 'agent:digger', { verdict: 'investigate' }),
      graphEdge('uses', 'agent:triage', 'mcp_server:logs'),
      graphEdge('tells', 'agent:digger', 'destination:hooks'),
    ],
  )

describe('where nodes stand', () => {
  it('reads from left to right: source, trigger, agent, who takes over, whom it tells', () => {
    const boxes = boxesOf(chain())
    const x = ['source:gw', 'trigger:errs', 'agent:triage', 'agent:digger', 'destination:hooks'].map(
      (id) => boxes[id]!.x,
    )
    expect(x).toEqual([...x].sort((a, b) => a - b))
    expect(new Set(x).size).toBe(5)
  })

  it('is 208 × 60 a node, 88 between columns and 16 between rows, with a row of 22 where a verdict hands off', () => {
    const graph = chain()
    graph.nodes.push(graphNode('trigger', 'slow'))
    graph.edges.push(graphEdge('feeds', 'source:gw', 'trigger:slow'))
    const boxes = boxesOf(graph)
    expect(boxes['source:gw']).toMatchObject({ width: 208, height: 60 })
    // Of its two verdicts one hands off.
    expect(boxes['agent:triage']).toMatchObject({ width: 208, height: 82 })
    expect(boxes['agent:digger']!.height).toBe(60)
    expect(boxes['trigger:errs']!.x - boxes['source:gw']!.x).toBe(208 + 88)
    const [upper, lower] = [boxes['trigger:errs']!.y, boxes['trigger:slow']!.y].sort((a, b) => a - b)
    expect(lower! - upper!).toBe(60 + 16)
  })

  it('has lines level from port to port, also from the row of a verdict', () => {
    const boxes = boxesOf(chain())
    expect(boxes['trigger:errs']!.y).toBe(boxes['agent:triage']!.y)
    // Its one row of a verdict is below 60 px, and 22 high.
    expect(boxes['agent:digger']!.y + 30).toBe(boxes['agent:triage']!.y + 60 + 11)
  })

  it('shows every verdict as a port while one edits', () => {
    const drawn = foldGraph(chain(), new Set(), true)
    const triage = drawn.nodes.find(({ id }) => id === 'agent:triage')!
    expect(triage.verdicts).toEqual(['investigate', 'dismiss'])
    expect(layoutGraph(drawn, []).boxes.get('agent:triage')!.height).toBe(60 + 2 * 22)
  })

  it('has MCP servers inside the agents that use them, and no skill', () => {
    const graph = chain()
    graph.nodes.push(graphNode('skill', 'runbook'))
    graph.edges.push(graphEdge('uses', 'agent:digger', 'mcp_server:logs'))
    const drawn = foldGraph(graph)
    expect(Object.keys(boxesOf(graph))).not.toContain('mcp_server:logs')
    expect(drawn.nodes.filter(({ tools }) => tools.length).map(({ id }) => id)).toEqual([
      'agent:triage',
      'agent:digger',
    ])
    expect(splitLoose(graph, drawn, []).skills.map(({ name }) => name)).toEqual(['runbook'])
  })

  it('keeps kinds in their columns', () => {
    const graph = chain()
    graph.nodes.push(graphNode('trigger', 'nightly'))
    graph.edges.push(graphEdge('wakes', 'trigger:nightly', 'agent:digger'))
    const boxes = boxesOf(graph)
    expect(boxes['trigger:nightly']!.x).toBe(boxes['trigger:errs']!.x)
  })

  it('stacks connected parts 32 px apart, the one that fired last first', () => {
    const graph = graphOf(
      ['a', 'b', 'c'].flatMap((name) => [graphNode('source', name), graphNode('trigger', `t-${name}`)]),
      ['a', 'b', 'c'].map((name) => graphEdge('feeds', `source:${name}`, `trigger:t-${name}`)),
    )
    const at = (boxes: Record<string, Box>) => ['a', 'b', 'c'].map((name) => boxes[`source:${name}`]!.y)
    expect(at(boxesOf(graph))).toEqual([0, 92, 184])
    expect(at(boxesOf(graph, { 'trigger:t-c': 2, 'trigger:t-b': 1 }))).toEqual([184, 92, 0])
  })

  it.each([
    ['to each other', ['agent:a', 'agent:b', 'agent:c', 'agent:a']],
    ['to itself', ['agent:a', 'agent:a']],
  ])('lays agents out that hand over %s', (_, ring) => {
    const graph = graphOf(
      [
        graphNode('trigger', 't'),
        ...['a', 'b', 'c'].map((name) => graphNode('agent', name, { verdicts: ['v'] })),
      ],
      [
        graphEdge('wakes', 'trigger:t', 'agent:a'),
        ...ring.slice(1).map((to, i) => graphEdge('hands_off', ring[i]!, to, { verdict: 'v' })),
      ],
    )
    const boxes = boxesOf(graph)
    expect(Object.keys(boxes)).toHaveLength(1 + new Set(ring).size)
    expect(overlaps(boxes)).toEqual([])
    expect(boxes['trigger:t']!.x).toBeLessThan(boxes['agent:a']!.x)
  })

  it('lays out 300 nodes without overlap, and the same way each time', () => {
    const counts = { sources: 70, triggers: 120, agents: 90, destinations: 20 }
    const boxes = boxesOf(manyParts(counts))
    expect(Object.keys(boxes)).toHaveLength(300)
    expect(overlaps(boxes)).toEqual([])
    expect(boxesOf(manyParts(counts))).toEqual(boxes)
  })

  it('does not depend on what a node shows at the moment', () => {
    const graph = chain()
    const before = boxesOf(graph)
    const busy = graph.nodes.map((node) => ({ ...node, today: 9, running: 3, state: 'paused' as const }))
    expect(boxesOf({ ...graph, nodes: busy })).toEqual(before)
  })

  it('moves little for one node more: nothing in parts above it, and no node to another column', () => {
    const before = manyParts({ sources: 6, triggers: 12, agents: 6 })
    const after = structuredClone(before)
    after.nodes.push(graphNode('trigger', 'zz-new'))
    after.edges.push(
      graphEdge('feeds', 'source:source-005', 'trigger:zz-new'),
      graphEdge('wakes', 'trigger:zz-new', 'agent:agent-005'),
    )
    const [was, is] = [boxesOf(before), boxesOf(after)]
    for (const { id } of before.nodes) {
      expect(is[id]!.x).toBe(was[id]!.x)
      expect(Math.abs(is[id]!.y - was[id]!.y)).toBeLessThanOrEqual(240)
    }
  })
})

describe('parts without wires', () => {
  it('stand outside of the drawing, servers that an agent uses do not', () => {
    const graph = chain()
    graph.nodes.push(graphNode('agent', 'idle'), graphNode('mcp_server', 'spare'))
    const { drawn, loose } = splitLoose(graph, foldGraph(graph), [])
    expect(loose.map(({ id }) => id)).toEqual(['agent:idle', 'mcp_server:spare'])
    expect(drawn.nodes.map(({ id }) => id)).not.toContain('agent:idle')
  })

  it('are drawn where somebody put them', () => {
    const graph = chain()
    graph.nodes.push(graphNode('agent', 'idle'))
    graph.positions = [{ node: 'agent:idle', x: 40, y: 800 }]
    expect(boxesOf(graph)['agent:idle']).toMatchObject({ x: 40, y: 800 })
    expect(splitLoose(graph, foldGraph(graph), graph.positions).loose).toEqual([])
  })

  it('are drawn as far as the first where there is nothing else', () => {
    const graph = graphOf([graphNode('source', 'app-logs'), graphNode('source', 'more')], [])
    const { drawn, loose } = splitLoose(graph, foldGraph(graph), [])
    expect(drawn.nodes.map(({ id }) => id)).toEqual(['source:app-logs'])
    expect(loose.map(({ id }) => id)).toEqual(['source:more'])
    expect(extentOf(layoutGraph(drawn, []).boxes)).toEqual({ x: 0, y: 0, width: 208, height: 60 })
  })
})

describe('where people put nodes', () => {
  it('wins over the layout', () => {
    const graph = chain()
    const before = boxesOf(graph)
    graph.positions = [
      { node: 'agent:triage', x: 700, y: 900 },
      { node: 'agent:gone', x: 0, y: 0 },
    ]
    const boxes = boxesOf(graph)
    expect(boxes['agent:triage']).toMatchObject({ x: 700, y: 900 })
    expect(boxes['source:gw']).toEqual(before['source:gw'])
    expect(boxes['agent:gone']).toBeUndefined()
  })

  it('makes what was laid out give way', () => {
    const graph = chain()
    const { x, y } = boxesOf(graph)['trigger:errs']!
    graph.positions = [{ node: 'source:gw', x: x + 20, y: y + 10 }]
    const boxes = boxesOf(graph)
    expect(boxes['source:gw']).toMatchObject({ x: x + 20, y: y + 10 })
    expect(overlaps(boxes)).toEqual([])
  })
})

describe('collapsed groups', () => {
  it('stand for their nodes, say how many, and have one edge for those they hide', () => {
    const graph = manyParts({ sources: 4, triggers: 8, agents: 2 })
    const drawn = foldGraph(graph, new Set([kindFold('trigger')]))
    const group = drawn.nodes.find((node) => node.kind === 'group')!
    expect(group.name).toBe('8 triggers')
    expect(drawn.nodes).toHaveLength(7)
    expect(drawn.edges.map((edge) => `${edge.from} ${edge.to} ${edge.members.length}`).sort()).toEqual([
      'agent:agent-000 agent:agent-001 1',
      'group:trigger agent:agent-000 4',
      'group:trigger agent:agent-001 4',
      'source:source-000 group:trigger 3',
      'source:source-001 group:trigger 3',
      'source:source-002 group:trigger 2',
      'source:source-003 group:trigger 2',
    ])
    expect(overlaps(Object.fromEntries(layoutGraph(drawn, []).boxes))).toEqual([])
  })

  it('hide destinations that only one agent has inside that agent', () => {
    const drawn = foldGraph(
      chain(),
      new Set([attachmentFold('agent:triage'), attachmentFold('agent:digger')]),
    )
    expect(drawn.nodes.map((node) => [node.id, node.hidden])).toEqual([
      ['source:gw', 0],
      ['trigger:errs', 0],
      ['agent:triage', 0],
      ['agent:digger', 1],
    ])
    expect(drawn.edges.some((edge) => edge.kind === 'tells')).toBe(false)
  })
})

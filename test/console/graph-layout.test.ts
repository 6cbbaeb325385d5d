import { describe, expect, it } from 'vitest'
import { attachmentFold, foldGraph, kindFold } from '../../console/graph/drawing/fold.ts'
import type { Box } from '../../console/graph/drawing/geometry.ts'
import { layoutGraph } from '../../console/graph/layout.ts'
import type { ProjectGraph } from '../../schemas/types.ts'
import { graphEdge, graphNode, graphOf, manyParts } from './graph-fixture.ts'

const layoutOf = (graph: ProjectGraph) => layoutGraph(foldGraph(graph), graph.positions)
const boxesOf = (graph: ProjectGraph): Record<string, Box> => Object.fromEntries(layoutOf(graph).boxes)

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

  it('hangs an MCP server under the one agent that uses it, and stands one of several to the right', () => {
    const alone = boxesOf(chain())
    expect(alone['mcp_server:logs']!.y).toBeGreaterThan(
      alone['agent:triage']!.y + alone['agent:triage']!.height,
    )
    expect(alone['mcp_server:logs']!.x - alone['agent:triage']!.x).toBeLessThan(60)
    const graph = chain()
    graph.edges.push(graphEdge('uses', 'agent:digger', 'mcp_server:logs'))
    const shared = boxesOf(graph)
    expect(shared['mcp_server:logs']!.x).toBeGreaterThan(shared['agent:digger']!.x + 200)
  })

  it('puts skills together in a box of their own under the rest', () => {
    const graph = manyParts({ sources: 2, triggers: 3, agents: 2, skills: 6 })
    const { boxes, skills } = layoutOf(graph)
    for (const node of graph.nodes) {
      const box = boxes.get(node.id)!
      const inside = box.y >= skills!.y && box.y + box.height <= skills!.y + skills!.height
      expect(inside).toBe(node.kind === 'skill')
    }
    expect(layoutOf(chain()).skills).toBeNull()
  })

  it('keeps kinds in their columns, also where nothing leads to them', () => {
    const graph = chain()
    graph.nodes.push(
      graphNode('trigger', 'lonely'),
      graphNode('agent', 'idle'),
      graphNode('trigger', 'nightly'),
    )
    graph.edges.push(graphEdge('wakes', 'trigger:nightly', 'agent:digger'))
    const boxes = boxesOf(graph)
    expect(boxes['trigger:lonely']!.x).toBe(boxes['trigger:errs']!.x)
    expect(boxes['trigger:nightly']!.x).toBe(boxes['trigger:errs']!.x)
    expect(boxes['agent:idle']!.x).toBe(boxes['agent:triage']!.x)
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
    expect(Object.keys(boxes)).toHaveLength(4)
    expect(overlaps(boxes)).toEqual([])
    expect(boxes['trigger:t']!.x).toBeLessThan(boxes['agent:a']!.x)
  })

  it('lays out 300 nodes without overlap, and the same way each time', () => {
    const counts = { sources: 60, triggers: 105, agents: 84, servers: 30, skills: 9, destinations: 12 }
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

describe('where people put nodes', () => {
  it('wins over the layout, and takes along what hangs under an agent', () => {
    const graph = chain()
    const before = boxesOf(graph)
    graph.positions = [
      { node: 'agent:triage', x: 700, y: 900 },
      { node: 'agent:gone', x: 0, y: 0 },
    ]
    const boxes = boxesOf(graph)
    expect(boxes['agent:triage']).toMatchObject({ x: 700, y: 900 })
    const offset = (of: Record<string, Box>) => of['mcp_server:logs']!.y - of['agent:triage']!.y
    expect(offset(boxes)).toBe(offset(before))
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

  it('hide what only one agent has inside that agent', () => {
    const drawn = foldGraph(
      chain(),
      new Set([attachmentFold('agent:triage'), attachmentFold('agent:digger')]),
    )
    expect(drawn.nodes.map((node) => [node.id, node.hidden])).toEqual([
      ['source:gw', 0],
      ['trigger:errs', 0],
      ['agent:triage', 1],
      ['agent:digger', 1],
    ])
    expect(drawn.edges.some((edge) => edge.kind === 'uses' || edge.kind === 'tells')).toBe(false)
  })
})

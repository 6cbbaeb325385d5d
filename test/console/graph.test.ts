import { describe, expect, it } from 'vitest'
import { edgeLine } from '../../console/graph/drawing/edge-path.ts'
import { foldGraph } from '../../console/graph/drawing/fold.ts'
import { type OutlineItem, outlineOf } from '../../console/graph/drawing/outline.ts'
import { besideOthers, corridorsOf } from '../../console/graph/drawing/routes.ts'
import { nextNode, pathOf } from '../../console/graph/drawing/walk.ts'
import {
  besidesOf,
  type FlowNode,
  flowEdges,
  flowNodes,
  type Kept,
  type Look,
} from '../../console/graph/flow.ts'
import { layoutGraph } from '../../console/graph/layout.ts'
import { keepSame, pulsesBetween } from '../../console/graph/live-diff.ts'
import { NO_MARKS } from '../../console/graph/types.ts'
import { describeNode } from '../../console/graph/words.ts'
import { AT, graphEdge, graphNode, graphOf, manyParts } from './graph-fixture.ts'

const chain = () =>
  graphOf(
    [
      graphNode('source', 'gw', { today: 4 }),
      graphNode('trigger', 'errs'),
      graphNode('trigger', 'slow'),
      graphNode('agent', 'triage', { verdicts: ['investigate'] }),
      graphNode('agent', 'digger', { verdicts: ['unclear'] }),
      graphNode('skill', 'runbook'),
    ],
    [
      graphEdge('feeds', 'source:gw', 'trigger:errs'),
      graphEdge('feeds', 'source:gw', 'trigger:slow'),
      graphEdge('wakes', 'trigger:errs', 'agent:triage'),
      graphEdge('hands_off', 'agent:triage', 'agent:digger', { verdict: 'investigate' }),
      graphEdge('hands_off', 'agent:digger', 'agent:triage', { verdict: 'unclear' }),
    ],
  )

const FEEDS = 'feeds:gw>errs'

describe('two looks at a project', () => {
  it('keep the objects of what did not change, by id and not by place', () => {
    const before = chain()
    const after = structuredClone(before)
    after.nodes.splice(1, 0, graphNode('source', 'new'))
    after.nodes[0]!.today = 5
    const kept = keepSame(before, after)
    expect(kept.nodes[0]).not.toBe(before.nodes[0])
    expect(kept.nodes.slice(2)).toEqual(before.nodes.slice(1))
    kept.nodes.slice(2).forEach((node, i) => {
      expect(node).toBe(before.nodes[i + 1])
    })
    expect(kept.edges).toBe(before.edges)
    expect(kept.positions).toBe(before.positions)
  })

  it('pulse once per thing that was carried, up to three, and number them on', () => {
    const before = chain()
    const after = structuredClone(before)
    const edge = (id: string) => after.edges.find((each) => each.id === id)!
    edge(FEEDS).today = 250
    edge('wakes:errs>triage').today = 1
    const pulses = pulsesBetween(before, keepSame(before, after), 7)
    expect(pulses.map((pulse) => pulse.edge)).toEqual([FEEDS, FEEDS, FEEDS, 'wakes:errs>triage'])
    expect(pulses.map((pulse) => pulse.n)).toEqual([7, 8, 9, 10])
    expect(pulsesBetween(after, after, 1)).toEqual([])
  })

  it('pulse by the last time where a count starts anew at midnight, and not for an edge that is new', () => {
    const before = chain()
    before.edges[0]!.today = 900
    const after = structuredClone(before)
    after.edges[0]!.today = 1
    after.edges[0]!.last_at = AT
    after.edges.push(graphEdge('wakes', 'trigger:slow', 'agent:digger', { today: 5, last_at: AT }))
    expect(pulsesBetween(before, after, 1).map((pulse) => pulse.edge)).toEqual([before.edges[0]!.id])
  })
})

describe('edges whose load is not counted', () => {
  it('pulse for what came to their source, once they carried it', () => {
    const before = chain()
    for (const edge of before.edges) edge.today = null
    const after = structuredClone(before)
    after.nodes[0]!.today = 6
    after.edges.find((edge) => edge.id === FEEDS)!.last_at = AT
    expect(pulsesBetween(before, after, 1).map((pulse) => pulse.edge)).toEqual([FEEDS, FEEDS])
  })
})

describe('what React Flow is given', () => {
  const look = (over: Partial<Look> = {}): Look => ({
    marks: NO_MARKS,
    lit: null,
    selected: new Set(),
    tabStop: 'source:gw',
    moved: new Map(),
    editable: false,
    now: Date.parse(AT),
    ...over,
  })
  const byId = (nodes: FlowNode[]) => new Map(nodes.map((node) => [node.id, node]))

  it('is the same object for each node that shows the same, whatever else changed', () => {
    const graph = chain()
    const kept: Kept<FlowNode> = new Map()
    const layout = layoutGraph(foldGraph(graph), [])
    const first = byId(flowNodes(foldGraph(graph), layout, look(), kept))
    const nodes = graph.nodes.map((node) => (node.name === 'gw' ? { ...node, today: 9 } : node))
    const changed = { ...graph, nodes }
    const marks = {
      ...NO_MARKS,
      notes: new Map([['trigger:slow', { text: '1 of 5', tone: 'neutral' as const }]]),
    }
    const second = byId(flowNodes(foldGraph(changed), layout, look({ marks, now: 0 }), kept))
    const renewed = [...second].filter(([id, node]) => node !== first.get(id)).map(([id]) => id)
    expect(renewed).toEqual(['source:gw', 'trigger:slow'])
    expect(second.get('trigger:slow')!.ariaLabel).toContain('1 of 5')
  })

  it('leaves an agent by the handle of the verdict, and by the general one where the verdict is gone', () => {
    const graph = chain()
    graph.nodes[4] = graphNode('agent', 'digger')
    const drawn = foldGraph(graph)
    const edges = flowEdges(drawn, layoutGraph(drawn, []), look(), new Map())
    const handle = (id: string) => edges.find((edge) => edge.id === id)?.sourceHandle
    expect(handle('hands_off:triage/investigate>digger')).toBe('verdict:investigate')
    expect(handle('hands_off:digger/unclear>triage')).toBe('out')
  })

  it('fades what is not lit', () => {
    const graph = chain()
    const drawn = foldGraph(graph)
    const lit = new Set(['source:gw', FEEDS])
    const nodes = byId(flowNodes(drawn, layoutGraph(drawn, []), look({ lit }), new Map()))
    expect(nodes.get('source:gw')!.className).toBe('')
    expect(nodes.get('agent:triage')!.className).toBe('faded')
    const edges = flowEdges(drawn, layoutGraph(drawn, []), look({ lit }), new Map())
    expect(edges.filter((edge) => edge.className === '').map((edge) => edge.id)).toEqual([FEEDS])
  })
})

describe('ways through the graph', () => {
  const graph = chain()
  const { boxes } = layoutGraph(foldGraph(graph), [])
  const go = (at: string, arrow: Parameters<typeof nextNode>[1]) => nextNode(at, arrow, boxes, graph.edges)

  it('go along edges to the right and to the left, and within a column up and down', () => {
    expect(go('trigger:errs', 'ArrowRight')).toBe('agent:triage')
    expect(go('agent:triage', 'ArrowRight')).toBe('agent:digger')
    expect(go('trigger:errs', 'ArrowLeft')).toBe('source:gw')
    const [upper, lower] = ['trigger:errs', 'trigger:slow'].sort((a, b) => boxes.get(a)!.y - boxes.get(b)!.y)
    expect(go(upper!, 'ArrowDown')).toBe(lower)
    expect(go(lower!, 'ArrowUp')).toBe(upper)
    expect(go('source:gw', 'ArrowLeft')).toBeNull()
  })

  it('hold all that is up- and downstream of a node, and nothing beside it', () => {
    const path = pathOf(['trigger:errs'], graph.edges)
    expect(path).toContain('source:gw')
    expect(path).toContain('agent:digger')
    expect(path).toContain('hands_off:digger/unclear>triage')
    expect(path).not.toContain('trigger:slow')
    expect(path).not.toContain('feeds:gw>slow')
    expect(pathOf([FEEDS], graph.edges)).toContain('agent:triage')
  })

  it('end in reasonable time on 500 nodes', () => {
    const large = manyParts({ sources: 100, triggers: 200, agents: 200 })
    const path = pathOf([large.nodes[0]!.id], large.edges)
    expect(path.size).toBeGreaterThan(3)
  })
})

describe('the outline', () => {
  const lines = (items: readonly OutlineItem[], depth = 0): string[] =>
    items.flatMap((item) => [
      `${'  '.repeat(depth)}${item.node.name}${item.again ? ' again' : ''}`,
      ...lines(item.children, depth + 1),
    ])

  it('nests source, trigger, agent and who takes over, each told in full once', () => {
    expect(lines(outlineOf(chain()))).toEqual([
      'gw',
      '  errs',
      '    triage',
      '      digger',
      '        triage again',
      '  slow',
      'runbook',
    ])
  })

  it('holds agents that only hand over to each other', () => {
    const ring = graphOf(
      [graphNode('agent', 'a'), graphNode('agent', 'b')],
      [
        graphEdge('hands_off', 'agent:a', 'agent:b', { verdict: 'v' }),
        graphEdge('hands_off', 'agent:b', 'agent:a', { verdict: 'v' }),
      ],
    )
    expect(lines(outlineOf(ring))).toEqual(['a', '  b', '    a again'])
  })

  it('has each node of a large graph in full exactly once', () => {
    const graph = manyParts({
      sources: 60,
      triggers: 105,
      agents: 84,
      servers: 30,
      skills: 9,
      destinations: 12,
    })
    const full: string[] = []
    const walk = (items: readonly OutlineItem[]) => {
      for (const item of items) {
        if (!item.again) full.push(item.node.id)
        walk(item.children)
      }
    }
    walk(outlineOf(graph))
    expect(full.sort()).toEqual(graph.nodes.map((node) => node.id).sort())
  })
})

describe('words and lines', () => {
  it('say all that a node shows', () => {
    const node = graphNode('agent', 'triage', {
      detail: 'providera/m1',
      state: 'off',
      health: 'attention',
      reason: 'no provider',
      today: 1,
      running: 1,
      queued: 2,
      spend_today_usd: 0.4,
      last_at: '2026-11-20T11:57:00.000Z',
      customized: true,
      shared_with: [{ id: 'p', name: 'Ops' }],
    })
    expect(describeNode(node, Date.parse(AT))).toBe(
      'agent triage, providera/m1, off, no provider, 1 running, 2 queued, 1 run today, last 3 min ago, $0.40 today, customized, shared with Ops',
    )
    // As everywhere else.
    expect(describeNode({ ...node, spend_today_usd: 0.004 }, Date.parse(AT))).toContain('<$0.01 today')
  })

  it('draw an edge that runs back below both nodes', () => {
    const ends = { from: { x: 500, y: 20 }, to: { x: 100, y: 40 }, below: false, lane: 200 }
    expect(edgeLine(ends).label).toEqual({ x: 300, y: 200 })
    expect(edgeLine({ ...ends, to: { x: 900, y: 40 } }).label).toEqual({ x: 700, y: 30 })
  })

  it('draw the label of a line that has a port of its own near it, and one that has not in the middle', () => {
    const ends = { from: { x: 500, y: 20 }, to: { x: 600, y: 220 }, lane: 300 }
    expect(edgeLine(ends).label).toEqual({ x: 550, y: 120 })
    const { x, y } = edgeLine({ ...ends, hasOwnPort: true }).label
    expect(x).toBeLessThan(540)
    expect(y).toBeLessThan(80)
  })

  it('draw labels of lines between the same two nodes clear of each other', () => {
    const at = { from: { x: 500, y: 20 }, to: { x: 600, y: 220 }, lane: 300 }
    const heights = (ends: Parameters<typeof edgeLine>[0], rows: number) =>
      [0, 1, 2].map((rank) => edgeLine({ ...ends, beside: { rank, of: 3, rows } }).label.y)
    expect(heights(at, 1)).toEqual([102, 120, 138])
    expect(heights(at, 2)).toEqual([84, 120, 156])
    // From ports of their own they are so far apart already, unless they say more than a row.
    const [top, middle, bottom] = heights({ ...at, hasOwnPort: true }, 1)
    expect(bottom! - top!).toBeLessThan(5)
    expect(middle).toBe((top! + bottom!) / 2)
    expect(new Set(heights({ ...at, hasOwnPort: true }, 2)).size).toBe(3)
    // Those that run back do so below each other.
    expect(heights({ ...at, to: { x: 100, y: 40 }, hasOwnPort: true }, 1)).toEqual([300, 318, 336])
  })

  it('draw handoffs between the same two agents so, in the order of their ports', () => {
    const graph = graphOf(
      [graphNode('agent', 'a', { verdicts: ['look', 'dig'] }), graphNode('agent', 'b')],
      ['dig', 'look'].map((verdict) =>
        graphEdge('hands_off', 'agent:a', 'agent:b', { id: verdict, verdict, cooldown: '1h' }),
      ),
    )
    const { edges, nodes } = foldGraph(graph)
    const found = besidesOf(edges, new Map(nodes.map((node) => [node.id, node])), NO_MARKS)
    expect(Object.fromEntries(found)).toEqual({
      look: { rank: 0, of: 2, rows: 1 },
      dig: { rank: 1, of: 2, rows: 1 },
    })
  })

  it('draw the label of a level line above it, where it does not hide it', () => {
    const ends = { from: { x: 500, y: 20 }, to: { x: 600, y: 22 }, lane: 200 }
    expect(edgeLine(ends).label).toEqual({ x: 550, y: 9 })
    const past = edgeLine({ ...ends, via: [{ left: 540, right: 560, y: 20 }] })
    expect(past.label).toEqual({ x: 520, y: 8 })
    // One of three rows, as where the verdict has no port any more, ends where one of a single row does.
    expect(edgeLine({ ...ends, beside: { rank: 0, of: 1, rows: 3 } }).label).toEqual({ x: 550, y: 9 - 14 })
  })

  it('count the rows of a label that stands alone, too', () => {
    const graph = graphOf(
      [graphNode('agent', 'a', { verdicts: ['look'] }), graphNode('agent', 'b')],
      [
        graphEdge('hands_off', 'agent:a', 'agent:b', {
          ...{ id: 'gone', verdict: 'page_someone_now', cooldown: '30m' },
        }),
      ],
    )
    const { edges, nodes } = foldGraph(graph)
    const found = besidesOf(edges, new Map(nodes.map((node) => [node.id, node])), NO_MARKS)
    expect(Object.fromEntries(found)).toEqual({ gone: { rank: 0, of: 1, rows: 2 } })
  })

  it('draw an edge past the nodes between its ends, never behind them', () => {
    const sized = { width: 208, height: 60 }
    const from = { x: 213, y: 30 }
    const to = { x: 587 + 296, y: 330 }
    const column = [20, 96, 172].map((y) => ({ x: 296, y, ...sized }))
    const ends = { x: 0, y: 0, ...sized }
    const target = { x: to.x + 5, y: 300, ...sized }
    const via = corridorsOf({ from, to }, [ends, ...column, target])
    // Through the gap that is nearest to its own curve.
    expect(via).toEqual([{ left: 290, right: 510, y: 86 }])
    expect(edgeLine({ from, to, lane: 0, via }).d).toBe(
      'M213,30 C251.5,30 251.5,86 290,86 L510,86 C696.5,86 696.5,330 883,330',
    )
    // Others through the same gap lie beside it, as many as there is room for.
    const taken = new Map<number, number[]>()
    const heights = Array.from({ length: 4 }, () => besideOthers(via, taken)[0]!.y)
    expect(heights).toEqual([86, 89, 83, 86])
    // Nothing in its way, and nodes beside it: its own curve.
    expect(corridorsOf({ from, to }, [ends, { ...column[0]!, y: -200 }, target])).toEqual([])
    // No gap is wide enough: round the nearer end.
    const wall = [40, 100, 160, 220, 280].map((y) => ({ x: 296, y, ...sized }))
    expect(corridorsOf({ from, to }, wall)[0]!.y).toBe(28)
  })
})

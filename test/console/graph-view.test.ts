/** How large a drawing is shown, when it is a list of flows instead, and how fast its sources say that events come. */
import { describe, expect, it } from 'vitest'
import { fitted, following, isOver, isSeen, placed, screensOf } from '../../console/graph/drawing/fit.ts'
import { FLOWS_FROM, flowsOf, flowsWith } from '../../console/graph/drawing/flows.ts'
import { foldGraph } from '../../console/graph/drawing/fold.ts'
import type { Box } from '../../console/graph/drawing/geometry.ts'
import { splitLoose } from '../../console/graph/drawing/loose.ts'
import { extentOf, layoutGraph } from '../../console/graph/layout.ts'
import { type Look, pacesOf, withLook } from '../../console/graph/live-pace.ts'
import { graphEdge, graphNode, graphOf, manyParts } from './graph-fixture.ts'

const box = (width: number, height: number): Box => ({ x: 0, y: 0, width, height })
const room = (width: number, height: number, top = 0) => ({ width, height, top })

describe('a drawing in its room', () => {
  it('is as large as it fits, from 0.85 to 1.25, so that a name of 13 px never falls under 11', () => {
    expect(fitted(box(208, 60), room(1_100, 700)).zoom).toBe(1.25)
    expect(fitted(box(1_068, 483), room(1_100, 700)).zoom).toBe(1)
    expect(fitted(box(1_056, 1_900), room(1_100, 700)).zoom).toBe(0.85)
    expect(13 * fitted(box(9_000, 11_600), room(390, 300)).zoom).toBeGreaterThanOrEqual(11)
  })

  it('is centred where it fits, and begins at the top left where it does not', () => {
    expect(fitted(box(208, 60), room(1_000, 600))).toEqual({ x: 370, y: 262.5, zoom: 1.25 })
    expect(fitted(box(1_056, 1_900), room(1_000, 700, 44))).toMatchObject({ y: 44 + 16 })
    expect(isOver(box(1_056, 1_900), room(1_100, 700))).toBe(true)
    expect(isOver(box(208, 60), room(1_100, 700))).toBe(false)
  })

  it('keeps in sight what is selected, and goes no further than its ends', () => {
    const content = box(1_000, 4_000)
    const inSight = (y: number) => {
      const view = fitted(content, room(1_000, 700), { x: 0, y, width: 208, height: 60 })
      return [y * view.zoom + view.y, (y + 60) * view.zoom + view.y]
    }
    for (const y of [0, 300, 1_900, 3_940]) expect(inSight(y).every((at) => at >= 16 && at <= 684)).toBe(true)
    expect(placed(content, room(1_000, 700), 1, { x: 0, y: 0, width: 208, height: 60 }).y).toBe(16)
  })

  it('gives up its margins before its beginning, and that for what is selected alone', () => {
    const node = (x: number) => ({ x, y: 0, width: 208, height: 60 })
    const view = (width: number, x: number) => fitted(box(1_096, 200), room(width, 700), node(x)).x
    // 931.6 pixels at 0.85.
    expect(view(940, 888)).toBeCloseTo((940 - 931.6) / 2)
    expect(view(900, 888)).toBeCloseTo(900 - 16 - 931.6)
    expect([view(900, 0), view(900, 592)]).toEqual([16, 16])
  })

  it('follows a moment to all that it lights, not to a part of it', () => {
    const content = box(4_000, 4_000)
    const node = (x: number, y: number) => ({ x, y, width: 208, height: 60 })
    const here = { x: 16, y: 16, zoom: 1 }
    const at = room(1_000, 700)
    expect(following(content, at, here, [node(0, 0), node(296, 76)])).toBeNull()
    expect(following(content, at, here, [])).toBeNull()
    const pair = [node(592, 0), node(888, 300)]
    const next = following(content, at, here, pair)!
    expect([next.zoom, ...pair.map((one) => isSeen(one, next, at))]).toEqual([1, true, true])
    // Smaller where only so both are seen, and at the last where they never are.
    const far = [node(0, 0), node(880, 0)]
    const smaller = following(content, at, here, far)!
    expect(smaller.zoom).toBeLessThan(1)
    expect(far.every((one) => isSeen(one, smaller, at))).toBe(true)
    const apart = [node(0, 0), node(3_000, 3_000)]
    const last = following(content, at, here, apart)!
    expect(apart.map((one) => isSeen(one, last, at))).toEqual([false, true])
  })

  it('is of many screens where a list of flows says more: 60 parts are drawn, 300 are listed', () => {
    const screens = (counts: Parameters<typeof manyParts>[0]) => {
      const graph = manyParts(counts)
      const { drawn } = splitLoose(graph, foldGraph(graph), [])
      return screensOf(extentOf(layoutGraph(drawn, []).boxes), room(1_184, 440), 900)
    }
    expect(screens({ sources: 12, triggers: 24, agents: 18, destinations: 6 })).toBeLessThanOrEqual(
      FLOWS_FROM,
    )
    expect(screens({ sources: 60, triggers: 140, agents: 90, destinations: 10 })).toBeGreaterThan(FLOWS_FROM)
  })
})

describe('flows', () => {
  const graph = () =>
    graphOf(
      [
        graphNode('source', 'gw'),
        graphNode('source', 'deploys'),
        graphNode('trigger', 'errs'),
        graphNode('trigger', 'failed'),
        graphNode('trigger', 'lonely'),
        graphNode('agent', 'triage', { verdicts: ['dig'] }),
        graphNode('agent', 'digger'),
        graphNode('agent', 'alone'),
        graphNode('mcp_server', 'logs'),
        graphNode('destination', 'hooks'),
        graphNode('skill', 'runbook'),
      ],
      [
        graphEdge('feeds', 'source:gw', 'trigger:errs'),
        graphEdge('feeds', 'source:deploys', 'trigger:errs'),
        graphEdge('feeds', 'source:deploys', 'trigger:failed'),
        graphEdge('wakes', 'trigger:errs', 'agent:triage'),
        graphEdge('hands_off', 'agent:triage', 'agent:digger', { verdict: 'dig' }),
        graphEdge('hands_off', 'agent:digger', 'agent:triage', { verdict: 'back' }),
        graphEdge('uses', 'agent:digger', 'mcp_server:logs'),
        graphEdge('tells', 'agent:digger', 'destination:hooks'),
        graphEdge('tells', 'agent:alone', 'destination:hooks'),
      ],
    )
  const names = (nodes: readonly { name: string }[]) => nodes.map(({ name }) => name).join(' ')

  it('are one for each trigger: its sources, whom it wakes and who takes over, whom they tell', () => {
    const [first] = flowsOf(graph())
    expect(first!.trigger!.name).toBe('errs')
    expect(names(first!.sources)).toBe('deploys gw')
    expect(names(first!.agents)).toBe('triage digger')
    expect(names(first!.destinations)).toBe('hooks')
    expect(first!.ids.has('mcp_server:logs')).toBe(true)
  })

  it('hold every part that is wired, and none that is not', () => {
    const all = graph()
    const held = new Set(flowsOf(all).flatMap(({ ids }) => [...ids]))
    expect(all.nodes.filter(({ id }) => !held.has(id)).map(({ name }) => name)).toEqual(['lonely', 'runbook'])
    expect(flowsOf(all).map(({ id }) => id)).toEqual(['trigger:errs', 'trigger:failed', 'agent:alone'])
  })

  it('come in the order in which their triggers fired, the last first', () => {
    const ids = flowsOf(graph(), { 'trigger:failed': 9, 'trigger:errs': 3 }).map(({ id }) => id)
    expect(ids.slice(0, 2)).toEqual(['trigger:failed', 'trigger:errs'])
  })

  it('are found by any of their names, all words at once', () => {
    const flows = flowsOf(graph())
    expect(flowsWith(flows, 'digg').map(({ id }) => id)).toEqual(['trigger:errs'])
    expect(flowsWith(flows, 'deploys errs')).toHaveLength(1)
    expect(flowsWith(flows, 'deploys nothing')).toEqual([])
    expect(flowsWith(flows, ' ')).toHaveLength(3)
  })

  it('of 300 parts are made in a few milliseconds', () => {
    const flows = flowsOf(manyParts({ sources: 60, triggers: 140, agents: 90, servers: 8 }))
    expect(flows).toHaveLength(140)
  })
})

describe('the pace of a source', () => {
  const START = Date.parse('2026-11-20T12:00:00Z')
  const looks = (counts: readonly number[]): Look[] =>
    counts.reduce<Look[]>(
      (known, n, i) => withLook(known, { at: START + i * 2_000, counts: new Map([['source:gw', n]]) }),
      [],
    )

  it('is told once some seconds were seen, a minute at the rate of those', () => {
    expect(pacesOf(looks([5, 6])).size).toBe(0)
    // One in two seconds.
    expect(pacesOf(looks([0, 1, 2, 3, 4, 5])).get('source:gw')).toMatchObject({ perMinute: 30 })
  })

  it('is of the last minute, and its steps add up to what came', () => {
    const counts = Array.from({ length: 60 }, (_, i) => Math.min(i, 20))
    const pace = pacesOf(looks(counts)).get('source:gw')!
    expect(pace.perMinute).toBe(0)
    expect(pace.spark.reduce((sum, n) => sum + n, 0)).toBe(20)
  })

  it('begins anew where counts do, at midnight', () => {
    const after = looks([100, 110, 120, 1])
    expect(after).toHaveLength(1)
    expect(pacesOf(after).size).toBe(0)
  })
})

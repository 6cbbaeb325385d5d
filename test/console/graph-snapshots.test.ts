/**
 * How a graph looks, pinned: pictures of an empty and a small one in both schemes, and where each of 300
 * nodes is. Look at test/console/snapshots/*.svg when one changes; `npx vitest run -u` accepts it.
 */
import { describe, expect, it } from 'vitest'
import { foldGraph } from '../../console/graph/drawing/fold.ts'
import { splitLoose } from '../../console/graph/drawing/loose.ts'
import { layoutGraph } from '../../console/graph/layout.ts'
import { svgOf } from '../../console/graph/picture/svg.ts'
import { wholePicture } from '../../console/graph/picture/whole.ts'
import { NO_MARKS } from '../../console/graph/types.ts'
import type { ProjectGraph } from '../../schemas/types.ts'
import { AT, graphEdge, graphNode, graphOf, manyParts } from './graph-fixture.ts'

const SCHEMES = ['light', 'dark'] as const
const minutesAgo = (minutes: number) => new Date(Date.parse(AT) - minutes * 60_000).toISOString()

const empty = graphOf([], [])
const small = graphOf(
  [
    graphNode('source', 'gateway', { detail: 'webhook', today: 412, last_at: minutesAgo(1) }),
    graphNode('source', 'deploys', { detail: 'webhook', state: 'paused', today: 0 }),
    graphNode('trigger', 'gateway-errors', {
      detail: 'When the number of events is above 5 within 5m on gateway',
      today: 3,
      last_at: minutesAgo(4),
    }),
    graphNode('agent', 'triage', {
      detail: 'model-a',
      verdicts: ['investigate', 'ignore'],
      today: 3,
      running: 1,
      spend_today_usd: 0.12,
      last_at: minutesAgo(4),
    }),
    graphNode('agent', 'digger', {
      customized: true,
      health: 'attention',
      reason: 'its last run failed: no provider',
    }),
    graphNode('agent', 'gone', { state: 'missing', health: 'attention', reason: 'it is not there' }),
    graphNode('mcp_server', 'desk', { detail: 'https://mcp.example/' }),
    graphNode('skill', 'runbook', { shared_with: [{ id: 'prj_2', name: 'Ops' }] }),
  ],
  [
    graphEdge('feeds', 'source:gateway', 'trigger:gateway-errors'),
    graphEdge('feeds', 'source:deploys', 'trigger:gateway-errors'),
    graphEdge('wakes', 'trigger:gateway-errors', 'agent:triage'),
    graphEdge('wakes', 'trigger:gateway-errors', 'agent:gone', { enabled: false }),
    graphEdge('hands_off', 'agent:triage', 'agent:digger', { verdict: 'investigate', cooldown: '30m' }),
    graphEdge('uses', 'agent:digger', 'mcp_server:desk'),
  ],
)

function pictureOf(graph: ProjectGraph, scheme: 'light' | 'dark'): string {
  const split = splitLoose(graph, foldGraph(graph), graph.positions)
  const layout = layoutGraph(split.drawn, graph.positions)
  const { svg } = svgOf({
    ...wholePicture({ ...split, layout }),
    marks: NO_MARKS,
    title: `Graph of ${graph.project.name}`,
    description: 'Pinned for tests',
    scheme,
    now: Date.parse(AT),
  })
  return svg.replaceAll('><', '>\n<')
}

describe('a graph looks as it did', () => {
  it.each(
    SCHEMES.flatMap((scheme) => [['empty', empty, scheme] as const, ['small', small, scheme] as const]),
  )('%s, %#', async (name, graph, scheme) => {
    await expect(pictureOf(graph, scheme)).toMatchFileSnapshot(`snapshots/${name}-${scheme}.svg`)
  })

  it('with 300 nodes, each at its place', async () => {
    const graph = manyParts({
      sources: 40,
      triggers: 120,
      agents: 100,
      servers: 20,
      skills: 10,
      destinations: 10,
    })
    const { boxes } = layoutGraph(foldGraph(graph), graph.positions)
    const places = [...boxes]
      .map(([id, { x, y, width, height }]) => `${id} ${[x, y, width, height].map(Math.round).join(' ')}`)
      .sort()
    expect(places.length).toBe(270)
    await expect(`${places.join('\n')}\n`).toMatchFileSnapshot('snapshots/300-places.txt')
  })
})

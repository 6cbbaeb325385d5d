/** The graph of a project as text. */
import { describe, expect, it } from 'vitest'
import { graphOutline } from '../../../api/cli/graph-outline.ts'
import { edgeOf } from '../../../engine/model/graph.ts'
import type { GraphNode, ProjectGraph } from '../../../schemas/types.ts'

const node = (kind: GraphNode['kind'], name: string, more: Partial<GraphNode> = {}): GraphNode => ({
  id: `${kind}:${name}`,
  kind,
  name,
  detail: '',
  state: 'active',
  health: 'ok',
  reason: null,
  customized: false,
  shared_with: [],
  last_at: null,
  today: null,
  running: 0,
  queued: 0,
  spend_today_usd: null,
  last_verdict: null,
  verdicts: [],
  ...more,
})
const graph = (nodes: GraphNode[], edges: ProjectGraph['edges'] = []): ProjectGraph => ({
  project: { id: 'uc_1', name: 'Hosts', status: 'active', version: 1 },
  version: 1,
  at: '2026-11-20T12:00:00.000Z',
  nodes,
  edges,
  positions: [],
  source_of_truth: 'instance',
})

describe('the outline of a graph', () => {
  it('goes from each source on, and tells each node once', () => {
    const rows = graph(
      [
        node('source', 'hosts', { detail: 'webhook', today: 4, last_at: '2026-11-20T11:00:00.000Z' }),
        node('trigger', 'cpu', { today: 1 }),
        node('agent', 'first', { running: 1, queued: 2, spend_today_usd: 0.5, customized: true }),
        node('agent', 'digger', { shared_with: [{ id: 'uc_2', name: 'Web' }] }),
        node('agent', 'alone', { state: 'off' }),
        node('mcp_server', 'shell'),
        node('skill', 'restart', { detail: 'How to restart' }),
        node('destination', 'webhook:sub_1', { name: 'https://a.test/…', reason: 'gone' }),
      ],
      [
        edgeOf('feeds', 'a', 'source:hosts', 'trigger:cpu'),
        edgeOf('wakes', 'b', 'trigger:cpu', 'agent:first'),
        edgeOf('wakes', 'c', 'trigger:cpu', 'agent:digger', { enabled: false }),
        edgeOf('hands_off', 'd', 'agent:first', 'agent:digger', { verdict: 'escalate', cooldown: '1h' }),
        edgeOf('hands_off', 'e', 'agent:digger', 'agent:first', { verdict: 'back', cooldown: '1h' }),
        edgeOf('uses', 'f', 'agent:digger', 'mcp_server:shell'),
        edgeOf('tells', 'g', 'trigger:cpu', 'destination:webhook:sub_1'),
      ],
    )
    expect(graphOutline(rows)).toEqual([
      'Hosts (uc_1) is active',
      'source hosts; webhook; 4 today; last 2026-11-20T11:00:00.000Z',
      '> trigger cpu; 1 today',
      '  > wakes agent first; edited by hand; 1 running; 2 waiting; $0.5000 today',
      '    > on escalate, at most once every 1h, hands over to agent digger; shared with Web',
      '      > on back, at most once every 1h, hands over to agent first, as above',
      '      - uses MCP server shell',
      '  > would wake (off) agent digger, as above',
      '  - tells destination https://a.test/…; look at it: gone',
      'agent alone; off',
      'skill restart; How to restart',
    ])
  })

  it('says that nothing is in it, and prints no control characters', () => {
    expect(graphOutline(graph([]))).toEqual(['Hosts (uc_1) is active', 'nothing is in it yet'])
    expect(graphOutline(graph([node('skill', 'a', { detail: 'x\u001b[2Jy' })])).join('')).not.toContain(
      '\u001b',
    )
  })
})

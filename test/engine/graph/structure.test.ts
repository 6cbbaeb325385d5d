/** The structure of a project's graph, from documents alone. */
import { describe, expect, it } from 'vitest'
import { type GraphWorld, structureOf } from '../../../engine/model/graph.ts'

import type { ProjectDoc } from '../../../engine/model/project.ts'
import { check } from '../../../schemas/index.ts'

const PARTS: Record<string, Record<string, unknown>> = {
  'source:hosts': { connector: 'webhook' },
  'source:deploys': { connector: 'webhook', paused: true },
  'trigger:cpu': { sources: ['hosts'], condition: { event: 'any' }, description: 'a host is hot' },
  'agent:first-look': {
    prompt: 'Look.',
    model: 'model-a',
    mcp_servers: ['shell'],
    verdicts: [{ verdict: 'escalate' }, { verdict: 'ok' }],
    webhook_url: 'https://hooks.test/in/secret-part?token=1',
    slack_channel: 'C0123',
  },
  'agent:digger': { prompt: 'Dig.' },
  'mcp_server:shell': { url: 'https://user:pw@tools.test/mcp?key=1' },
  'skill:restart': { description: 'How to restart a host', body: '…' },
}

const DOC: ProjectDoc = {
  name: 'Hosts',
  template: 'custom',
  uses: {
    source: { hosts: {}, deploys: {} },
    trigger: { cpu: { owned: true } },
    agent: { 'first-look': {}, digger: {} },
    mcp_server: { shell: {} },
    skill: { restart: {} },
  },
  wakes: { cpu: { 'first-look': { enabled: true } } },
  handoffs: { 'first-look': { escalate: { digger: { cooldown: '1h' } } } },
}

function worldWith(more: Partial<GraphWorld> = {}, parts = PARTS): GraphWorld {
  return {
    id: 'uc_1',
    doc: DOC,
    part: (kind, name) => parts[`${kind}:${name}`],
    sharedWith: () => [],
    ownership: [],
    destinations: [],
    ...more,
  }
}

const node = (world: GraphWorld, id: string) => structureOf(world).nodes.find((one) => one.id === id)
const edge = (world: GraphWorld, id: string) => structureOf(world).edges.find((one) => one.id === id)

describe('structureOf', () => {
  it('has the parts, then the destinations, by kind and name, and the edges by id', () => {
    const { nodes, edges } = structureOf(worldWith())
    expect(nodes.map(({ id }) => id)).toEqual([
      'source:deploys',
      'source:hosts',
      'trigger:cpu',
      'agent:digger',
      'agent:first-look',
      'mcp_server:shell',
      'skill:restart',
      'destination:slack:C0123',
      'destination:write_back:first-look',
    ])
    expect(edges.map(({ id }) => id)).toEqual([
      'feeds:hosts>cpu',
      'hands_off:first-look/escalate>digger',
      'tells:agent:first-look>slack:C0123',
      'tells:agent:first-look>write_back:first-look',
      'uses:first-look>shell',
      'wakes:cpu>first-look',
    ])
    for (const one of nodes) expect(check('graph-node.json', one)).toBeNull()
    for (const one of edges) expect(check('graph-edge.json', one)).toBeNull()
  })

  it.each([
    [{ github: 'main', github_writes: ['comment', 'check'] }, 'findings, as comments and checks'],
    [{ github: 'main', github_writes: ['check'] }, 'findings, as checks'],
    [{ github: 'main', github_writes: [] }, null],
    [{ github: 'main' }, null],
    [{ github: '', github_writes: ['check'] }, null],
  ])('of an agent with %j has GitHub as its destination: %j', (fields, detail) => {
    const world = worldWith({}, { ...PARTS, 'agent:digger': { prompt: 'Dig.', ...fields } })
    const found = node(world, 'destination:github:digger')
    expect(found ?? null).toEqual(
      detail && expect.objectContaining({ name: 'GitHub, as main', detail, state: 'active' }),
    )
    expect(edge(world, 'tells:agent:digger>github:digger')?.to ?? null).toBe(
      detail && 'destination:github:digger',
    )
  })

  it('joins nodes that are there by every edge', () => {
    const { nodes, edges } = structureOf(worldWith())
    const ids = new Set(nodes.map(({ id }) => id))
    for (const { from, to } of edges) expect([ids.has(from), ids.has(to)]).toEqual([true, true])
  })

  it('is the same whatever order the documents are in', () => {
    const turned = (value: unknown): unknown =>
      typeof value === 'object' && value !== null && !Array.isArray(value)
        ? Object.fromEntries(
            Object.entries(value)
              .reverse()
              .map(([key, inner]) => [key, turned(inner)]),
          )
        : value
    expect(structureOf(worldWith({ doc: turned(DOC) as ProjectDoc }))).toEqual(structureOf(worldWith()))
  })

  it('says in a line what a part is', () => {
    const details = Object.fromEntries(structureOf(worldWith()).nodes.map(({ id, detail }) => [id, detail]))
    expect(details).toMatchObject({
      'source:hosts': 'webhook',
      'trigger:cpu': 'When a host is hot',
      'agent:first-look': 'model-a',
      'agent:digger': 'default model',
      'skill:restart': 'How to restart a host',
    })
  })

  it('shows no credential of an address', () => {
    const text = JSON.stringify(structureOf(worldWith()))
    expect(node(worldWith(), 'mcp_server:shell')!.detail).toBe('https://tools.test/mcp')
    expect(node(worldWith(), 'destination:write_back:first-look')!.name).toBe('https://hooks.test/in/se…')
    for (const secret of ['pw@', 'key=1', 'secret-part', 'token=1']) expect(text).not.toContain(secret)
  })

  it('keeps the verdicts of an agent in its order, and the handoff with its cooldown', () => {
    expect(node(worldWith(), 'agent:first-look')!.verdicts).toEqual(['escalate', 'ok'])
    expect(edge(worldWith(), 'hands_off:first-look/escalate>digger')).toMatchObject({
      verdict: 'escalate',
      cooldown: '1h',
      from: 'agent:first-look',
      to: 'agent:digger',
    })
    const bare = { 'first-look': { escalate: { digger: {} as { cooldown: string } } } }
    const old = worldWith({ doc: { ...DOC, handoffs: bare } })
    expect(edge(old, 'hands_off:first-look/escalate>digger')!.cooldown).toBe('30m')
  })

  it('watches all sources with a trigger that names none', () => {
    const world = worldWith({}, { ...PARTS, 'trigger:cpu': { condition: { event: 'any' }, sources: [] } })
    expect(edge(world, 'feeds:deploys>cpu')).toMatchObject({ all: true, from: 'source:deploys' })
    expect(edge(world, 'feeds:hosts>cpu')).toMatchObject({ all: true })
    expect(edge(worldWith(), 'feeds:hosts>cpu')).toMatchObject({ all: false })
  })

  it('is paused, off or missing', () => {
    expect(node(worldWith(), 'source:deploys')!.state).toBe('paused')
    expect(node(worldWith(), 'agent:digger')!.state).toBe('active')
    const off = worldWith({ doc: { ...DOC, wakes: { cpu: { 'first-look': { enabled: false } } } } })
    expect(edge(off, 'wakes:cpu>first-look')!.enabled).toBe(false)
    expect(node(off, 'agent:first-look')!.state).toBe('off')
    // Whom nobody wakes hands nothing over.
    expect(node(off, 'agent:digger')!.state).toBe('off')
  })

  it('shows what the wiring and the plan name and is not there', () => {
    const { 'agent:digger': _gone, ...left } = PARTS
    const world = worldWith({ ownership: [{ kind: 'skill', name: 'lost', state: 'missing' }] }, left)
    expect(node(world, 'agent:digger')).toMatchObject({ state: 'missing', health: 'attention' })
    expect(node(world, 'skill:lost')).toMatchObject({
      state: 'missing',
      reason: 'it was deleted; Repair makes it again as its template planned it',
    })
  })

  it('names a source that a trigger watches and the project does not use', () => {
    const world = worldWith(
      {},
      { ...PARTS, 'trigger:cpu': { condition: { event: 'any' }, sources: ['gone'] } },
    )
    expect(node(world, 'source:gone')!.state).toBe('missing')
    expect(edge(world, 'feeds:gone>cpu')).toBeDefined()
  })

  it('says what a hand edited and who else uses it', () => {
    const world = worldWith({
      ownership: [{ kind: 'trigger', name: 'cpu', state: 'customized' }],
      sharedWith: (kind) =>
        kind === 'source'
          ? [
              { id: 'uc_3', name: 'Web' },
              { id: 'uc_2', name: 'Disks' },
            ]
          : [],
    })
    expect(node(world, 'trigger:cpu')!.customized).toBe(true)
    expect(node(world, 'source:hosts')!.shared_with.map(({ name }) => name)).toEqual(['Disks', 'Web'])
  })

  it('leads from a trigger, or from each one, to a subscribed address', () => {
    const parts = { ...PARTS, 'trigger:disk': { sources: ['hosts'], condition: { event: 'any' } } }
    const uses = { ...DOC.uses, trigger: { cpu: {}, disk: {} } }
    const world = worldWith(
      {
        doc: { ...DOC, uses },
        destinations: [
          { id: 'webhook:sub_1', name: 'https://a.test/…', trigger: 'cpu', disabled: false },
          { id: 'webhook:sub_2', name: 'https://b.test/…', trigger: null, disabled: true },
        ],
      },
      parts,
    )
    const told = structureOf(world).edges.filter(({ to }) => to.startsWith('destination:webhook:'))
    expect(told.map(({ from, to }) => `${from} ${to}`)).toEqual([
      'trigger:cpu destination:webhook:sub_1',
      'trigger:cpu destination:webhook:sub_2',
      'trigger:disk destination:webhook:sub_2',
    ])
    expect(node(world, 'destination:webhook:sub_2')).toMatchObject({ state: 'off', health: 'attention' })
  })

  it('has nothing of an empty project', () => {
    expect(structureOf(worldWith({ doc: { name: 'Empty', template: 'custom', uses: {} } }))).toEqual({
      nodes: [],
      edges: [],
    })
  })
})

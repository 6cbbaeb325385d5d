import { describe, expect, it, onTestFinished } from 'vitest'
import { countTools, Pins, type SeenTool } from '../../../../engine/agents/mcp-pins.ts'
import { connector } from '../../../../engine/agents/runs/runner.ts'
import { fail } from '../../../../engine/errors.ts'
import { fetchOver } from '../../../../engine/net/fetch.ts'
import { client } from '../../net/egress/setup.ts'
import { noApps } from '../../net/no-apps.ts'
import { openTestStore } from '../../open-test-store.ts'
import { ref, server } from './setup.ts'

const seen = (tool: string, hash = 'a', more: Partial<SeenTool> = {}): SeenTool => ({
  tool,
  hash,
  description: `[desk] ${tool} ${hash}`,
  input: { type: 'object' },
  readOnly: false,
  ...more,
})

function pinned() {
  const { store, clock } = openTestStore()
  const pins = new Pins(store, clock)
  const states = (...tools: SeenTool[]) =>
    Object.fromEntries(pins.see('desk', tools).map(({ name, state }) => [name, state]))
  return { pins, states, counts: () => countTools(store.db).get('desk') }
}

describe('tools of a server', () => {
  it('are pinned as they are first seen, and gone when they are no longer listed', () => {
    const { pins, states, counts } = pinned()
    expect(states(seen('x'), seen('y'))).toEqual({ x: 'new', y: 'new' })
    expect(states(seen('x'))).toEqual({ x: 'pinned', y: 'gone' })
    expect(counts()).toEqual({ tools: 1, changed: 0 })
    expect(states(seen('x'), seen('y'))).toEqual({ x: 'pinned', y: 'pinned' })
    expect([...pins.of('desk')]).toEqual([
      ['x', 'a'],
      ['y', 'a'],
    ])
    expect(pins.list('other')).toEqual([])
  })

  it('that say something else stay as pinned until that is approved', () => {
    const { pins, states, counts } = pinned()
    states(seen('x'))
    expect(states(seen('x', 'b', { readOnly: true }))).toEqual({ x: 'changed' })
    expect(counts()).toEqual({ tools: 1, changed: 1 })
    expect(pins.of('desk').get('x')).toBe('a')
    expect(pins.list('desk')).toMatchObject([
      {
        description: 'x a',
        read_only: false,
        hash: 'a',
        change: { description: 'x b', read_only: true, hash: 'b' },
        approved_by: null,
      },
    ])
    expect(pins.approve('desk', 'x', 'b', 'ada')).toMatchObject({
      state: 'pinned',
      description: 'x b',
      read_only: true,
      hash: 'b',
      change: null,
      approved_by: 'ada',
    })
    expect(states(seen('x', 'b'))).toEqual({ x: 'pinned' })
    expect(states(seen('x', 'a'))).toEqual({ x: 'changed' })
  })

  it('that say again what was pinned have no change any more', () => {
    const { pins, states } = pinned()
    states(seen('x'))
    states(seen('x', 'b'))
    expect(states(seen('x'))).toEqual({ x: 'pinned' })
    expect(() => pins.approve('desk', 'x', undefined, 'ada')).toThrow('has no change to approve')
  })

  it('that left and came back otherwise are changed', () => {
    const { states } = pinned()
    states(seen('x'))
    states()
    expect(states(seen('x', 'b'))).toEqual({ x: 'changed' })
  })

  it('are approved as they were looked at, and not as they are by then', () => {
    const { pins, states } = pinned()
    states(seen('x'))
    states(seen('x', 'b'))
    states(seen('x', 'c'))
    expect(() => pins.approve('desk', 'x', 'b', 'ada')).toThrow('has changed again')
    expect(() => pins.approve('desk', 'z', undefined, 'ada')).toThrow('desk has no tool named z')
    expect(pins.approve('desk', 'x', undefined, 'ada')).toMatchObject({ hash: 'c' })
  })

  it('that go and are others each time are not kept for ever', () => {
    const { pins, states } = pinned()
    for (let round = 0; round < 6; round++)
      states(...Array.from({ length: 150 }, (_, i) => seen(`t${round}-${i}`)))
    expect(pins.list('desk')).toHaveLength(650)
  })
})

it('a run goes on with the tools of a server that is deleted while it connects', async () => {
  const egress = client()
  const desk = ref('desk', await server([{ name: 'find', annotations: { readOnlyHint: true } }]))
  const connect = connector({
    calls: {
      mcpServersToConnect: async () => ({ servers: [desk], skipped: [], pins: new Map() }),
      seenMcpTools: async () => fail('not_found', 'no MCP server is named desk'),
    },
    http: fetchOver(egress, { audience: 'operator', timeoutMs: 65_000, maxResponseBytes: 1 << 24 }),
    ...{ tokens: noApps, clock: egress.time, timers: egress.time },
  })
  const external = await connect(['desk'], new AbortController().signal, (turn) => turn)
  onTestFinished(() => external.close())
  expect(external.tools.map(({ name }) => name)).toEqual(['desk__find'])
})

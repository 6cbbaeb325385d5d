import { describe, expect, it } from 'vitest'
import { decide, type ToolPolicy } from '../../../../engine/agents/mcp-client.ts'
import { offered } from '../../../../engine/agents/mcp-types.ts'
import { tool } from './setup.ts'

const reading = tool({ name: 'desk__find', tool: 'find', readOnly: true })
const writing = tool()
const allowed = { allowed: true }
const may = (of: typeof writing, policy: ToolPolicy[], args: Record<string, unknown> = {}, outside = true) =>
  decide(of, args, policy, outside)

describe('a read-only tool', () => {
  it('may be called where the agent lists none of its server', () => {
    expect(may(reading, [])).toEqual(allowed)
    expect(may(reading, [{ server: 'other', tool: 'x' }])).toEqual(allowed)
  })

  it('may not where the agent lists others of its server, unless by name or by *', () => {
    expect(may(reading, [{ server: 'desk', tool: 'close' }])).toEqual({
      allowed: false,
      reason: 'desk__find is not among the tools this agent lists of its server',
    })
    expect(may(reading, [{ server: 'desk', tool: 'find' }])).toEqual(allowed)
    expect(may(reading, [{ server: 'desk', tool: '*' }])).toEqual(allowed)
  })
})

describe('a tool that may write', () => {
  it('may be called only where the agent lists it by name', () => {
    expect(may(writing, [{ server: 'desk', tool: 'close' }])).toEqual(allowed)
    for (const policy of [[], [{ server: 'desk', tool: '*' }], [{ server: 'other', tool: 'close' }]])
      expect(may(writing, policy)).toEqual({
        allowed: false,
        reason:
          "desk__close may change things and this run has read text from outside; this agent's policy does not list it",
      })
  })

  it('is refused before anything from outside was read, too', () => {
    expect(may(writing, [], {}, false)).toEqual({
      allowed: false,
      reason: "desk__close may change things; this agent's policy does not list it",
    })
  })

  it.each<[string, unknown, boolean]>([
    ['SHOP-\\d+', 'SHOP-12', true],
    ['SHOP-\\d+', 'SHOP-12 and more', false],
    ['SHOP-\\d+', 'x SHOP-12', false],
    ['SHOP-\\d+', 'SHOP-12\n', false],
    ['SHOP-\\d+$', 'SHOP-12\nrm', false],
    ['a|b', 'b', true],
    ['a|b', 'ab', false],
    ['\\d{1,3}', 12, true],
    ['\\d{1,3}', 1_234, false],
    ['true', true, true],
    ['null', null, true],
    ['\\["a","b"\\]', ['a', 'b'], true],
    ['.*', { a: 1 }, true],
    ['.*', undefined, false],
    ['', '', true],
    ['a*', 'a'.repeat(2_000_000), false],
  ])('with the pattern %s for its argument: %j is allowed: %s', (pattern, value, is) => {
    const policy = [{ server: 'desk', tool: 'close', arguments: { id: pattern } }]
    expect(may(writing, policy, { id: value, other: 'free' }).allowed).toBe(is)
  })

  it('may be called where one of several lines holds', () => {
    const line = (id: string) => ({ server: 'desk', tool: 'close', arguments: { id } })
    expect(may(writing, [line('A'), line('B')], { id: 'B' })).toEqual(allowed)
    expect(may(writing, [line('A'), line('B')], { id: 'C' })).toEqual({
      allowed: false,
      reason: "desk__close: the argument id is not one that this agent's policy allows (A)",
    })
    expect(may(writing, [line('A')])).toMatchObject({
      reason: "desk__close needs the argument id: this agent's policy limits it",
    })
  })

  it('is not fooled by what every object has', () => {
    const policy = [{ server: 'desk', tool: 'close', arguments: { constructor: '.*' } }]
    expect(may(writing, policy, {}).allowed).toBe(false)
  })

  it('is refused where its pattern is none', () => {
    expect(
      may(writing, [{ server: 'desk', tool: 'close', arguments: { id: '(' } }], { id: '(' }).allowed,
    ).toBe(false)
  })
})

describe('a tool that has changed', () => {
  it('is neither allowed nor offered, whatever the policy says', () => {
    const changed = { ...reading, changed: true }
    expect(may(changed, [{ server: 'desk', tool: 'find' }])).toMatchObject({
      allowed: false,
      reason: expect.stringContaining('approve the change'),
    })
    expect(offered([changed], [{ server: 'desk', tool: 'find' }])).toEqual([])
  })
})

describe('what is offered', () => {
  it('is what some call may be allowed of', () => {
    const all = [reading, writing]
    expect(offered(all, [])).toEqual([reading])
    expect(offered(all, [{ server: 'desk', tool: '*' }])).toEqual([reading])
    expect(offered(all, [{ server: 'desk', tool: 'close', arguments: { id: 'A' } }])).toEqual([writing])
    const rows = ['*', 'close'].map((tool) => ({ server: 'desk', tool }))
    expect(offered(all, rows), 'those that are listed by name are first').toEqual([writing, reading])
  })
})

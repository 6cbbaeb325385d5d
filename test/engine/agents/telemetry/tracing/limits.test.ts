/** What an attribute can hold, and what is left out so that it fits. */
import { describe, expect, it } from 'vitest'
import {
  ATTRIBUTE_MAX,
  attributesOf,
  cleaner,
  definitionsOf,
  inputMessages,
} from '../../../../../engine/agents/telemetry/spans.ts'
import { parseTraceHeaders } from '../../../../../engine/agents/telemetry/tracing-settings.ts'
import { scrubbed } from '../../../../../engine/net/redact.ts'

const tool = (n: number, description: string, size: number) => ({
  name: `tool_${n}`,
  description,
  input: { type: 'object', description: 'x'.repeat(size) },
})
const names = (json: string | null) => (JSON.parse(json!) as Record<string, unknown>[]).map(Object.keys)

describe('an attribute', () => {
  it('is left out where it is empty, and cut at 32,768 characters without halving one', () => {
    const kept = attributesOf({ a: '', b: null, c: undefined, d: [], e: 0, f: false, g: Number.NaN })
    expect(kept).toEqual({ e: 0, f: false })
    const { long } = attributesOf({ long: `${'a'.repeat(ATTRIBUTE_MAX - 1)}\u{1f600}tail` })
    expect(long).toBe('a'.repeat(ATTRIBUTE_MAX - 1))
  })

  it('has no secret in a field named like one, and keeps what is not', () => {
    expect(
      scrubbed({ token: 'abc', 'x-api-key': 1, db_password: 'p', tokens: 12, nested: [{ secret: 's' }] }),
    ).toEqual({
      token: '[redacted]',
      'x-api-key': '[redacted]',
      db_password: '[redacted]',
      tokens: 12,
      nested: [{ secret: '[redacted]' }],
    })
  })
})

describe('definitions', () => {
  it('lose schemas, then descriptions, and stay JSON', () => {
    expect(names(definitionsOf([tool(1, 'Reads.', 10)]))).toEqual([
      ['type', 'name', 'description', 'parameters'],
    ])
    expect(names(definitionsOf([tool(1, 'Reads.', ATTRIBUTE_MAX)]))).toEqual([
      ['type', 'name', 'description'],
    ])
    expect(names(definitionsOf([tool(1, 'R'.repeat(ATTRIBUTE_MAX), 10)]))).toEqual([['type', 'name']])
    const many = definitionsOf(Array.from({ length: 3_000 }, (_, n) => tool(n, 'Reads.', 10)))!
    expect(many.length).toBeLessThanOrEqual(ATTRIBUTE_MAX)
    expect(names(many).length).toBeGreaterThan(500)
    expect(definitionsOf([])).toBeNull()
  })
})

describe('a conversation', () => {
  it('that is long has its texts cut, then loses its middle, and stays JSON', () => {
    const said = (n: number, size: number) => ({ role: 'user' as const, text: `${n} ${'x'.repeat(size)}` })
    const read = (count: number, size: number) => {
      const all = Array.from({ length: count }, (_, n) => said(n, size))
      const text = inputMessages('Look.', all, cleaner())
      expect(text.length).toBeLessThanOrEqual(ATTRIBUTE_MAX)
      return (JSON.parse(text) as { parts: { content: string }[] }[]).map(({ parts }) => parts[0]!.content)
    }
    expect(read(3, 20_000).map((text) => text.length)).toEqual([5, 8_193, 8_193, 8_193])
    const cut = read(1_000, 500)
    expect(cut[0]).toBe('Look.')
    expect(cut[1]).toMatch(/^0 x/)
    expect(cut.at(-1)).toMatch(/^999 x/)
    expect(cut.length).toBeLessThan(1_000)
  })
})

describe('headers', () => {
  it.each([
    ['a=1, B = x=y ', { a: '1', b: 'x=y' }],
    ['a=%zz', { a: '%zz' }],
    ['a=1,a=2', 'must not set a twice'],
    ['host=x', 'must not set host: that is ours'],
    ['a=', 'must give a a value of visible ASCII characters'],
    ['a=%0D%0Ax: y', 'must give a a value of visible ASCII characters'],
    ['', 'must be name=value pairs separated by commas'],
  ])('of %j are %j', (text, expected) => {
    expect(parseTraceHeaders(text)).toEqual(expected)
  })
})

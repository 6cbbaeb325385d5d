import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { draftOf, NEW_AGENT, writeOf } from '../../console/lib/agent-form.ts'
import { wordDiff } from '../../console/lib/word-diff.ts'
import type { Agent } from '../../schemas/types.ts'

describe('the difference of two texts', () => {
  it('is told word by word', () => {
    expect(wordDiff('Finds open tickets.', 'Finds all open tickets. Sends them.')).toEqual([
      { mark: 'same', text: 'Finds ' },
      { mark: 'added', text: 'all ' },
      { mark: 'same', text: 'open tickets.' },
      { mark: 'added', text: ' Sends them.' },
    ])
    expect(wordDiff('', 'a')).toEqual([{ mark: 'added', text: 'a' }])
    expect(wordDiff('a b', 'a b')).toEqual([{ mark: 'same', text: 'a b' }])
  })

  it('has both texts in it, whatever they are', () => {
    const text = fc.array(fc.constantFrom('a', 'b', ' ', '\n', '  ')).map((parts) => parts.join(''))
    const without = (mark: string, from: string, to: string) =>
      wordDiff(from, to)
        .filter((part) => part.mark !== mark)
        .map((part) => part.text)
        .join('')
    fc.assert(
      fc.property(text, text, (from, to) => {
        expect(without('added', from, to)).toBe(from)
        expect(without('removed', from, to)).toBe(to)
      }),
    )
  })

  it('of texts too long to compare is the one after the other', () => {
    const [from, to] = ['a '.repeat(2_000), 'b '.repeat(2_000)]
    expect(wordDiff(from, to)).toEqual([
      { mark: 'removed', text: from },
      { mark: 'added', text: to },
    ])
  })
})

describe('the form of an agent', () => {
  const tools = [{ server: 'desk', tool: 'close', arguments: { id: 'SHOP-\\d+' } }]

  it('keeps what it may call, without lines that say nothing', () => {
    const draft = draftOf({ name: 'a', prompt: 'p', mcp_servers: ['desk'], tools } as unknown as Agent)
    expect(writeOf(draft, draft).tools).toEqual(tools)
    const more = { ...draft, tools: [...tools, { server: 'desk', tool: ' ' }, { server: 'gone', tool: 'x' }] }
    expect(writeOf(more, draft).tools).toEqual(tools)
    expect(writeOf({ ...draft, mcp_servers: [] }, draft).tools).toEqual([])
    expect(writeOf(NEW_AGENT, NEW_AGENT).tools).toEqual([])
  })
})

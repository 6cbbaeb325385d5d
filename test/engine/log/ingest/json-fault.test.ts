import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { faultAt } from '../../../../engine/log/ingest/json.ts'

describe('the place where a text stops being JSON', () => {
  it.each([
    ['', 0],
    ['  ', 2],
    ['hello', 0],
    ['{"a":}', 5],
    ['{"a" 1}', 5],
    ['{a:1}', 1],
    ['{,}', 1],
    ['{"a":1,}', 7],
    ['{"a":1 "b":2}', 7],
    ['{"a":1', 6],
    ['[1 2]', 3],
    ['[1,]', 3],
    ['[1}', 2],
    ['[}', 1],
    ['{]', 1],
    ['1 2', 2],
    [']', 0],
    ['[1]]', 3],
    ['01', 1],
    ['1.', 1],
    ['+1', 0],
    ['tru', 0],
    ['TRUE', 0],
    ['NaN', 0],
    ["'a'", 0],
    ['"open', 0],
    ['["\\x"]', 1],
    ['["a\nb"]', 1],
    ['{"a":"\\u12G4"}', 5],
  ])('of %j is at %i', (text, at) => {
    expect(() => JSON.parse(text)).toThrow(SyntaxError)
    expect(faultAt(text)).toBe(at)
  })

  it('is behind all of it where the text is JSON, and at what follows it', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.constantFrom(undefined, 1), (value, indent) => {
        const text = JSON.stringify(value, null, indent)
        expect(faultAt(text)).toBe(text.length)
        expect(faultAt(`${text} !`)).toBe(text.length + 1)
      }),
    )
  })

  it('of a long text is found without running out of stack', () => {
    expect(faultAt(`{"a":"${'\\n'.repeat(500_000)}"`)).toBe(1_000_007)
  })
})

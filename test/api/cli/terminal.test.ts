import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { escapeLine, escapeText, table } from '../../../api/cli/terminal.ts'

const unsafe = /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/u

describe('text for a terminal', () => {
  it('never holds a character that acts on it', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(escapeLine(text)).not.toMatch(unsafe)
      }),
    )
  })

  it('keeps line breaks and tabs where the text has lines', () => {
    expect(escapeText('a\n\tb\r')).toBe('a\n\tb\\u000d')
  })

  it('stays aligned in a table whose cells hold escapes', () => {
    const text = table(
      { colour: false },
      [
        { title: 'A', cell: (row: string[]) => row[0]! },
        { title: 'B', cell: (row) => row[1]! },
      ],
      [
        ['x\u001b', '1'],
        ['y', '2'],
      ],
    )
    expect(text).toBe('A        B\nx\\u001b  1\ny        2\n')
  })
})

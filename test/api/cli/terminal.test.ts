import { PassThrough } from 'node:stream'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { confirmOn, escapeLine, escapeText, table, widthOf } from '../../../api/cli/terminal.ts'

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

  it('stays aligned with letters and emoji that take two columns, and marks that take none', () => {
    const names = ['支払い', 'ｶﾅ', '서비스', '🚀 up', '👩‍🚀', '❤️', 'cafe\u0301', '（注）', 'plain-name']
    expect(names.map(widthOf)).toEqual([6, 2, 6, 5, 2, 2, 4, 6, 10])
    const columns = [
      { title: 'NAME', cell: (name: string) => name },
      { title: 'N', cell: () => '1' },
    ]
    const lines = table({ colour: false }, columns, names).trimEnd().split('\n')
    expect(new Set(lines.map((line) => widthOf(line)))).toEqual(new Set([13]))
  })
})

describe('a question at the terminal', () => {
  const asked = (typed: string, isTTY = true, interrupted = new AbortController().signal) => {
    const [input, output] = [Object.assign(new PassThrough(), { isTTY }), new PassThrough()]
    const terminal = Object.assign(output, { isTTY: true, columns: 80 })
    const answer = confirmOn(input, terminal, 'Apply this?', interrupted)
    input.write(typed)
    return answer
  }

  it('takes y and yes; anything else, Ctrl+D and no terminal are a no, and Ctrl+C an interruption', async () => {
    for (const typed of ['y\n', 'YES\n']) expect(await asked(typed), typed).toBe(true)
    for (const typed of ['\n', 'n\n', 'yikes\n', '\u0004']) expect(await asked(typed), typed).toBe(false)
    expect(await asked('y\n', false)).toBe(false)
    const interrupted = { message: 'interrupted', exitCode: 130 }
    await expect(asked('\u0003')).rejects.toMatchObject(interrupted)
    await expect(asked('y\n', true, AbortSignal.abort()), 'before it').rejects.toMatchObject(interrupted)
  })
})

/** What the form kit is given in place of large packages, and that it is enough. */
import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'

import { numberIn } from '../../console/lib/numbers.ts'
import { withoutMarks } from '../../console/lighter/markdown.tsx'
import uri from '../../console/lighter/uri.ts'

describe('the form kit made lighter', () => {
  it('resolves references of a schema', () => {
    expect(uri.resolve('https://svc.example/a.json#/x', '#/y')).toBe('https://svc.example/a.json#/y')
    expect(uri.resolve('https://svc.example/a.json', 'b.json')).toBe('https://svc.example/b.json')
  })

  it('reads numbers while they are typed', () => {
    expect(['', '-', '12', '0.5', '0,5', '.', '1e-3'].map((text) => numberIn(text, true))).toEqual([
      '',
      '',
      12,
      0.5,
      0.5,
      '',
      0.001,
    ])
    expect(['x', '1.2.3', '--1'].map((text) => numberIn(text, true))).toEqual([null, null, null])
    expect(numberIn('1.5', false)).toBeNull()
  })

  it('takes the marks out of a fault that the kit words in Markdown, and leaves names as they are', () => {
    expect(withoutMarks('`poll_every` field configuration error: _must be a text_.')).toBe(
      'poll_every field configuration error: must be a text.',
    )
    expect(withoutMarks('**file.txt** (text/plain, 3 bytes)')).toBe('file.txt (text/plain, 3 bytes)')
    expect(withoutMarks('snake_case_name stays')).toBe('snake_case_name stays')
  })

  it('is enough: no connector asks for dates, colours, files or allOf', () => {
    const folder = new URL('../../schemas/connectors/', import.meta.url)
    const asking = readdirSync(folder).filter((name) =>
      /"format": "(date|time|date-time|alt-date|alt-datetime|color|data-url)"|"allOf"/.test(
        readFileSync(new URL(name, folder), 'utf8'),
      ),
    )
    expect(asking).toEqual([])
  })
})

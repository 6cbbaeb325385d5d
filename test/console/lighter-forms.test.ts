/** What the form kit is given in place of a parser of Markdown and of calendars. */
import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { dateInput, dateOf } from '../../console/forms/lighter/day-text.ts'
import { withoutMarks } from '../../console/forms/lighter/markdown.tsx'

describe('the form kit made lighter', () => {
  it('has days and instants as the inputs of browsers have them, there and back', () => {
    const at = new Date(2026, 10, 24, 8, 5)
    expect(dateInput(at, 'YYYY-MM-DD')).toEqual({ type: 'date', value: '2026-11-24' })
    expect(dateInput(at, 'YYYY-MM-DD HH:mm')).toEqual({ type: 'datetime-local', value: '2026-11-24T08:05' })
    expect(dateInput(null, '')).toEqual({ type: 'date', value: '' })
    expect(dateOf('2026-11-24T08:05')).toEqual(at)
    expect(dateOf('2026-11-24')).toEqual(new Date(2026, 10, 24))
    expect(dateOf('')).toBeNull()
  })

  it('takes the marks out of a fault that the kit words in Markdown, and leaves names as they are', () => {
    expect(withoutMarks('`poll_every` field configuration error: _must be a text_.')).toBe(
      'poll_every field configuration error: must be a text.',
    )
    expect(withoutMarks('**file.txt** (text/plain, 3 bytes)')).toBe('file.txt (text/plain, 3 bytes)')
    expect(withoutMarks('snake_case_name stays')).toBe('snake_case_name stays')
  })

  it('is enough: no connector asks for a date with a calendar', () => {
    const folder = new URL('../../schemas/connectors/', import.meta.url)
    const asking = readdirSync(folder).filter((name) =>
      /"format": "(date|time|date-time|alt-date|alt-datetime)"/.test(
        readFileSync(new URL(name, folder), 'utf8'),
      ),
    )
    expect(asking).toEqual([])
  })
})

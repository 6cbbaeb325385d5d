import { expect, it } from 'vitest'
import { isInstant } from '../../schemas/instants.ts'

it('an instant has a day, a time of it and a zone; seconds may be left out', () => {
  const good = [
    '2026-11-30T07:00Z',
    '2026-11-30T07:00:05.123456Z',
    '2026-11-30t07:00:05z',
    '2026-11-30 07:00+0100',
    '2024-02-29T23:59:59-03:30',
  ]
  for (const text of good) {
    expect(isInstant(text), text).toBe(true)
    expect(Number.isNaN(Date.parse(text)), text).toBe(false)
  }
  const bad = [
    '2026-11-30',
    '2026-11-30T07:00',
    '2026-11-30T07Z',
    '2026-11-30T24:00Z',
    '2026-11-30T07:60Z',
    '2026-02-29T07:00Z',
    '2026-13-01T07:00Z',
    '2026-11-00T07:00Z',
    '2026-11-30T07:00+01',
    '1',
    'Nov 30 2026',
    '2026-11-30T07:00Z ',
  ]
  for (const text of bad) expect(isInstant(text), text).toBe(false)
})

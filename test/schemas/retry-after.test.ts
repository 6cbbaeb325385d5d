import { describe, expect, it } from 'vitest'
import { readRetryAfter } from '../../schemas/retry-after.ts'

const NOW = Date.parse('2026-11-20T12:00:00Z')

describe('Retry-After', () => {
  it.each([
    ['30', 30_000],
    [' 0 ', 0],
    // As providers of models send it.
    ['1.5', 1_500],
    // The three forms of RFC 9110, 5.6.7; the last has no zone and is UTC.
    ['Fri, 20 Nov 2026 12:01:00 GMT', 60_000],
    ['Friday, 20-Nov-26 12:01:00 GMT', 60_000],
    ['Fri Nov 20 12:01:00 2026', 60_000],
    ['Fri, 20 Nov 2026 11:00:00 GMT', 0],
  ])('of %j is a wait', (header, ms) => {
    expect(readRetryAfter(header, NOW)).toBe(ms)
  })

  it.each([
    null,
    undefined,
    '',
    ' ',
    '-5',
    '+5',
    '1e3',
    '0x10',
    'Infinity',
    'soon',
    '2026-11-20',
    'Fri, soon',
    '30s',
  ])('of %j is none', (header) => {
    expect(readRetryAfter(header, NOW)).toBeNull()
  })
})

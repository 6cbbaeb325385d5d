import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseEventTime } from '../../../../engine/log/ingest/time.ts'

const NOW = Date.parse('2026-11-20T12:00:00Z')
const DAY = 86_400_000
const NONE = { ts: null, claimed: null }
const iso = (text: string) => Date.parse(text)

describe('an event time', () => {
  it.each([
    ['2026-11-20T11:00:00Z', iso('2026-11-20T11:00:00Z')],
    ['2026-11-20t11:00:00z', iso('2026-11-20T11:00:00Z')],
    ['2026-11-20T11:00:00', iso('2026-11-20T11:00:00Z')],
    ['2026-11-20 11:00:00', iso('2026-11-20T11:00:00Z')],
    ['2026-11-20T11:00', iso('2026-11-20T11:00:00Z')],
    ['2026-11-20', iso('2026-11-20T00:00:00Z')],
    [' 2026-11-20T11:00:00Z\n', iso('2026-11-20T11:00:00Z')],
    ['2026-11-20T11:00:00.5Z', iso('2026-11-20T11:00:00.500Z')],
    ['2026-11-20T11:00:00,25Z', iso('2026-11-20T11:00:00.250Z')],
    ['2026-11-20T11:00:00.123456789Z', iso('2026-11-20T11:00:00.123Z')],
    ['2026-11-20T11:00:00.9999999999999999999999Z', iso('2026-11-20T11:00:00.999Z')],
    ['2026-11-20T13:00:00+02:00', iso('2026-11-20T11:00:00Z')],
    ['2026-11-20T13:00:00+0200', iso('2026-11-20T11:00:00Z')],
    ['2026-11-20T13:00:00+02', iso('2026-11-20T11:00:00Z')],
    ['2026-11-20 05:30:00 -0530', iso('2026-11-20T11:00:00Z')],
    ['2024-02-29T00:00:00Z', iso('2024-02-29T00:00:00Z')],
    ['2016-12-31T23:59:60Z', iso('2016-12-31T23:59:59.999Z')],
    ['2016-12-31T23:59:60.7Z', iso('2016-12-31T23:59:59.999Z')],
    ['2026-11-20 11:00:00 UTC', iso('2026-11-20T11:00:00Z')],
    ['2026-11-20 13:00:00.5 +0200 CEST', iso('2026-11-20T11:00:00.500Z')],
    ['20261120T110000Z', iso('2026-11-20T11:00:00Z')],
    ['Fri, 20 Nov 2026 11:00:00 GMT', iso('2026-11-20T11:00:00Z')],
    ['Fri, 20 Nov 2026 06:00:00 EST', iso('2026-11-20T11:00:00Z')],
    ['20 Nov 2026 11:00 +0000', iso('2026-11-20T11:00:00Z')],
    ['Fri Nov 20 11:00:00 2026', iso('2026-11-20T11:00:00Z')],
    ['20/Nov/2026:13:00:00 +0200', iso('2026-11-20T11:00:00Z')],
    ['2026/11/20 11:00:00', iso('2026-11-20T11:00:00Z')],
    ['2026/11/20 13:00:00.25 +0200', iso('2026-11-20T11:00:00.250Z')],
    ['Nov 20 11:00:00', iso('2026-11-20T11:00:00Z')],
    ['Nov  9 11:00:00.5', iso('2026-11-09T11:00:00.500Z')],
    // Without a year: the last that has been, by a clock that may be ahead.
    ['Dec 31 23:00:00', iso('2025-12-31T23:00:00Z')],
    ['Nov 21 11:30:00', iso('2026-11-21T11:30:00Z')],
    ['2026-11-20 03:00:00 PM', iso('2026-11-20T15:00:00Z')],
    ['2026-11-20 3:00 pm', iso('2026-11-20T15:00:00Z')],
    ['2026-11-20T12:30:00AM', iso('2026-11-20T00:30:00Z')],
    ['2026-11-20 12:00:00 PM', iso('2026-11-20T12:00:00Z')],
    ['2026-11-20 03:00:00.25 AM PST', iso('2026-11-20T11:00:00.250Z')],
    ['2026-11-20 03:00:00 PST', iso('2026-11-20T11:00:00Z')],
    ['2026-11-20T03:00:00PST', iso('2026-11-20T11:00:00Z')],
    ['2026-11-20 04:00:00 PDT', iso('2026-11-20T11:00:00Z')],
    ['2026-11-20 06:00:00 EST', iso('2026-11-20T11:00:00Z')],
    ['2026-11-20 05:00:00 CST', iso('2026-11-20T11:00:00Z')],
    ['2026-11-20 11:00:00 GMT', iso('2026-11-20T11:00:00Z')],
    ['2026-11-20 16:30:00 +0530 IST', iso('2026-11-20T11:00:00Z')],
    ['2026-11-20T12:00:00+01:00[Europe/Berlin]', iso('2026-11-20T11:00:00Z')],
    ['2026-11-20T08:00:00.123456789-03:00[America/Argentina/Buenos_Aires]', iso('2026-11-20T11:00:00.123Z')],
    ['2026-11-20T11:00:00Z[UTC]', iso('2026-11-20T11:00:00Z')],
    ['Nov 20, 2026 11:00:00 AM', iso('2026-11-20T11:00:00Z')],
    ['Nov 20, 2026, 3:00:00\u202fPM', iso('2026-11-20T15:00:00Z')],
    ['November 20, 2026 11:00 AM UTC', iso('2026-11-20T11:00:00Z')],
    ['Friday, November 20, 2026 06:00:00 EST', iso('2026-11-20T11:00:00Z')],
    ['Fri, 20 Nov 2026 12:00:00 +0100 (CET)', iso('2026-11-20T11:00:00Z')],
    ['Fri, 20 Nov 2026 11:00:00 (UTC)', iso('2026-11-20T11:00:00Z')],
    ['Fri Nov 20 06:00:00 EST 2026', iso('2026-11-20T11:00:00Z')],
    ['Fri Nov 20 11:00:00 AM UTC 2026', iso('2026-11-20T11:00:00Z')],
    [1_795_172_400, iso('2026-11-20T11:00:00Z')],
    [1_795_172_400.123, iso('2026-11-20T11:00:00.123Z')],
    [1_795_172_400_123_456, iso('2026-11-20T11:00:00.123Z')],
    [1_795_172_400_123_000_000, iso('2026-11-20T11:00:00.123Z')],
    ['1795172400', iso('2026-11-20T11:00:00Z')],
    ['1795172400.000200', iso('2026-11-20T11:00:00Z')],
    ['1795172400000', iso('2026-11-20T11:00:00Z')],
    ['1795172400123456789', iso('2026-11-20T11:00:00.123Z')],
    ['1795172400123999999', iso('2026-11-20T11:00:00.123Z')],
    [{ ms: iso('2026-11-20T11:00:00Z'), given: '1' }, iso('2026-11-20T11:00:00Z')],
    [NOW, NOW],
    [NOW + 0.9, NOW],
  ])('%j is read', (value, ts) => {
    expect(parseEventTime(value, NOW)).toEqual({ ts, claimed: null })
  })

  it.each(['', null, undefined])('%j is none, so ingest time is used', (value) => {
    expect(parseEventTime(value, NOW)).toEqual(NONE)
  })

  it.each([
    '2026-13-01',
    '2026-00-01',
    '2026-11-00',
    '2026-11-31',
    '2025-02-29',
    '2100-02-29T00:00:00Z',
    '2026-11-20T24:00:00Z',
    '2026-11-20T11:60:00Z',
    '2026-11-20T11:00:61Z',
    '2026-11-20T11:00:00+24:00',
    '2026-11-20T11:00:00+02:60',
    '2026-11-20T',
    '2026-11-20Z',
    '20261320T110000Z',
    '11/20/2026',
    '2026/11/31 11:00:00',
    'Nov 31 11:00:00',
    'Foo 20 11:00:00',
    'Fri, 31 Nov 2026 11:00:00 GMT',
    'Fri, 20 Foo 2026 11:00:00 GMT',
    'Fri, 20 Nov 2026 11:00:00 XYZ',
    // More than one zone has such a name, or none that is known here.
    '2026-11-20 11:00:00 CET',
    // In a zone that is named alone, and whose offset changes with the season.
    '2026-11-20T11:00:00[Europe/Berlin]',
    'Novemb 20, 2026 11:00:00',
    'Nov 31, 2026 11:00:00',
    '2026-11-20 11:00:00 IST',
    '2026-11-20 11:00:00 BST',
    '2026-11-20 11:00:00 FOO',
    '2026-11-20 11:00:00 A',
    'Fri, 20 Nov 2026 11:00:00 (CET)',
    'Fri Nov 20 11:00:00 CET 2026',
    '2026-11-20 13:00:00 PM',
    '2026-11-20 00:30:00 PM',
    '2026-11-20 3:00:00',
    '2026-11-20 03:00:00 +0000 PM',
    '2026-11-20 03:00:00 UTC PM',
    'now',
    ' ',
    `2026-11-20T11:00:00.${'9'.repeat(100_000)}Z`,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    true,
    {},
    [NOW],
  ])('%j is not understood: ingest time is used, and what was given is told', (value) => {
    const unknown = typeof value === 'object' ? JSON.stringify(value) : String(value).trim().slice(0, 200)
    expect(parseEventTime(value, NOW)).toEqual({ ...NONE, unknown })
  })

  it.each([
    ['9999-12-31T23:59:59Z', '9999-12-31T23:59:59Z'],
    ['0001-01-01', '0001-01-01'],
    [' 2016-11-01T00:00:00Z ', '2016-11-01T00:00:00Z'],
    [-1, '-1'],
    [0, '0'],
    [1e18, '1000000000000000000'],
    ['1995172400', '1995172400'],
    [NOW + DAY + 1, String(NOW + DAY + 1)],
  ])('%j is too far off to be used, and kept as it was given', (value, claimed) => {
    expect(parseEventTime(value, NOW)).toEqual({ ts: null, claimed })
  })

  it('is used from ten years back to 24 hours ahead, both included', () => {
    const edge = (ts: number) => parseEventTime(ts, NOW).ts
    expect([edge(NOW + DAY), edge(NOW + DAY + 1)]).toEqual([NOW + DAY, null])
    expect(edge(iso('2016-11-20T12:00:00Z'))).not.toBeNull()
    expect(edge(iso('2016-11-18T00:00:00Z'))).toBeNull()
  })

  it('written by any clock in range is read to the millisecond, in any zone', () => {
    const instant = fc.integer({ min: NOW - 3_600 * DAY, max: NOW })
    const zone = fc.integer({ min: -14 * 60, max: 14 * 60 })
    fc.assert(
      fc.property(instant, zone, (ts, minutes) => {
        const local = new Date(ts + minutes * 60_000).toISOString().slice(0, -1)
        const part = (n: number) => String(n).padStart(2, '0')
        const ahead = Math.abs(minutes)
        const offset = `${minutes < 0 ? '-' : '+'}${part(Math.trunc(ahead / 60))}:${part(ahead % 60)}`
        expect(parseEventTime(local + offset, NOW).ts).toBe(ts)
      }),
    )
  })

  it('that the platform does not take for a time is none', () => {
    const digits = (min: number, max: number) =>
      fc.integer({ min, max }).map((n) => String(n).padStart(2, '0'))
    const date = fc
      .tuple(fc.integer({ min: 2017, max: 2026 }), digits(0, 14), digits(0, 33))
      .map((d) => d.join('-'))
    fc.assert(
      fc.property(date, (text) => {
        const day = new Date(`${text}T00:00:00Z`)
        const exists = !Number.isNaN(day.getTime()) && day.toISOString().startsWith(text)
        const { ts, claimed } = parseEventTime(text, NOW)
        expect(ts !== null || claimed !== null).toBe(exists)
      }),
      { numRuns: 500 },
    )
  })
})

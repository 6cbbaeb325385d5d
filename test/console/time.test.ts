/** Times, lengths and numbers are told in one way: the table "Format" of the console's brief. */
import { describe, expect, it } from 'vitest'
import {
  ago,
  clock,
  count,
  day,
  grouped,
  instantWords,
  lasting,
  moment,
  money,
  took,
  value,
  withLocalTimes,
  zoneName,
} from '../../console/lib/time.ts'

const at = (text: string): number => new Date(text).getTime()
const NOW = at('2026-11-23T09:00:00')

describe('a time', () => {
  it('has no day today, no year this year, and both else', () => {
    expect(moment(at('2026-11-23T07:58:39'), NOW)).toBe('07:58')
    expect(moment(at('2026-11-23T07:58:39'), NOW, true)).toBe('07:58:39')
    expect(moment(at('2026-11-14T07:58:39'), NOW)).toBe('Nov 14, 07:58')
    expect(moment(at('2025-11-14T07:58:39'), NOW)).toBe('2025-11-14 07:58')
    expect([day(at('2026-11-14T07:58:39'), NOW), day(at('2025-01-04T07:58:39'), NOW)]).toEqual([
      'Nov 14',
      '2025-01-04',
    ])
  })

  it('has milliseconds in timelines alone', () => {
    const then = new Date(at('2026-11-23T07:58:39') + 120).toISOString()
    expect(clock(then, NOW)).toBe('07:58:39.120')
    expect(clock(then, at('2026-11-24T09:00:00'))).toBe('Nov 23, 07:58:39.120')
  })

  it('has a zone, in hours and minutes from UTC', () => {
    const zone = (minutes: number) => zoneName({ getTimezoneOffset: () => -minutes } as Date)
    expect([0, 60, -210, 330, -480].map(zone)).toEqual(['UTC', 'UTC+1', 'UTC-3:30', 'UTC+5:30', 'UTC-8'])
  })

  it('is shown here, in UTC and as ISO 8601 to copy', () => {
    const { local, utc, iso } = instantWords('2026-11-23T06:58:39.120Z', at('2026-11-23T09:00:00Z'))
    expect(local).toMatch(/:58:39 UTC/)
    expect([utc, iso]).toEqual(['2026-11-23 06:58:39 UTC', '2026-11-23T06:58:39.120Z'])
  })

  it('is shown here in a sentence of the daemon, too', () => {
    const [since, until] = ['2026-11-22T07:58:39', '2026-11-23T08:10:00'].map((text) => new Date(text))
    const said = `waits since ${since!.toISOString()}: away; tried again at ${until!.toISOString()}`
    expect(withLocalTimes(said, NOW)).toBe('waits since Nov 22, 07:58:39: away; tried again at 08:10:00')
  })

  it('is so long ago, or to come', () => {
    const from = (ms: number) => ago(new Date(NOW - ms).toISOString(), NOW)
    expect([0, 34_000, 26 * 60_000, 7_500_000, 3 * 86_400_000, -5_000].map(from)).toEqual([
      'just now',
      '34 s ago',
      '26 min ago',
      '2 h 5 min ago',
      '3 d ago',
      'in 5 s',
    ])
  })
})

describe('lengths and numbers', () => {
  it('are as short as they can be said', () => {
    expect([34_000, 720_000, 7_500_000].map(lasting)).toEqual(['34 s', '12 min', '2 h 5 min'])
    expect([null, 930, 1_200, 34_000].map(took)).toEqual(['—', '930 ms', '1.2 s', '34 s'])
    expect([0, 999, -1_000, 28_410, 99_999, 128_000, 1_284_000].map(count)).toEqual([
      '0',
      '999',
      '-1,000',
      '28,410',
      '99,999',
      '128k',
      '1.28M',
    ])
    expect([1_234_567, 1e21].map(grouped)).toEqual(['1,234,567', '1,000,000,000,000,000,000,000'])
    expect([0.12345, 4.567, 12.345, 4_213, 1_234.5].map(value)).toEqual([
      '0.123',
      '4.57',
      '12.3',
      '4,213',
      '1,235',
    ])
    expect([null, 0, 0.004, 0.86, -0.86, 1_234.5, 1_234_567.891].map(money)).toEqual([
      '—',
      '$0',
      '<$0.01',
      '$0.86',
      '-$0.86',
      '$1,234.50',
      '$1,234,567.89',
    ])
  })
})

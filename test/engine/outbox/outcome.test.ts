import { describe, expect, it } from 'vitest'
import { type EgressAnswer, type FaultCode, faultOf } from '../../../engine/net/fetch.ts'
import { outcomeOf } from '../../../engine/outbox/send-webhook.ts'
import { maxTries, RETRY_SECONDS } from '../../../machines/delivery.ts'

const NOW = Date.UTC(2026, 0, 2, 3, 4, 5)
const first = { retry: 'webhook' as const, tries: 1, now: NOW, random: () => 0.5 }

const answer = (status: number, headers: Record<string, string> = {}): EgressAnswer => ({
  ok: true,
  status,
  headers,
  body: Buffer.from('what the recipient wrote'),
})

describe('an answer', () => {
  it.each([200, 201, 202, 204, 299])('%d takes the delivery', (status) => {
    expect(outcomeOf(answer(status), first)).toEqual({ event: 'acknowledge', status, reason: null })
  })

  it.each([408, 425, 429, 500, 502, 503, 504, 599])('%d is tried again', (status) => {
    const reason = `HTTP ${status}`
    expect(outcomeOf(answer(status), first)).toEqual({ event: 'retry', status, reason, dueAt: NOW + 5_000 })
  })

  it.each([301, 302, 303, 307, 308])('%d is final, and says what to do', (status) => {
    expect(outcomeOf(answer(status), first)).toEqual({
      event: 'refuse',
      status,
      reason: `HTTP ${status}: redirects are not followed; give the address it leads to`,
    })
  })

  it.each([300, 304, 400, 401, 403, 404, 405, 409, 413, 422, 451])('%d is final', (status) => {
    const refused = { event: 'refuse', status, reason: `HTTP ${status}` }
    expect(outcomeOf(answer(status, { 'retry-after': '7' }), first)).toEqual(refused)
  })

  it('410 says that the recipient is gone', () => {
    expect(outcomeOf(answer(410), first)).toEqual({ event: 'gone', status: 410, reason: 'HTTP 410' })
  })
})

describe('a fault', () => {
  it.each<FaultCode>([
    'unresolved',
    'refused',
    'unreachable',
    'closed',
    'tls',
    'bad_answer',
    'too_large',
    'timeout',
  ])('%s is tried again', (fault) => {
    expect(outcomeOf(faultOf(fault, 'what happened'), first)).toEqual({
      event: 'retry',
      status: null,
      reason: 'what happened',
      dueAt: NOW + 5_000,
    })
  })

  it.each<FaultCode>(['not_allowed', 'invalid', 'redirect'])('%s is final', (fault) => {
    expect(outcomeOf(faultOf(fault, 'what happened'), first)).toEqual({
      event: 'refuse',
      status: null,
      reason: 'what happened',
    })
  })

  it('of a stop counts as no try', () => {
    expect(outcomeOf(faultOf('aborted', 'cut off'), first)).toMatchObject({ event: 'interrupted' })
  })
})

const waitOf = (tries: number, random = 0.5, headers: Record<string, string> = {}) =>
  outcomeOf(answer(503, headers), { retry: 'webhook', tries, now: NOW, random: () => random }).dueAt! - NOW

describe('the wait after a try', () => {
  it.each([
    [1, 5],
    [2, 30],
    [3, 120],
    [4, 600],
    [5, 1_800],
    [6, 7_200],
    [7, 21_600],
    [8, 43_200],
  ])('%d is %d seconds, give or take a fifth', (tries, seconds) => {
    expect(waitOf(tries, 0)).toBe(seconds * 800)
    expect(waitOf(tries, 0.5)).toBe(seconds * 1_000)
    expect(waitOf(tries, 0.999_999)).toBeCloseTo(seconds * 1_200, -3)
  })

  it('is known for every try that the lifecycle allows', () => {
    expect(maxTries('webhook')).toBe(RETRY_SECONDS.webhook.length + 1)
    for (let tries = 1; tries <= maxTries('webhook') + 5; tries++) expect(waitOf(tries)).toBeGreaterThan(0)
  })

  it.each(Object.entries(RETRY_SECONDS))('is of the one table for %s', (kind, seconds) => {
    const retry = kind as keyof typeof RETRY_SECONDS
    const waits = seconds.map((_, i) => {
      const { dueAt } = outcomeOf(answer(503), { ...first, retry, tries: i + 1 })
      return (dueAt! - NOW) / 1_000
    })
    expect(waits).toEqual(seconds)
    expect(maxTries(retry)).toBe(seconds.length + 1)
  })
})

describe('Retry-After', () => {
  it.each([
    ['seconds', '90'],
    ['seconds with spaces around', ' 90 '],
    ['a date', 'Fri, 02 Jan 2026 03:05:35 GMT'],
    ['a date of RFC 850', 'Friday, 02-Jan-26 03:05:35 GMT'],
    ['a date of asctime', 'Fri Jan  2 03:05:35 2026'],
  ])('as %s is waited for', (_form, value) => {
    expect(waitOf(1, 0.5, { 'retry-after': value })).toBe(90_000)
  })

  it.each(['3601', '999999999', '9'.repeat(400), 'Sat, 02 Jan 2027 03:05:35 GMT'])(
    'of %s is waited for an hour at most',
    (value) => {
      expect(waitOf(1, 0.5, { 'retry-after': value })).toBe(3_600_000)
    },
  )

  it.each(['0', '1', '-1', '-999999', 'x', '', '1.5', '1e9', '5 minutes', 'Fri, 02 Jan 2026 03:04:00 GMT'])(
    'of %j makes no wait shorter',
    (value) => {
      expect(waitOf(1, 0.5, { 'retry-after': value })).toBe(5_000)
      expect(waitOf(5, 0.5, { 'retry-after': value })).toBe(1_800_000)
    },
  )
})

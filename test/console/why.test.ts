import { createHmac, randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { REASON_WORDS } from '../../console/lib/backtest.ts'
import { VERIFY_SNIPPET } from '../../console/lib/verify.ts'
import { eventIdIn, instantsIn, REASONS, reasonCounts, reasonTone } from '../../console/lib/why.ts'
import schema from '../../schemas/why-record.json' with { type: 'json' }

describe('reasons', () => {
  it('each have a word and a tone', () => {
    expect([...REASONS].sort()).toEqual([...schema.properties.reason.enum].sort())
    expect(new Set(Object.values(REASON_WORDS)).size).toBe(REASONS.length)
    expect(reasonTone('fired')).toBe('good')
    expect(reasonTone('error')).toBe('bad')
    expect(reasonTone('no_subscriber')).toBe('busy')
    expect(reasonTone('below')).toBe('quiet')
  })

  it('are counted, the most frequent first', () => {
    expect(reasonCounts([{ reason: 'below' }, { reason: 'fired' }, { reason: 'below' }])).toEqual([
      ['below', 2],
      ['fired', 1],
    ])
    expect(reasonCounts([])).toEqual([])
  })
})

describe('the id of an event', () => {
  it('is found in what people paste', () => {
    expect(eventIdIn('evt_42')).toBe('evt_42')
    expect(eventIdIn(' 42 ')).toBe('evt_42')
    expect(eventIdIn('evt_7 · happened 2026-11-20')).toBe('evt_7')
    expect(eventIdIn('{"id":"evt_9"}')).toBe('evt_9')
    for (const wrong of ['', 'evt_', 'event 42', '4 2', 'evt_4x']) expect(eventIdIn(wrong)).toBeNull()
  })
})

describe('the code that checks a post', () => {
  it('is that of the docs', () => {
    expect(readFileSync(new URL('../../docs/triggers.md', import.meta.url), 'utf8')).toContain(VERIFY_SNIPPET)
  })

  it('takes what is genuine and nothing else', async () => {
    const { isGenuine } = (await import(`data:text/javascript,${encodeURIComponent(VERIFY_SNIPPET)}`)) as {
      isGenuine: (secret: string, headers: Record<string, string>, body: Buffer) => boolean
    }
    const key = randomBytes(24)
    const secret = `whsec_${key.toString('base64')}`
    const body = Buffer.from('{"n":9007199254740993}')
    const post = (at = Math.floor(Date.now() / 1000)) => {
      const signature = createHmac('sha256', key).update(`dlv_1.${at}.`).update(body).digest('base64')
      return {
        'webhook-id': 'dlv_1',
        'webhook-timestamp': String(at),
        'webhook-signature': `v1,${randomBytes(32).toString('base64')} v1,${signature}`,
      }
    }
    expect(isGenuine(secret, post(), body)).toBe(true)
    expect(isGenuine(secret, post(), Buffer.from('{"n":9007199254740992}'))).toBe(false)
    expect(isGenuine(`whsec_${randomBytes(24).toString('base64')}`, post(), body)).toBe(false)
    expect(isGenuine(secret, post(1_000), body)).toBe(false)
    expect(isGenuine(secret, {}, body)).toBe(false)
  })
})

it('finds the instants of a sentence, which are shown as times of the page', () => {
  expect(instantsIn('in its cooldown until 2026-11-29T18:14:04.559Z, since it fired')).toEqual([
    'in its cooldown until ',
    '2026-11-29T18:14:04.559Z',
    ', since it fired',
  ])
  expect(instantsIn('threshold not met')).toEqual(['threshold not met'])
})

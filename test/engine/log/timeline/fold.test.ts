/** Folding under max_tokens (issue 17, Part 2.2). */
import { describe, expect, it } from 'vitest'
import { renderRow } from '../../../../engine/agents/runs/prompt.ts'
import { shapeOf, tokensOf } from '../../../../engine/log/timeline/fit.ts'

import { answerRead } from '../../../../engine/log/timeline/read.ts'
import type { ReadRequest } from '../../../../schemas/types.ts'
import { addSource, event, openHarness, T0 } from '../store/store-harness.ts'

const NOW = T0 + 3_600_000
type Made = [text: string, labels?: Record<string, string>, type?: string]

/** An event a second, oldest first. */
function over(made: readonly Made[]) {
  const harness = openHarness()
  const app = addSource(harness.store, 'app', [{ name: 'service', field: 'service', primary: true }])
  harness.append(
    made.map(([text, labels = {}, eventType = 'log'], i) =>
      event({ service: 'shop', ...labels }, T0 + i * 1_000, { text, eventType }),
    ),
    { sourceId: app },
  )
  return {
    ctx: harness.ctx,
    read: (request: Partial<ReadRequest>, lineOf?: typeof renderRow) =>
      answerRead(
        harness.ctx,
        { selector: { service: 'shop' }, window: '2h', ...request },
        NOW,
        undefined,
        lineOf,
      ),
  }
}

const many = <T>(n: number, make: (i: number) => T): T[] => Array.from({ length: n }, (_, i) => make(i))

describe('issue 17, 2.2: a read under max_tokens', () => {
  it('folds only where what is there does not fit', () => {
    const { read } = over(many(20, (i) => [`took ${i} ms`]))
    const wide = read({ max_tokens: 4_000 })
    expect(wide.rows).toHaveLength(20)
    expect(wide.rows.every(({ fold }) => fold === undefined)).toBe(true)
    const tight = read({ max_tokens: 200 })
    expect(tight.rows).toMatchObject([{ fold: { count: 20, first_id: 'evt_1', last_id: 'evt_20' } }])
  })

  it('goes on with the smallest budget: each page has a row, and the cursor another place', () => {
    const { read } = over([
      ...many(30, (i): Made => [`took ${i} ms`]),
      ...many(5, (i): Made => [`lost ${'ab'[i % 2]}`]),
    ])
    const seen = new Set<string | null>()
    const counts: number[] = []
    for (let cursor: string | undefined; ; ) {
      const page = read({ max_tokens: 50, ...(cursor === undefined ? {} : { cursor }) })
      expect(page.count).toBeGreaterThan(0)
      expect(seen).not.toContain(page.next_cursor)
      seen.add(page.next_cursor)
      counts.push(...page.rows.map(({ fold }) => fold?.count ?? 1))
      if (page.next_cursor === null) break
      cursor = page.next_cursor
    }
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(35)
  })

  it('an event larger than the budget does not push out the others', () => {
    const { read } = over([
      ['fine', {}, 'info'],
      ['the pool is exhausted', {}, 'error'],
      ['長'.repeat(20_000), {}, 'error'],
    ])
    const { rows, next_cursor } = read({ max_tokens: 2_000 })
    expect(rows.map(({ text }) => text.slice(0, 8))).toEqual(['fine', 'the pool', '長'.repeat(8)])
    expect(rows[2]!.text).toContain('the whole is event evt_3')
    expect(next_cursor).toBeNull()
    const alone = over([['長'.repeat(20_000)]]).read({ max_tokens: 2_000 })
    expect(tokensOf(alone.payload)).toBeGreaterThan(1_500)
    expect(tokensOf(alone.payload)).toBeLessThanOrEqual(2_000)
  })

  it('never folds across labels that differ, or a status, an exit code or a version', () => {
    const made: Made[] = [
      ['paid', { customer: 'a' }],
      ['paid', { customer: 'b' }],
      ['POST /pay 200 in 30ms'],
      ['POST /pay 500 in 31ms'],
      ['exit code 0'],
      ['exit code 137'],
      ['running v2.15.0'],
      ['running v2.15.1'],
      ['status=200'],
      ['status=503'],
    ]
    const { read } = over(many(200, (i) => made[i % made.length]!))
    const { rows } = read({ max_tokens: 1_500 })
    expect(rows.map(({ text, fold }) => [text, fold?.count]).sort()).toEqual(
      made.map(([text]) => [text, 20]).sort(),
    )
  })

  it('shows of a fold its first and last id and the range of its numbers, and is unfolded by its cursor', () => {
    const { read } = over([
      ...many(30, (i): Made => [`p99 ${[48, 2327, 51][i % 3]} ms for request 4f1c2a9be07d${1000 + i}`]),
      ...many(30, (): Made => ['something else']),
    ])
    const answer = read({ max_tokens: 200 })
    const fold = answer.rows.find(({ text }) => text.startsWith('p99'))!.fold!
    expect(fold).toMatchObject({
      count: 30,
      first_id: 'evt_1',
      last_id: 'evt_30',
      numbers: [{ least: 48, most: 2327 }],
    })
    expect(answer.payload).toContain('(×30 evt_1..evt_30 since 2026-11-20T12:00:00.000Z, 48 to 2327)')
    const ids: string[] = []
    let cursor: string | null = fold.cursor
    while (cursor !== null) {
      const page = read({ max_tokens: 300, cursor })
      expect(page.tokens).toBeLessThanOrEqual(300)
      expect(page.rows.every((row) => row.fold === undefined && row.text.startsWith('p99'))).toBe(true)
      ids.push(...page.rows.map(({ id }) => id))
      cursor = page.next_cursor
    }
    expect(ids).toEqual(many(30, (i) => `evt_${i + 1}`))
  })

  it('unfolds nothing that the request does not read', () => {
    const { read } = over(many(10, () => ['same']))
    expect(() => read({ selector: { service: 'other' }, cursor: 'evt_1..evt_10' })).toThrow(
      /evt_10 is no event that this request reads/,
    )
    expect(() => read({ cursor: 'evt_1..evt_99' })).toThrow(/evt_99 is no event/)
  })

  it('looks at the whole window, not at its newest 5,000 events', () => {
    const { read } = over([['deployed 2.15.1', {}, 'deploy'], ...many(12_000, (i): Made => [`served ${i}`])])
    const { rows, omitted } = read({ window: '30d', max_tokens: 500 })
    expect(rows.map(({ text }) => text)).toEqual(['deployed 2.15.1', 'served 11999'])
    expect(rows[1]!.fold).toMatchObject({ count: 12_000 })
    expect(omitted).toEqual([])
  })

  it('keeps a common error before lines that are rare', () => {
    const { read } = over([
      ...many(57, (): Made => ['tax lookup timed out', {}, 'error']),
      ...many(
        400,
        (i): Made => [
          `page ${'abcdefghij'[i % 10]}${'klmnopqrst'[Math.floor(i / 10) % 10]}${'uvwx'[Math.floor(i / 100)]}`,
          {},
          'info',
        ],
      ),
    ])
    const { rows } = read({ max_tokens: 400, order: 'asc' })
    expect(rows.some(({ text, fold }) => text === 'tax lookup timed out' && fold?.count === 57)).toBe(true)
  })

  it('counts its budget of the lines that are sent', () => {
    const { read } = over(
      many(300, (i) => [`line ${'word '.repeat(i % 7)}of ${i % 90}`, { pod: `pod-${i % 40}` }]),
    )
    const own = read({ max_tokens: 1_000 }, renderRow)
    expect(tokensOf(own.rows.map(renderRow).join('\n'))).toBeLessThanOrEqual(1_000)
    const plain = read({ max_tokens: 1_000 })
    expect(tokensOf(plain.payload)).toBeLessThanOrEqual(1_000)
    expect(plain.tokens).toBeGreaterThan(600)
  })
})

it('issue 17, 2.2: a trace id is of a request, and splits no fold', () => {
  const row = (trace: string) =>
    ({ source: 'a', event_type: 'log', text: 'late', labels: { trace_id: trace, service: 'x' } }) as never
  expect(shapeOf(row('a1')).key).toBe(shapeOf(row('b2')).key)
})

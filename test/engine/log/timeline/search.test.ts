/** Issue 16, A12: a search by text that stops says so, and its cursor finds the rest exactly once. */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { atOnce } from '../../../../engine/log/steps.ts'
import { answerRead } from '../../../../engine/log/timeline/read.ts'
import { histogramInSteps } from '../../../../engine/log/timeline/stats.ts'
import type { ReadRequest } from '../../../../schemas/types.ts'
import { addSource, event, openHarness, T0 } from '../store/store-harness.ts'

const NOW = T0 + 3_600_000

/** Events of one service, a second apart; those whose place is in `hits` have the word. */
function withHits(n: number, hits: ReadonlySet<number>) {
  const harness = openHarness()
  const app = addSource(harness.store, 'app', [{ name: 'service', field: 'service', primary: true }])
  harness.append(
    Array.from({ length: n }, (_, i) =>
      event({ service: 'shop' }, T0 + i * 1_000, { text: hits.has(i) ? `declined ${i}` : `fine ${i}` }),
    ),
    { sourceId: app },
  )
  const read = (request: Partial<ReadRequest>, scanMax: number) =>
    answerRead(
      harness.ctx,
      { selector: { service: 'shop' }, window: '2h', text: 'declined', ...request },
      NOW,
      scanMax,
    )
  return { read }
}

it('A12: a search that stops says how far it came, with a cursor, where it found something and where not', () => {
  const { read } = withHits(50, new Set([3, 45]))
  const first = read({}, 20)
  expect(first).toMatchObject({
    count: 1,
    truncated: true,
    scanned: 20,
    searched_to: '2026-11-20T12:00:30.000Z',
    next_cursor: expect.any(String),
    notice:
      'the search looked at 20 events, back to 2026-11-20T12:00:30.000Z, found 1 and stopped there; next_cursor searches further back',
  })
  expect(first.payload).toContain(`\n${first.notice}\n`)
  const second = read({ cursor: first.next_cursor! }, 20)
  expect(second).toMatchObject({ count: 0, truncated: true, searched_to: '2026-11-20T12:00:10.000Z' })
  expect(second.payload).toContain('no such events so far')
  const last = read({ cursor: second.next_cursor! }, 20)
  expect(last).toMatchObject({ count: 1, truncated: false, next_cursor: null, scanned: 10 })
  expect(last).not.toHaveProperty('searched_to')
  expect(last).not.toHaveProperty('notice')
  expect(read({ order: 'asc' }, 20).notice).toBe(
    'the search looked at 20 events, on to 2026-11-20T12:00:19.000Z, found 1 and stopped there; next_cursor searches further on',
  )
})

it('A12: a search that comes to the end of the window with its last event has not stopped', () => {
  const { read } = withHits(20, new Set([3]))
  expect(read({}, 20)).toMatchObject({ count: 1, truncated: false, next_cursor: null, scanned: 20 })
  expect(read({}, 20)).not.toHaveProperty('searched_to')
})

it('A12: going on by the cursor finds what looking at every event finds, each once', () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(fc.nat(119), { maxLength: 40 }),
      fc.integer({ min: 1, max: 50 }),
      fc.integer({ min: 1, max: 15 }),
      fc.constantFrom('asc' as const, 'desc' as const),
      fc.constantFrom(undefined, 150, 400),
      (hits, scanMax, limit, order, tokens) => {
        const { read } = withHits(120, new Set(hits))
        const found: string[] = []
        let cursor: string | null | undefined
        for (let pages = 0; cursor !== null; pages++) {
          expect(pages).toBeLessThan(300)
          const page = read(
            {
              order,
              ...(cursor === undefined ? {} : { cursor }),
              ...(tokens === undefined ? { limit } : { max_tokens: tokens }),
            },
            scanMax,
          )
          expect(page.truncated).toBe(page.next_cursor !== null)
          for (const row of page.rows)
            found.push(...Array.from({ length: row.fold?.count ?? 1 }, () => row.text))
          cursor = page.next_cursor
        }
        expect(found).toHaveLength(hits.length)
        if (tokens === undefined) {
          const sorted = [...hits].sort((a, b) => (order === 'asc' ? a - b : b - a))
          expect(found).toEqual(sorted.map((i) => `declined ${i}`))
        }
      },
    ),
    { numRuns: 60 },
  )
})

it('is counted over time as it is read: only what has the text, and what there was as of an instant', () => {
  const harness = openHarness()
  const app = addSource(harness.store, 'app', [{ name: 'service', field: 'service', primary: true }])
  const brought = (minutes: number[], at: number) =>
    harness.append(
      minutes.map((minute) =>
        event({ service: 'shop' }, T0 + minute * 60_000, { text: minute % 2 ? 'DECLINED' : 'fine' }),
      ),
      { sourceId: app, at },
    )
  brought([1, 2, 3], T0 + 4 * 60_000)
  // One of them happened before, and came late.
  brought([0, 5, 11], T0 + 12 * 60_000)
  const asOf = new Date(T0 + 10 * 60_000).toISOString()
  const drawn = (asked: { text?: string; as_of?: string }) => {
    const request = { selector: { service: 'shop' }, window: '15m', ...asked }
    const { from, to, total, buckets } = atOnce(histogramInSteps(harness.ctx, request, T0 + 15 * 60_000))
    expect(buckets.reduce((sum, { count }) => sum + count, 0)).toBe(total)
    expect(answerRead(harness.ctx, request, T0 + 15 * 60_000).count).toBe(total)
    return [from, to, total]
  }
  const at = (minute: number) => new Date(T0 + minute * 60_000).toISOString()
  expect(drawn({})).toEqual([at(0), at(15), 6])
  expect(drawn({ text: 'declined' })).toEqual([at(0), at(15), 4])
  expect(drawn({ text: 'refused' })).toEqual([at(0), at(15), 0])
  // Its window ends then.
  expect(drawn({ as_of: asOf })).toEqual([at(-5), asOf, 3])
  expect(drawn({ as_of: asOf, text: 'declined' })).toEqual([at(-5), asOf, 2])
})

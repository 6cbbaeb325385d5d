import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { keepShown, RETRY_MS } from '../../console/lib/keep-shown.ts'
import { shownNotices } from '../../console/lib/notices.ts'
import { ReadsAhead } from '../../console/lib/reads-ahead.ts'

function world() {
  const asked: string[] = []
  const clock = { now: 0 }
  const reads = new ReadsAhead(
    async (path) => {
      asked.push(path)
      return new Response(path)
    },
    () => clock.now,
  )
  return { asked, clock, reads }
}

it('hands an answer that was asked ahead to who asks for it, once', async () => {
  const { asked, reads } = world()
  reads.begin('/api/incidents/1')
  reads.begin('/api/incidents/1')
  expect(asked).toEqual(['/api/incidents/1'])
  expect(await (await reads.take('/api/incidents/1'))?.text()).toBe('/api/incidents/1')
  expect(reads.take('/api/incidents/1')).toBeUndefined()
})

it('forgets it after 5 s, and once something is written: it may be what was there before', () => {
  const { clock, reads } = world()
  reads.begin('/api/incidents/1')
  clock.now = 5_001
  expect(reads.take('/api/incidents/1')).toBeUndefined()
  reads.begin('/api/incidents/1')
  reads.drop()
  expect(reads.take('/api/incidents/1')).toBeUndefined()
})

it('asks for four at most at a time', () => {
  const { asked, reads } = world()
  for (const n of [1, 2, 3, 4, 5]) reads.begin(`/api/incidents/${n}`)
  expect(asked).toHaveLength(4)
})

describe('a read that fails where something is shown', () => {
  /** What became of one that failed, as the cache of queries tells it. */
  const failed = (queryKey: string[], data: unknown, status?: number) => {
    const state = { status: 'error', data }
    const setState = (next: object) => Object.assign(state, next)
    const query = { queryKey, state, setState, isActive: () => false }
    const error = Object.assign(new Error('The disk is on fire.'), { status })
    keepShown(error, query as unknown as Parameters<typeof keepShown>[1])
    return state
  }

  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  it('leaves it, and one notice says so; what is gone, or was never read, is told in its place', async () => {
    const told = { status: 'error' }
    expect(failed(['triggers'], undefined, 500)).toMatchObject(told)
    expect(failed(['triggers'], [], 404)).toMatchObject(told)
    // No answer at all, and what has no status.
    expect(failed(['triggers'], [], 0)).toMatchObject(told)
    expect(failed(['triggers'], [])).toMatchObject(told)
    // Health has its banner.
    expect(failed(['health'], {}, 502)).toMatchObject(told)
    expect(shownNotices()).toEqual([])
    for (const status of [500, 503])
      expect(failed(['triggers'], ['many-errors'], status)).toEqual({
        ...{ status: 'success', error: null },
        data: ['many-errors'],
      })
    expect(shownNotices()).toMatchObject([
      { title: 'Shown from an earlier read', message: 'The disk is on fire.' },
    ])
    // Its page was left.
    await vi.advanceTimersByTimeAsync(RETRY_MS)
    expect(shownNotices()).toEqual([])
  })

  it('is said no longer than until it is read again', async () => {
    const state = { status: 'error', data: [], dataUpdatedAt: 1 }
    let answers = false
    const query = {
      ...{ queryKey: ['triggers'], state, isActive: () => true },
      setState: (next: object) => Object.assign(state, next),
      fetch: async () => {
        if (answers) state.dataUpdatedAt = 2
        else fail()
      },
    }
    const error = Object.assign(new Error('The disk is on fire.'), { status: 500 })
    const fail = () => keepShown(error, query as unknown as Parameters<typeof keepShown>[1])
    fail()
    await vi.advanceTimersByTimeAsync(RETRY_MS)
    expect(shownNotices()).toHaveLength(1)
    answers = true
    await vi.advanceTimersByTimeAsync(RETRY_MS)
    expect(shownNotices()).toEqual([])
  })
})

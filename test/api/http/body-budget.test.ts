import { describe, expect, it, vi } from 'vitest'
import { BodyBudget } from '../../../api/http/body-budget.ts'

/** Whether it has returned by now. */
async function isDone(promise: Promise<unknown>): Promise<boolean> {
  let done = false
  promise.then(
    () => (done = true),
    () => undefined,
  )
  await new Promise((resolve) => setImmediate(resolve))
  return done
}

describe('A11: memory for bodies', () => {
  it('is given in the order they came: a large one is not overtaken by small ones', async () => {
    const budget = new BodyBudget(100)
    const [first, large, small] = [{}, {}, {}]
    await budget.hold(first, 60)
    const waitsLarge = budget.hold(large, 80)
    const waitsSmall = budget.hold(small, 10)
    expect([await isDone(waitsLarge), await isDone(waitsSmall)]).toEqual([false, false])
    budget.release(first)
    expect([await isDone(waitsLarge), await isDone(waitsSmall)]).toEqual([true, true])
  })

  it('lets one body grow past the bound, so that bodies which all grow do not wait for each other', async () => {
    const budget = new BodyBudget(100)
    const [a, b] = [{}, {}]
    await budget.hold(a, 50)
    await budget.hold(b, 50)
    await budget.hold(a, 90)
    const waits = budget.hold(b, 90)
    expect(await isDone(waits)).toBe(false)
    await budget.hold(a, 140)
    budget.release(a)
    expect(await isDone(waits)).toBe(true)
  })

  it('is refused where its turn does not come, and the next has it', async () => {
    const budget = new BodyBudget(100, 1)
    const [a, large, small] = [{}, {}, {}]
    await budget.hold(a, 60)
    const refused = budget.hold(large, 80)
    const next = budget.hold(small, 30)
    await expect(refused).rejects.toMatchObject({ code: 'too_many', extra: { retryAfter: 1 } })
    await expect(Promise.any([next, Promise.reject()])).resolves.toBeUndefined()
  })

  it('ends what has been coming longest of all doors, of those that hold much, where one waits', async () => {
    vi.useFakeTimers({
      toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'performance'],
    })
    const MiB = 1024 * 1024
    const [over, under, small, late, waiting] = [{}, {}, {}, {}, {}]
    const budget = new BodyBudget(5 * MiB, 60_000, 3_000)
    const seen: boolean[][] = []
    const ended: object[] = []
    const door = (request: object, since: number) =>
      budget.relieveBy((holdsMuch) => {
        seen.push([over, under, small, late, waiting].map(holdsMuch))
        const end = (): void => {
          ended.push(request)
          budget.release(request)
        }
        return holdsMuch(request) ? { since, end } : null
      })
    door(over, 20)
    door(under, 10)
    for (const request of [over, under]) await budget.hold(request, MiB)
    await budget.hold(small, 1000)
    vi.advanceTimersByTime(2_000)
    // Too new to be slow when the first relief comes.
    await budget.hold(late, 2 * MiB)
    const waits = budget.hold(waiting, 3 * MiB - 1000)
    vi.advanceTimersByTime(1_500)
    expect(seen).toEqual([])
    vi.advanceTimersByTime(1_500)
    expect(seen).toEqual(Array(2).fill([true, true, false, true, false]))
    expect(ended).toEqual([under])
    expect(await isDone(waits)).toBe(false)
    // Where one was not enough, another.
    vi.advanceTimersByTime(3_000)
    expect(ended).toEqual([under, over])
    expect(await isDone(waits)).toBe(true)
    vi.advanceTimersByTime(3_000)
    expect(ended).toHaveLength(2)
    vi.useRealTimers()
  })

  it('is not waited for by those that left, and not taken by those that were released', async () => {
    const budget = new BodyBudget(100)
    const [a, gone, next] = [{}, {}, {}]
    await budget.hold(a, 60)
    const left = budget.hold(gone, 80)
    const waits = budget.hold(next, 40)
    budget.abandon(gone)
    await expect(left).rejects.toMatchObject({ code: 'invalid' })
    expect(await isDone(waits)).toBe(true)
    budget.release(a)
    await expect(budget.hold(a, 10)).rejects.toMatchObject({ code: 'invalid' })
    await budget.hold({}, 60)
  })

  it('is held while a body is at work, though its sender has gone, and no longer', async () => {
    const budget = new BodyBudget(100)
    const [gone, next] = [{}, {}]
    await budget.hold(gone, 60)
    let end = (): void => undefined
    const work = budget.during(gone, () => new Promise<void>((resolve) => (end = resolve)))
    budget.abandon(gone)
    const waits = budget.hold(next, 60)
    expect(await isDone(waits)).toBe(false)
    end()
    await work
    expect(await isDone(waits)).toBe(true)
  })
})

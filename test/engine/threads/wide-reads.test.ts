import { describe, expect, it } from 'vitest'
import { BUSY_MS, LEFT_MS, START_MS, WIDE_MS, WideReads } from '../../../engine/threads/wide-reads.ts'

interface Call {
  thread: number
  what: string
  answer(value: unknown): void
  reject(error: Error): void
}

/**
 * Wide reads over threads that answer when told to, and a clock moved by hand.
 * @param starts by hand, by `started`; else a thread has started at once
 * @param worked processor time that a thread has had, in milliseconds; absent: it does not say
 */
function open(starts = false, worked?: () => Promise<number | null>) {
  const starting: { resolve(): void; reject(error: Error): void }[] = []
  const calls: Call[] = []
  const ended: number[] = []
  const timers: { at: number; fn: () => void }[] = []
  let now = 0
  let threads = 0
  const wide = new WideReads(
    () => {
      const thread = ++threads
      return {
        ready: starts
          ? new Promise<void>((resolve, reject) => {
              starting.push({ resolve, reject })
            })
          : null,
        call: (_method, args) =>
          new Promise<never>((resolve, reject) => {
            calls.push({ thread, what: String(args[0]), answer: resolve as (value: unknown) => void, reject })
          }),
        ...(worked ? { worked } : {}),
        // As a worker that is terminated: what it was at, or what waited for its start, fails.
        end: async () => {
          ended.push(thread)
          for (const call of calls)
            if (call.thread === thread) call.reject(new Error(`thread ${thread} ended with code 1`))
        },
      }
    },
    {
      after(ms, fn) {
        const timer = { at: now + ms, fn }
        timers.push(timer)
        return () => void timers.splice(timers.indexOf(timer), 1)
      },
    },
  )
  const pass = (ms: number) => {
    now += ms
    for (const timer of timers.filter(({ at }) => at <= now)) {
      timers.splice(timers.indexOf(timer), 1)
      timer.fn()
    }
  }
  const ask = (what: string, by: string, gone?: AbortSignal) => {
    const told = wide.run<unknown>('read', [what], { by, ...(gone ? { gone } : {}) })
    const end = told.then(
      (value) => value,
      (error: { code: string }) => error.code,
    )
    return end
  }
  const begun = () => calls.map(({ what }) => what)
  const answer = async (what: string) => {
    calls.findLast((call) => call.what === what)!.answer(what)
    await new Promise((resolve) => setImmediate(resolve))
  }
  /** Of the thread that was begun last. @param error why it did not */
  const started = async (error?: Error) => {
    if (error) starting.at(-1)!.reject(error)
    else starting.at(-1)!.resolve()
    await new Promise((resolve) => setImmediate(resolve))
  }
  return { wide, calls, ended, pass, ask, begun, answer, timers, started, starting }
}

describe('wide reads', () => {
  it('give each credential a share, and turns to those who ask for little', async () => {
    const { ask, begun, answer } = open()
    for (let i = 0; i < 20; i++) void ask(`a${i}`, 'a')
    expect(begun()).toEqual(['a0', 'a1'])
    const b = ask('b0', 'b')
    const c = ask('c0', 'c')
    expect(begun()).toEqual(['a0', 'a1', 'b0', 'c0'])
    void ask('d0', 'd')
    // However many of one wait, whoever has nothing at work comes first.
    await answer('a0')
    expect(begun().at(-1)).toBe('d0')
    await answer('b0')
    await answer('c0')
    expect([await b, await c]).toEqual(['b0', 'c0'])
    expect(begun().slice(5)).toEqual(['a2'])
  })

  it('refuse a credential that lets too many wait', async () => {
    const { ask } = open()
    for (let i = 0; i < 34; i++) void ask(`a${i}`, 'a')
    expect(await ask('one more', 'a')).toBe('too_many')
  })

  it('end one that takes longer than it may, and begin the others again', async () => {
    const { ask, begun, answer, pass, ended, calls } = open()
    const slow = ask('slow', 'a')
    pass(WIDE_MS - 1)
    const other = ask('other', 'b')
    expect(ended).toEqual([])
    pass(1)
    expect(await slow).toBe('too_slow')
    expect(ended).toEqual([1])
    expect(begun()).toEqual(['slow', 'other', 'other'])
    expect(calls.at(-1)!.thread).toBe(2)
    await answer('other')
    expect(await other).toBe('other')
  })

  it('go on with one whose thread others keep from the processors, until it has worked as long as it may', async () => {
    let worked = 500
    const { ask, answer, pass, ended, timers } = open(false, async () => worked)
    const turn = () => new Promise((resolve) => setImmediate(resolve))
    const busy = ask('busy', 'a')
    worked += 2_000
    pass(WIDE_MS)
    await turn()
    worked += 2_000
    pass(WIDE_MS - 2_000)
    await turn()
    expect(ended).toEqual([])
    await answer('busy')
    expect(await busy).toBe('busy')
    expect(timers).toEqual([])

    const atWork = ask('at work', 'a')
    worked += 4_000
    pass(WIDE_MS)
    await turn()
    expect(ended).toEqual([])
    worked += WIDE_MS - 4_000
    pass(WIDE_MS - 4_000)
    expect(await atWork).toBe('too_slow')
    expect(timers).toEqual([])
  })

  it('end one whose thread is kept from the processors for very long, or does not say how much it worked', async () => {
    const turn = () => new Promise((resolve) => setImmediate(resolve))
    const starved = open(false, async () => 0)
    const read = starved.ask('starved', 'a')
    for (let passed = 0; passed < BUSY_MS; passed += WIDE_MS) {
      expect(starved.ended).toEqual([])
      starved.pass(WIDE_MS)
      await turn()
    }
    expect(await read).toBe('too_slow')
    const silent = open(false, () => new Promise(() => {}))
    const stuck = silent.ask('stuck', 'a')
    silent.pass(WIDE_MS)
    silent.pass(1_000)
    expect(await stuck).toBe('too_slow')
    expect(silent.ended).toEqual([1])
  })

  it('end one whose asker has gone: at once if it waits, with its thread if it is still at work a moment later', async () => {
    const { ask, begun, ended, answer, pass, timers } = open()
    const first = new AbortController()
    const waiting = new AbortController()
    const reads = [ask('at work', 'a', first.signal), ask('beside', 'a'), ask('waits', 'a', waiting.signal)]
    waiting.abort()
    expect(await reads[2]).toBe('unavailable')
    first.abort()
    expect(await reads[0]).toBe('unavailable')
    pass(LEFT_MS - 1)
    expect(ended).toEqual([])
    pass(1)
    expect(ended).toEqual([1])
    expect(begun()).toEqual(['at work', 'beside', 'beside'])
    await answer('beside')
    expect(await reads[1]).toBe('beside')
    expect(timers).toEqual([])
    const gone = new AbortController()
    gone.abort()
    expect(await ask('never', 'a', gone.signal)).toBe('unavailable')
    expect(begun()).not.toContain('never')
  })

  it('leave the thread alone where one ends soon after its asker has gone, and count it until then', async () => {
    const { ask, begun, ended, answer, pass, timers } = open()
    const gone = new AbortController()
    const left = ask('left', 'a', gone.signal)
    const beside = ask('beside', 'a')
    gone.abort()
    expect(await left).toBe('unavailable')
    const next = ask('next', 'a')
    expect(begun()).toEqual(['left', 'beside'])
    await answer('left')
    expect(begun()).toEqual(['left', 'beside', 'next'])
    pass(LEFT_MS)
    expect(ended).toEqual([])
    await answer('beside')
    await answer('next')
    expect([await beside, await next]).toEqual(['beside', 'next'])
    expect(timers).toEqual([])
  })

  it('do not hold up a stop', async () => {
    const { wide, ask, ended, begun } = open()
    const reads = ['one', 'two', 'three'].map((what) => ask(what, 'a'))
    await wide.stop()
    expect(await Promise.all(reads)).toEqual(['unavailable', 'unavailable', 'unavailable'])
    expect(ended).toEqual([1])
    expect(await ask('four', 'a')).toBe('unavailable')
    expect(begun()).toEqual(['one', 'two'])
  })

  it('have their time from when their thread has started, however long that took', async () => {
    const { ask, begun, answer, pass, started, ended } = open(true)
    const read = ask('first', 'a')
    pass(START_MS - 1)
    expect(begun()).toEqual([])
    await started()
    pass(WIDE_MS - 1)
    expect([begun(), ended]).toEqual([['first'], []])
    await answer('first')
    expect(await read).toBe('first')
  })

  it('leave a thread that starts to the others where an asker goes, and have their whole time in the next', async () => {
    const { ask, begun, answer, pass, started, starting, ended, timers } = open(true)
    const gone = new AbortController()
    const [left, read] = [ask('left', 'a', gone.signal), ask('read', 'a')]
    gone.abort()
    expect(await left).toBe('unavailable')
    pass(LEFT_MS)
    await started()
    expect([begun(), ended, starting.length]).toEqual([['read'], [], 1])
    // Another is under way when this one takes too long, and ends their thread.
    pass(WIDE_MS - 1)
    const other = ask('other', 'c')
    pass(1)
    expect([await read, ended]).toEqual(['too_slow', [1]])
    pass(START_MS - 1)
    await started()
    pass(WIDE_MS - 1)
    await answer('other')
    expect(await other).toBe('other')
    expect(timers).toEqual([])
  })

  it('refuse what no thread was there for in time, and begin another for the next', async () => {
    const { ask, begun, answer, pass, started, starting } = open(true)
    const late = ask('late', 'a')
    pass(START_MS)
    expect(await late).toBe('too_slow')
    const failed = ask('failed', 'a')
    await started(new Error('no file'))
    expect(await failed).toBeUndefined()
    const read = ask('read', 'a')
    await started()
    expect([begun(), starting.length]).toEqual([['read'], 3])
    await answer('read')
    expect(await read).toBe('read')
  })

  it('go on after the thread failed, without what it was at', async () => {
    const { wide, ask, answer, calls } = open()
    const reads = ['one', 'two', 'three'].map((what) => ask(what, 'a'))
    wide.lost()
    expect(await reads[0]).toBe('internal')
    expect(calls.at(-1)).toMatchObject({ thread: 2, what: 'three' })
    await answer('three')
    expect(await reads[2]).toBe('three')
  })
})

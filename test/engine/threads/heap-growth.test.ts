import { cachedDataVersionTag } from 'node:v8'
import { expect, it, onTestFinished, vi } from 'vitest'
import { EngineThread, growthFor, keepRoomFor, limitHeaps } from '../../../engine/threads/protocol.ts'
import { WideReads } from '../../../engine/threads/wide-reads.ts'

it('keeps heaps tight while the process is large, and does not waver about the bound', () => {
  const seen: boolean[] = []
  let growth = growthFor(0)
  for (const mb of [200, 350, 360, 345, 330, 345]) {
    growth = growthFor(mb * 1e6, growth)
    seen.push(growth.isTight)
  }
  expect(seen).toEqual([false, false, true, true, false, false])
})

it('leaves heaps the room of a wide read while one is at work', () => {
  const tight = growthFor(400e6)
  expect(tight.isTight).toBe(true)
  expect([400, 600].map((mb) => growthFor(mb * 1e6, tight, true).isTight)).toEqual([false, true])
})

it('gives that room until the read has ended, refused or not', async () => {
  vi.useFakeTimers()
  const endLimits = limitHeaps(() => 400e6)
  onTestFinished(() => {
    endLimits()
    vi.useRealTimers()
  })
  const look = () => {
    vi.advanceTimersByTime(1_000)
    return cachedDataVersionTag()
  }
  const tight = look()
  const calls: { answer(value: unknown): void; fail(error: Error): void }[] = []
  const wide = new WideReads(
    () => ({
      ready: null,
      call: <T>() =>
        new Promise<T>((resolve, fail) => {
          calls.push({ answer: resolve as (value: unknown) => void, fail })
        }),
      end: async () => {},
    }),
    { after: () => () => {} },
    keepRoomFor,
  )
  const first = wide.run('export', [], { by: 'a' })
  const second = wide.run('export', [], { by: 'b' })
  const roomy = look()
  expect(roomy).not.toBe(tight)
  calls[0]!.answer('all')
  await first
  expect(look()).toBe(roomy)
  calls[1]!.fail(new Error('ended'))
  await expect(second).rejects.toThrow()
  expect(look()).toBe(tight)
})

/** A thread that starts, and tells under which flags V8 takes what it has compiled before. */
const TELLS_TAG = `
  import { parentPort } from 'node:worker_threads'
  import { cachedDataVersionTag } from 'node:v8'
  parentPort.postMessage({ t: 'tallies', tallies: [{ value: cachedDataVersionTag() }] })
  parentPort.postMessage({ t: 'ready' })
`

it('a thread starts with what V8 has compiled before, and heaps are bounded once it has', async () => {
  const plain = cachedDataVersionTag()
  // The process of the tests is large, or grows so while this one waits.
  const endLimits = limitHeaps(() => 0)
  onTestFinished(endLimits)
  const bounded = cachedDataVersionTag()
  expect(bounded).not.toBe(plain)
  const tags: number[] = []
  const none = () => {}
  const { port1: log } = new MessageChannel()
  const thread = new EngineThread(
    new URL(`data:text/javascript,${encodeURIComponent(TELLS_TAG)}`),
    { role: 'checkpointer', dataFile: '', log },
    {
      ...{
        onFatal: none,
        onFault: none,
        onPending: none,
        onSourcesChanged: none,
        onLogLong: none,
        onStorage: none,
      },
      onTallies: (tallies) => tags.push(...tallies.map(({ value }) => value)),
    },
    [log],
  )
  await thread.ready
  expect(tags).toEqual([plain])
  expect(cachedDataVersionTag()).toBe(bounded)
  await thread.end()
  endLimits()
  expect(cachedDataVersionTag()).toBe(plain)
})

import { cachedDataVersionTag } from 'node:v8'
import { expect, it, onTestFinished } from 'vitest'
import { EngineThread, growthFor, limitHeaps } from '../../../engine/threads/protocol.ts'

it('keeps heaps tight while the process is large, and does not waver about the bound', () => {
  const seen: boolean[] = []
  let growth = growthFor(0)
  for (const mb of [200, 350, 360, 345, 330, 345]) {
    growth = growthFor(mb * 1e6, growth)
    seen.push(growth.isTight)
  }
  expect(seen).toEqual([false, false, true, true, false, false])
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

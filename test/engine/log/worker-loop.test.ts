import { expect, it } from 'vitest'
import { createWorkerLoop } from '../../../engine/log/worker-loop.ts'

it('looks when nudged, again where it was nudged meanwhile, after a longer pause each time it failed, and no more once stopped', async () => {
  const waits: number[] = []
  let due = () => {}
  const errors: string[] = []
  let looks = 0
  let isBroken = false
  const loop = createWorkerLoop({
    look: async () => {
      looks++
      if (isBroken) throw new Error('no')
      if (looks === 1) loop.nudge()
      return null
    },
    timers: {
      after: (ms: number, fn: () => void) => {
        waits.push(ms)
        due = fn
        return () => {}
      },
    } as never,
    onError: ({ message }) => errors.push(message),
  })
  const turn = () => new Promise((resolve) => setImmediate(resolve))
  loop.nudge()
  await turn()
  expect([looks, waits]).toEqual([2, []])
  isBroken = true
  loop.nudge()
  await turn()
  due()
  await turn()
  expect([looks, waits, errors]).toEqual([4, [1_000, 2_000], ['no', 'no']])
  isBroken = false
  due()
  await turn()
  expect([looks, waits.length]).toEqual([5, 2])
  loop.stop()
  loop.nudge()
  await turn()
  expect(looks).toBe(5)
})

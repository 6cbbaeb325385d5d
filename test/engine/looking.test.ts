import { expect, it } from 'vitest'
import { createLooking } from '../../engine/looking.ts'

it('looks when nudged, again where it was nudged meanwhile, after a longer pause each time it failed, and no more once stopped', async () => {
  const waits: number[] = []
  let due = () => {}
  const errors: string[] = []
  let looks = 0
  let isBroken = false
  const looking = createLooking({
    look: async () => {
      looks++
      if (isBroken) throw new Error('no')
      if (looks === 1) looking.nudge()
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
  looking.nudge()
  await turn()
  expect([looks, waits]).toEqual([2, []])
  isBroken = true
  looking.nudge()
  await turn()
  due()
  await turn()
  expect([looks, waits, errors]).toEqual([4, [2_000, 4_000], ['no', 'no']])
  isBroken = false
  due()
  await turn()
  expect([looks, waits.length]).toEqual([5, 2])
  looking.stop()
  looking.nudge()
  await turn()
  expect(looks).toBe(5)
})

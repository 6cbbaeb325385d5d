import { expect, it } from 'vitest'
import type { Row, TailMessage } from '../../../engine/calls.ts'
import { follow } from '../../../engine/log/live.ts'

const rows = (from: number, to: number): Row[] =>
  Array.from({ length: to - from + 1 }, (_, n) => ({ id: `evt_${from + n}` }) as Row)

it('a tail that goes on sends ids in their order, and nothing of what it told as missed', async () => {
  let commit: (message: TailMessage) => void = () => {}
  const told: TailMessage[] = []
  await follow(
    async (send) => {
      commit = send
      return () => {}
    },
    async () => {
      // Stored while the backlog, which has the newest alone, is read.
      commit({ rows: rows(3, 6) })
      commit({ rows: rows(7, 9) })
      return { rows: rows(5, 8), missed: 2, notice: null }
    },
    'evt_2',
    (message) => told.push(message),
  )
  commit({ rows: rows(10, 10) })
  expect(told).toEqual([
    { missed: 2, afterId: 'evt_2' },
    { rows: rows(5, 8) },
    { rows: rows(9, 9) },
    { rows: rows(10, 10) },
  ])
})

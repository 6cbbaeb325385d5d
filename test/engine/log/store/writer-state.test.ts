/** 15 E1: what other threads know of the writer without asking it. */
import { describe, expect, it } from 'vitest'
import { Stamp, WriterState } from '../../../../engine/log/store/writer-state.ts'

const T0 = Date.parse('2026-11-20T12:00:00Z')

/** The writer's state, and the same memory as another thread sees it. */
function both(): {
  writer: WriterState
  other: WriterState
  clock: { at: number; now(): number }
  stamp: Stamp
} {
  const writer = new WriterState()
  const clock = { at: T0, now: () => clock.at }
  return { writer, other: new WriterState(writer.memory), clock, stamp: new Stamp(clock, 0, writer) }
}

describe('an instant that a read was answered for', () => {
  it('is closed by whoever reads: what is stored later is stamped behind it, also where the clock stands still', () => {
    const { other, stamp } = both()
    expect(other.close(T0)).toBe(true)
    expect(stamp.next()).toBe(T0 + 1)
  })

  it('is not closed yet while a transaction is under way whose events are of then or before', () => {
    const { writer, other, clock, stamp } = both()
    expect(stamp.next()).toBe(T0)
    clock.at += 5
    expect(stamp.next()).toBe(T0 + 5)
    expect(other.close(T0 - 1)).toBe(true)
    expect(other.close(T0)).toBe(false)
    expect(other.close(T0 + 2)).toBe(false)
    writer.over()
    expect(other.close(T0 + 2)).toBe(true)
  })

  it('never opens again: the floor does not fall', () => {
    const { writer, other, clock, stamp } = both()
    other.close(T0 + 1_000)
    other.close(T0)
    writer.raise(T0 - 1)
    clock.at = T0 - 1_000
    expect(stamp.next()).toBe(T0 + 1_001)
  })
})

describe('the silence of the writer', () => {
  it('is how long it has been at work without writing anything', () => {
    const { writer, other } = both()
    expect(other.silence(T0)).toBe(0)
    writer.begin(T0)
    writer.begin(T0 + 100)
    expect(other.silence(T0 + 12_000)).toBe(12_000)
    writer.wrote(T0 + 12_000)
    expect(other.silence(T0 + 12_500)).toBe(500)
    writer.end()
    expect(other.silence(T0 + 60_000)).toBe(0)
  })

  it('goes on where the file is held by another: between two tries it is not well either', () => {
    const { writer, other } = both()
    writer.begin(T0)
    writer.blocked()
    writer.end()
    writer.begin(T0 + 5_000)
    expect(writer.isHeld).toBe(true)
    expect(other.silence(T0 + 9_000)).toBe(9_000)
    writer.wrote(T0 + 9_000)
    writer.end()
    expect([writer.isHeld, other.silence(T0 + 30_000)]).toEqual([false, 0])
  })
})

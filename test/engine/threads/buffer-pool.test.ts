import { describe, expect, it } from 'vitest'
import { BufferPool } from '../../../engine/threads/protocol.ts'

describe('a buffer', () => {
  it('is used again once it was given back, for a body of its size or less', () => {
    const pool = new BufferPool()
    const first = pool.take(300_000)
    expect(first).toHaveLength(300_000)
    expect(first.byteOffset).toBe(0)
    expect(pool.take(300_000).buffer).not.toBe(first.buffer)
    pool.give(first.buffer as ArrayBuffer)
    const again = pool.take(200_000)
    expect(again.buffer).toBe(first.buffer)
    expect(again).toHaveLength(200_000)
  })

  it('is not kept where it is small or large, and only a few are', () => {
    expect(BufferPool.isKept(new ArrayBuffer(1_000))).toBe(false)
    expect(BufferPool.isKept(new ArrayBuffer(16 * 1024 * 1024))).toBe(false)
    const pool = new BufferPool()
    const buffers = Array.from({ length: 20 }, () => new ArrayBuffer(512 * 1024))
    for (const buffer of buffers) pool.give(buffer)
    const taken = Array.from({ length: 20 }, () => pool.take(400_000).buffer)
    expect(taken.filter((buffer) => buffers.includes(buffer as ArrayBuffer))).toHaveLength(8)
  })
})

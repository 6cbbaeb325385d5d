/** Ids of firings and deliveries, and lists of event ids as bytes. */
import { randomBytes } from 'node:crypto'

/** 32 hexadecimal digits that sort by time (RFC 9562, UUID version 7). @param at epoch ms */
export function newDispatchId(at: number): string {
  const bytes = randomBytes(16)
  bytes.writeUIntBE(at, 0, 6)
  bytes[6] = (bytes[6]! & 0x0f) | 0x70
  bytes[8] = (bytes[8]! & 0x3f) | 0x80
  return bytes.toString('hex')
}

/** Differences between neighbours, signed (zigzag), seven bits a byte: 1,000 ids take about 1 KB. */
export function packIds(ids: readonly number[]): Uint8Array {
  const bytes: number[] = []
  let last = 0
  for (const id of ids) {
    const step = id - last
    last = id
    let left = step < 0 ? -step * 2 - 1 : step * 2
    while (left >= 128) {
      bytes.push((left % 128) | 128)
      left = Math.floor(left / 128)
    }
    bytes.push(left)
  }
  return Uint8Array.from(bytes)
}

/** The ids of `packIds`. */
export function unpackIds(bytes: Uint8Array): number[] {
  const ids: number[] = []
  let last = 0
  let value = 0
  let scale = 1
  for (const byte of bytes) {
    value += (byte & 127) * scale
    if (byte & 128) {
      scale *= 128
      continue
    }
    last += value % 2 ? -(value + 1) / 2 : value / 2
    ids.push(last)
    value = 0
    scale = 1
  }
  return ids
}

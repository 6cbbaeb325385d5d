/** Bytes that arrived in parts. */

/** How many there are. */
export function sizeOf(bytes: Uint8Array | readonly Uint8Array[]): number {
  return bytes instanceof Uint8Array ? bytes.length : bytes.reduce((sum, part) => sum + part.length, 0)
}

/** All of them, in a buffer of their own where they are not whole already. */
export function joined(
  bytes: Uint8Array | readonly Uint8Array[],
  bufferOf = (size: number): Buffer => Buffer.allocUnsafeSlow(size),
): Buffer {
  if (bytes instanceof Uint8Array) return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const whole = bufferOf(sizeOf(bytes))
  let at = 0
  for (const part of bytes) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}

/** Bytes of ingest calls on their way between threads: handed over where they are large, else copied. */
import type { IngestCall } from '../engine.ts'
import type { CallMeta } from './protocol.ts'

/** Small bodies are copied into one buffer; from this size their own is handed over instead. */
const OWN_BUFFER_BYTES = 64 * 1024

/** The message for some calls, and the buffers to transfer with it. */
export function packCalls(group: readonly { id: number; call: IngestCall }[]): {
  calls: CallMeta[]
  buffers: ArrayBuffer[]
} {
  const pack = new BufferPack(
    group.reduce(
      (sum, { call }) => sum + smallSize(call.body) + (call.wireBody ? smallSize(call.wireBody) : 0),
      0,
    ),
  )
  const calls = group.map(({ call, id }): CallMeta => {
    const { body, wireBody, ...rest } = call
    return { ...rest, id, ...pack.put(body), ...(wireBody ? { wire: pack.put(wireBody) } : {}) }
  })
  return { calls, buffers: pack.buffers }
}

/** The calls of a message, with views of its buffers. */
export function callsOf(
  calls: readonly CallMeta[],
  buffers: readonly ArrayBuffer[],
): { id: number; call: IngestCall }[] {
  return calls.map((meta) => {
    const { id, buffer, start, end, wire, ...rest } = meta
    const call: IngestCall = { ...rest, body: Buffer.from(buffers[buffer]!, start, end - start) }
    if (wire) call.wireBody = Buffer.from(buffers[wire.buffer]!, wire.start, wire.end - wire.start)
    return { id, call }
  })
}

const smallSize = (bytes: Uint8Array): number => (bytes.length >= OWN_BUFFER_BYTES ? 0 : bytes.length)

class BufferPack {
  readonly buffers: ArrayBuffer[]
  private readonly shared: Uint8Array
  private at = 0

  constructor(sharedBytes: number) {
    const buffer = new ArrayBuffer(sharedBytes)
    this.shared = new Uint8Array(buffer)
    this.buffers = [buffer]
  }

  put(bytes: Uint8Array): { buffer: number; start: number; end: number } {
    if (bytes.length < OWN_BUFFER_BYTES) {
      this.shared.set(bytes, this.at)
      const start = this.at
      this.at += bytes.length
      return { buffer: 0, start, end: this.at }
    }
    // A view of a larger buffer cannot be transferred alone.
    const own =
      bytes.byteOffset === 0 && bytes.byteLength === bytes.buffer.byteLength
        ? (bytes.buffer as ArrayBuffer)
        : new Uint8Array(bytes).buffer
    this.buffers.push(own)
    return { buffer: this.buffers.length - 1, start: 0, end: bytes.length }
  }
}

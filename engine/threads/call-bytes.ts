/** Bytes of ingest calls on their way between threads: handed over where they are large, else copied. */
import type { IngestCall, IngestPost } from '../engine.ts'
import { joined, sizeOf } from '../join.ts'
import type { CallMeta, Place } from './protocol.ts'

/** Small bodies are copied into one buffer; from this size their own is handed over instead. */
export const OWN_BUFFER_BYTES = 64 * 1024

/** The message for some calls, and the buffers to transfer with it. */
export function packCalls(group: readonly { id: number; call: IngestPost }[]): {
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
    return { ...rest, id, body: pack.put(body), ...(wireBody ? { wire: pack.put(wireBody) } : {}) }
  })
  return { calls, buffers: pack.buffers }
}

/** The calls of a message. @param bufferOf where bodies in parts are joined. */
export function callsOf(
  calls: readonly CallMeta[],
  buffers: readonly ArrayBuffer[],
  bufferOf?: (size: number) => Buffer,
): { id: number; call: IngestCall }[] {
  return calls.map((meta) => {
    const { id, body, wire, ...rest } = meta
    const call: IngestCall = { ...rest, body: bytesAt(buffers, body, bufferOf) }
    if (wire) call.wireBody = bytesAt(buffers, wire)
    return { id, call }
  })
}

function bytesAt(
  buffers: readonly ArrayBuffer[],
  { buffer, parts, start, end }: Place,
  bufferOf?: (size: number) => Buffer,
): Buffer {
  if (parts > 1)
    return joined(
      buffers.slice(buffer, buffer + parts).map((part) => new Uint8Array(part)),
      bufferOf,
    )
  return Buffer.from(buffers[buffer]!, start, end - start)
}

type Bytes = IngestPost['body']

const smallSize = (bytes: Bytes): number => {
  const size = sizeOf(bytes)
  return size >= OWN_BUFFER_BYTES ? 0 : size
}

class BufferPack {
  readonly buffers: ArrayBuffer[]
  private readonly shared: Uint8Array
  private at = 0

  constructor(sharedBytes: number) {
    const buffer = new ArrayBuffer(sharedBytes)
    this.shared = new Uint8Array(buffer)
    this.buffers = [buffer]
  }

  put(bytes: Bytes): Place {
    const size = sizeOf(bytes)
    const parts = bytes instanceof Uint8Array ? [bytes] : bytes
    if (size >= OWN_BUFFER_BYTES) {
      const first = this.buffers.length
      this.buffers.push(...parts.map(ownBuffer))
      return { buffer: first, parts: parts.length, start: 0, end: size }
    }
    const start = this.at
    for (const part of parts) {
      this.shared.set(part, this.at)
      this.at += part.length
    }
    return { buffer: 0, parts: 1, start, end: this.at }
  }
}

/** A view of a larger buffer cannot be transferred alone. */
function ownBuffer(bytes: Uint8Array): ArrayBuffer {
  const isWhole = bytes.byteOffset === 0 && bytes.byteLength === bytes.buffer.byteLength
  return (isWhole ? bytes : new Uint8Array(bytes)).buffer as ArrayBuffer
}

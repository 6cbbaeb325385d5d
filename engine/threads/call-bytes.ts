/** Bytes of ingest calls on their way between threads: handed over where they are large, else copied. */
import { MessageChannel } from 'node:worker_threads'
import type { IngestCall, IngestPost } from '../calls.ts'
import { joined, sizeOf } from '../ingest/body-bytes.ts'
import type { CallMeta, Place } from './protocol.ts'

/** Small bodies are copied into one buffer; from this size their own is handed over instead. */
export const OWN_BUFFER_BYTES = 64 * 1024

/** The message for some calls, and the buffers to transfer with it. @param take where parts are joined. */
export function packCalls(
  group: readonly { id: number; call: IngestPost }[],
  take: (size: number) => Buffer,
): { calls: CallMeta[]; buffers: ArrayBuffer[] } {
  const pack = new BufferPack(
    group.reduce(
      (sum, { call }) => sum + smallSize(call.body) + (call.wireBody ? smallSize(call.wireBody) : 0),
      0,
    ),
    take,
  )
  const calls = group.map(({ call, id }): CallMeta => {
    const { body, wireBody, ...rest } = call
    return { ...rest, id, body: pack.put(body), ...(wireBody ? { wire: pack.put(wireBody) } : {}) }
  })
  return { calls, buffers: pack.buffers }
}

/** The calls of a message. */
export function callsOf(
  calls: readonly CallMeta[],
  buffers: readonly ArrayBuffer[],
): { id: number; call: IngestCall }[] {
  return calls.map((meta) => {
    const { id, body, wire, ...rest } = meta
    const call: IngestCall = { ...rest, body: bytesAt(buffers, body) }
    if (wire) call.wireBody = bytesAt(buffers, wire)
    return { id, call }
  })
}

const bytesAt = (buffers: readonly ArrayBuffer[], { buffer, start, end }: Place): Buffer =>
  Buffer.from(buffers[buffer]!, start, end - start)

type Bytes = IngestPost['body']

const smallSize = (bytes: Bytes): number => {
  const size = sizeOf(bytes)
  return size >= OWN_BUFFER_BYTES ? 0 : size
}

class BufferPack {
  readonly buffers: ArrayBuffer[]
  private readonly shared: Uint8Array
  private at = 0

  constructor(
    sharedBytes: number,
    private readonly take: (size: number) => Buffer,
  ) {
    const buffer = new ArrayBuffer(sharedBytes)
    this.shared = new Uint8Array(buffer)
    this.buffers = [buffer]
  }

  put(bytes: Bytes): Place {
    const size = sizeOf(bytes)
    if (size >= OWN_BUFFER_BYTES) {
      this.buffers.push(bytes instanceof Uint8Array ? ownBuffer(bytes) : this.join(bytes))
      return { buffer: this.buffers.length - 1, start: 0, end: size }
    }
    const start = this.at
    for (const part of bytes instanceof Uint8Array ? [bytes] : bytes) {
      this.shared.set(part, this.at)
      this.at += part.length
    }
    return { buffer: 0, start, end: this.at }
  }

  private join(parts: readonly Uint8Array[]): ArrayBuffer {
    const whole = joined(parts, this.take)
    free(parts.filter(isWhole).map((part) => part.buffer as ArrayBuffer))
    return whole.buffer as ArrayBuffer
  }
}

/** A port that leads nowhere. */
const nowhere = (() => {
  const { port1, port2 } = new MessageChannel()
  port1.close()
  port2.close()
  return port1
})()

/**
 * Frees buffers at once. Left to the collector, those of a hundred megabytes a second make it mark the
 * whole heap ten times a second; handing them over takes them off its books.
 */
function free(buffers: readonly ArrayBuffer[]): void {
  nowhere.postMessage(null, buffers)
}

const isWhole = (bytes: Uint8Array): boolean =>
  bytes.byteOffset === 0 && bytes.byteLength === bytes.buffer.byteLength

/** A view of a larger buffer cannot be transferred alone. */
function ownBuffer(bytes: Uint8Array): ArrayBuffer {
  return (isWhole(bytes) ? bytes : new Uint8Array(bytes)).buffer as ArrayBuffer
}

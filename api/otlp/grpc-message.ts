/**
 * The one message of a unary gRPC call (https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md): five
 * bytes, whether it is compressed and how long it is, and the message.
 */
import type { ServerHttp2Stream } from 'node:http2'
import { fail, SvcError } from '../../engine/index.ts'
import { inTime } from '../http/stream-body.ts'
import { WIRE_MAX } from '../http/whole-body.ts'

const PREFIX_BYTES = 5
/** As long as any request may take to send its body. */
const BODY_MS = 30_000

/**
 * Reads until the client has sent all, or its time is over. How long the message is comes first: what follows
 * is left with the client until there is room for all of it, so that a long one gets its turn.
 * @param hold returns once there is memory for so many bytes.
 * @throws SvcError too_large: longer than ingest takes; invalid: cut short, or not one message; what `hold` throws
 */
export async function readMessage(
  stream: ServerHttp2Stream,
  hold: (bytes: number) => Promise<void>,
): Promise<{ isCompressed: boolean; message: Buffer }> {
  const parts: Buffer[] = []
  let size = 0
  let whole: number | null = null
  for await (const part of partsOf(stream)) {
    parts.push(part)
    size += part.length
    if (whole === null && size >= PREFIX_BYTES) {
      whole = PREFIX_BYTES + Buffer.concat(parts).readUInt32BE(1)
      if (whole > PREFIX_BYTES + WIRE_MAX) fail('too_large', 'the message is larger than 16 MiB')
      await hold(whole)
    }
    if (whole !== null && size > whole) fail('invalid', 'the call holds not one message')
  }
  if (whole === null) return fail('invalid', 'the call holds no message')
  if (size < whole) fail('invalid', 'the call holds not one message')
  const bytes = Buffer.concat(parts)
  return { isCompressed: bytes[0] === 1, message: bytes.subarray(PREFIX_BYTES) }
}

/** What comes, as it is asked for. @throws SvcError invalid: it ends too soon, or does not come in time */
async function* partsOf(stream: ServerHttp2Stream): AsyncGenerator<Buffer> {
  const slow = new SvcError('invalid', `the message did not come within ${BODY_MS / 1_000} s`)
  const iterator = stream.iterator({ destroyOnReturn: false })
  let left = BODY_MS
  try {
    for (;;) {
      const began = performance.now()
      const next = await inTime(iterator.next(), left, slow).catch((error: Error) => {
        throw error instanceof SvcError ? error : new SvcError('invalid', 'the message was cut short')
      })
      if (next.done) return
      left -= performance.now() - began
      yield next.value as Buffer
    }
  } finally {
    // Lets go of the stream, so that what still comes can be read and forgotten.
    void iterator.return?.()
  }
}

/** A message as it goes over the wire, not compressed. */
export function framed(message: Buffer): Buffer {
  const prefix = Buffer.alloc(PREFIX_BYTES)
  prefix.writeUInt32BE(message.length, 1)
  return Buffer.concat([prefix, message])
}

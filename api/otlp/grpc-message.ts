/**
 * The one message of a unary gRPC call (https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md): five
 * bytes, whether it is compressed and how long it is, and the message.
 */
import type { ServerHttp2Stream } from 'node:http2'
import { fail, SvcError } from '../../engine/index.ts'
import type { BodyBudget } from '../http/body-budget.ts'
import { WIRE_MAX } from '../http/whole-body.ts'

const PREFIX_BYTES = 5
/** As long as any request may take to send its body. */
const BODY_MS = 30_000

/**
 * Reads until the client has sent all, or its time is over.
 * @param bodies what all that is being sent may take in memory.
 * @throws SvcError too_large: longer than ingest takes; too_many: memory is taken; invalid: cut short, or not
 *   one message
 */
export function readMessage(
  stream: ServerHttp2Stream,
  bodies: BodyBudget,
): Promise<{ isCompressed: boolean; message: Buffer }> {
  return new Promise((resolve, reject) => {
    const parts: Buffer[] = []
    let size = 0
    stream.on('data', (part: Buffer) => {
      size += part.length
      parts.push(part)
      try {
        if (size > WIRE_MAX + PREFIX_BYTES) fail('too_large', 'the message is larger than 16 MiB')
        bodies.grow(stream, size)
      } catch (error) {
        stream.removeAllListeners('data')
        reject(error)
      }
    })
    stream.once('end', () => {
      try {
        resolve(messageOf(Buffer.concat(parts)))
      } catch (error) {
        reject(error)
      }
    })
    const slow = (): void =>
      reject(new SvcError('invalid', `the message did not come within ${BODY_MS / 1_000} s`))
    const timer = setTimeout(slow, BODY_MS)
    stream.once('close', () => clearTimeout(timer))
    const cut = (): void => reject(new SvcError('invalid', 'the message was cut short'))
    stream.once('aborted', cut)
    stream.once('error', cut)
  })
}

function messageOf(bytes: Buffer): { isCompressed: boolean; message: Buffer } {
  if (bytes.length < PREFIX_BYTES) fail('invalid', 'the call holds no message')
  if (bytes.readUInt32BE(1) !== bytes.length - PREFIX_BYTES) fail('invalid', 'the call holds not one message')
  return { isCompressed: bytes[0] === 1, message: bytes.subarray(PREFIX_BYTES) }
}

/** A message as it goes over the wire, not compressed. */
export function framed(message: Buffer): Buffer {
  const prefix = Buffer.alloc(PREFIX_BYTES)
  prefix.writeUInt32BE(message.length, 1)
  return Buffer.concat([prefix, message])
}

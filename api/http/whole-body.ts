/** The body of an ingest in memory as a whole, within bounds. */
import type { IncomingMessage } from 'node:http'
import type { FastifyRequest } from 'fastify'
import { fail, SvcError } from '../../engine/index.ts'
import { compressionOf, inflateParts } from './compression.ts'

export const WIRE_MAX = 16 * 1024 * 1024
/** The inflated size alone decides, never how well it was compressed: equal stack traces compress to a thousandth. */
export const INFLATED_MAX = 64 * 1024 * 1024
/** Steps in which memory is asked for while a body is inflated. */
const STEP_BYTES = 1024 * 1024

/** @param bytes whole KiB: a limit */
export const describeSize = (bytes: number): string =>
  bytes % (1024 * 1024) === 0 ? `${bytes / 1024 / 1024} MiB` : `${bytes / 1024} KiB`

/**
 * The body in the parts it arrived in: they are handed on as they are, for joining them here would
 * hold up the other requests. @param limit what is said of one that is too long.
 * @throws SvcError too_large, invalid
 */
export function partsOf(
  request: FastifyRequest,
  payload: IncomingMessage,
  limit = '16 MiB; NDJSON sent as application/x-ndjson may be longer',
): Promise<Buffer[]> {
  return new Promise((resolve, reject) => {
    const refuse = (): void =>
      reject(new SvcError('too_large', `the body is larger than this route takes (${limit})`))
    if (Number(request.headers['content-length'] ?? 0) > WIRE_MAX) refuse()
    else
      collectParts(
        payload,
        (error, parts) => {
          if (error) reject(error)
          else resolve(parts)
        },
        refuse,
      )
  })
}

/**
 * The same without a promise.
 * @param done called once, with the error where the body was cut short
 * @param refuse called in its place where there is more than WIRE_MAX: the stream is left as it is then, and the answer
 *   closes the connection. Absent where the length that is said is less
 */
export function collectParts(
  payload: IncomingMessage,
  done: (error: SvcError | null, parts: Buffer[]) => void,
  refuse?: () => void,
): void {
  const parts: Buffer[] = []
  let size = 0
  let isOver = false
  const end = (): void => {
    if (isOver) return
    isOver = true
    done(null, parts)
  }
  const cut = (): void => {
    if (isOver) return
    isOver = true
    done(new SvcError('invalid', 'the body was cut short'), parts)
  }
  const take = (part: Buffer): void => {
    size += part.length
    if (size <= WIRE_MAX) parts.push(part)
    else if (!isOver) {
      isOver = true
      payload.off('data', take)
      refuse?.()
    }
  }
  payload.on('data', take).on('end', end).on('error', cut).on('close', cut)
}

/**
 * The body inflated, with its bytes on the wire; null where it is not compressed. It is inflated piece by piece,
 * and given up at the bound, so that a bomb takes no more than a body of that size.
 * @param encoding the Content-Encoding, if there is one.
 * @param hold returns once there is memory for so many bytes in all, the wire's included.
 * @param most bytes when inflated.
 * @throws SvcError unsupported_media, invalid, too_large, and what `hold` throws
 */
export async function decode(
  encoding: string | undefined,
  parts: readonly Uint8Array[],
  hold: (bytes: number) => Promise<void>,
  most = INFLATED_MAX,
): Promise<{ body: Buffer[]; wireBody: Buffer } | null> {
  const compression = compressionOf(encoding)
  if (compression === null) return null
  const wireBody = Buffer.concat(parts)
  const body: Buffer[] = []
  let size = 0
  let asked = 0
  for await (const part of inflateParts(compression, once(wireBody))) {
    size += part.length
    if (size > most)
      fail('too_large', `the body decompresses to more than ${describeSize(most)}; send less at once`)
    if (size > asked) {
      asked = Math.min(most, size + STEP_BYTES)
      await hold(wireBody.length + asked)
    }
    body.push(part)
  }
  return { body, wireBody }
}

/**
 * The body of a route other than those of ingest, inflated where it is compressed: to what the route takes at most.
 * @throws SvcError unsupported_media, invalid, too_large
 */
export async function inflated(request: FastifyRequest, given: Buffer): Promise<Buffer> {
  if (given.length === 0) return given
  const { bodyLimit } = request.routeOptions
  // What routes take is small beside what ingest does, and was not waited for as it came on the wire either.
  const decoded = await decode(request.headers['content-encoding'], [given], async () => {}, bodyLimit)
  return decoded === null ? given : Buffer.concat(decoded.body)
}

async function* once(bytes: Buffer): AsyncGenerator<Buffer> {
  yield bytes
}

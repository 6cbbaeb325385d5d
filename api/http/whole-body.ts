/** The body of an ingest in memory as a whole, within bounds. */
import type { IncomingMessage } from 'node:http'
import type { FastifyRequest } from 'fastify'
import { fail, SvcError } from '../../engine/index.ts'
import { compressionOf, inflateWhole } from './compression.ts'
import { RATIO_FREE, RATIO_MAX } from './stream-body.ts'

export const WIRE_MAX = 16 * 1024 * 1024
const INFLATED_MAX_MIB = 64

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
    const parts: Buffer[] = []
    let size = 0
    const end = (): void => resolve(parts)
    const refuse = (): void => {
      // The stream is left as it is: the answer closes the connection.
      payload.off('data', take).off('end', end)
      reject(new SvcError('too_large', `the body is larger than this route takes (${limit})`))
    }
    const cut = (): void => reject(new SvcError('invalid', 'the body was cut short'))
    const take = (part: Buffer): void => {
      size += part.length
      if (size > WIRE_MAX) refuse()
      else parts.push(part)
    }
    if (Number(request.headers['content-length'] ?? 0) > WIRE_MAX) refuse()
    else payload.on('data', take).on('end', end).on('error', cut)
  })
}

/**
 * The body inflated, with its bytes on the wire; null where it is not compressed.
 * @param encoding the Content-Encoding, if there is one. @param mostMiB inflated.
 * @throws SvcError unsupported_media, invalid, too_large
 */
export async function decode(
  encoding: string | undefined,
  parts: readonly Uint8Array[],
  mostMiB = INFLATED_MAX_MIB,
): Promise<{ body: Buffer; wireBody: Buffer } | null> {
  const compression = compressionOf(encoding)
  if (compression === null) return null
  const wire = Buffer.concat(parts)
  const most = mostMiB * 1024 * 1024
  const limit = Math.min(most, Math.max(RATIO_FREE, wire.length * RATIO_MAX))
  const body = await inflateWhole(compression, wire, limit)
  if (body !== null) return { body, wireBody: wire }
  return fail(
    'too_large',
    limit === most
      ? `the body decompresses to more than ${mostMiB} MB`
      : 'the body decompresses to more than 100 times its size',
  )
}

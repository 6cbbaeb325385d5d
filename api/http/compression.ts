/**
 * How a body is compressed, and the body without it. Senders that we do not choose compress as they are set:
 * the Collector of OpenTelemetry with gzip, zstd, deflate or zlib, curl with gzip (RFC 9110, Content Codings).
 */
import { pipeline, Readable, type Transform } from 'node:stream'
import { constants, createGunzip, createInflate, createZstdDecompress } from 'node:zlib'
import { fail, SvcError } from '../../engine/index.ts'
import { ZstdFrames } from './zstd-frames.ts'

/** As gRPC and HTTP name them; `zlib` is what the Collector calls the format that HTTP calls deflate. */
const NAMES = {
  gzip: 'gzip',
  'x-gzip': 'gzip',
  deflate: 'deflate',
  zlib: 'deflate',
  zstd: 'zstd',
} as const

export type Compression = (typeof NAMES)[keyof typeof NAMES]

/** What answers name as taken, in the order of preference. */
export const ACCEPTED = 'zstd,gzip,deflate'

/** Of what is inflated at a time. */
const CHUNK_BYTES = 64 * 1024

/** A window of 8 MiB is the most that zstd over HTTP may ask for (RFC 9659), so that is all a body gets. */
const ZSTD = { chunkSize: CHUNK_BYTES, params: { [constants.ZSTD_d_windowLogMax]: 23 } }

/** @param given a Content-Encoding, if there is one. @throws SvcError unsupported_media */
export function compressionOf(given: string | undefined): Compression | null {
  const encoding = (given ?? 'identity').trim().toLowerCase()
  if (encoding === 'identity' || encoding === '') return null
  if (Object.hasOwn(NAMES, encoding)) return NAMES[encoding as keyof typeof NAMES]
  return fail('unsupported_media', 'the Content-Encoding must be gzip, deflate or zstd, once, or none')
}

/** The parts of a body, inflated as they come. @throws SvcError invalid, and what `wire` throws */
export async function* inflateParts(
  compression: Compression,
  wire: AsyncIterable<Buffer>,
): AsyncGenerator<Buffer> {
  try {
    if (compression === 'zstd') yield* inflateFramesOf(wire)
    else
      yield* through(
        wire,
        (compression === 'gzip' ? createGunzip : createInflate)({ chunkSize: CHUNK_BYTES }),
      )
  } catch (error) {
    throw asFault(error, compression)
  }
}

async function* inflateFramesOf(wire: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const frames = new ZstdFrames()
  const parts = partsOfFrames(frames, wire)
  for (;;) {
    const first = await parts.next()
    if (first.done) return
    yield* through(frameOf(first.value, parts), createZstdDecompress(ZSTD))
  }
}

async function* partsOfFrames(frames: ZstdFrames, wire: AsyncIterable<Buffer>) {
  let isEmpty = true
  for await (const bytes of wire) {
    for (const part of frames.cut(bytes)) {
      isEmpty = false
      yield part
    }
  }
  if (isEmpty || !frames.isWhole) throw new RangeError('a frame is cut short')
}

/** The bytes of one frame; what follows is left in `parts`. */
async function* frameOf(
  first: { bytes: Buffer; isLast: boolean },
  parts: AsyncIterator<{ bytes: Buffer; isLast: boolean }>,
): AsyncGenerator<Buffer> {
  let part = first
  for (;;) {
    yield part.bytes
    if (part.isLast) return
    const next = await parts.next()
    if (next.done) return
    part = next.value
  }
}

async function* through(wire: AsyncIterable<Buffer>, inflater: Transform): AsyncGenerator<Buffer> {
  let fault: unknown
  // A fault of what comes ends the inflater with it; one of the inflater is thrown by reading it.
  pipeline(Readable.from(wire), inflater, (error) => (fault = error))
  try {
    for await (const part of inflater) yield part as Buffer
  } catch (error) {
    throw fault ?? error
  } finally {
    inflater.destroy()
  }
}

/** What was thrown while inflating, as an error of the caller. Faults of the connection are passed on. */
function asFault(error: unknown, compression: Compression): unknown {
  if (error instanceof SvcError) return error
  const code = (error as NodeJS.ErrnoException).code ?? ''
  const isData = error instanceof RangeError || code.startsWith('Z_') || code.startsWith('ZSTD_')
  return isData ? new SvcError('invalid', `the body is not valid ${compression}`) : error
}

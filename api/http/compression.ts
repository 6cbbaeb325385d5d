/**
 * How a body is compressed, and the body without it. Senders that we do not choose compress as they are set:
 * the Collector of OpenTelemetry with gzip, zstd, deflate or zlib, curl with gzip (RFC 9110, Content Codings).
 */
import { pipeline, Readable, type Transform } from 'node:stream'
import { constants, createGunzip, createInflate, createInflateRaw, createZstdDecompress } from 'node:zlib'
import { fail, SvcError } from '../../engine/index.ts'

/** As gRPC and HTTP name them; `zlib` is what the Collector calls the format that HTTP calls deflate. */
const NAMES = {
  gzip: 'gzip',
  'x-gzip': 'gzip',
  deflate: 'deflate',
  zlib: 'deflate',
  zstd: 'zstd',
} as const

type Compression = (typeof NAMES)[keyof typeof NAMES]

/** What answers name as taken, in the order of preference. */
export const ACCEPTED = 'zstd,gzip,deflate'

/** Of what is inflated at a time. */
const CHUNK_BYTES = 64 * 1024

/** A window of 8 MiB is the most that zstd over HTTP may ask for (RFC 9659), so that is all a body gets. */
const ZSTD = { chunkSize: CHUNK_BYTES, params: { [constants.ZSTD_d_windowLogMax]: 23 } }

/** What the HTTP handler of pygelf names for a body that it deflates once. */
const OF_PYGELF = /^gzip, ?deflate$/

/** @param given a Content-Encoding, if there is one. @throws SvcError unsupported_media */
export function compressionOf(given: string | undefined): Compression | null {
  const encoding = (given ?? 'identity').trim().toLowerCase()
  if (encoding === 'identity' || encoding === '') return null
  if (OF_PYGELF.test(encoding)) return 'deflate'
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
    else if (compression === 'gzip') yield* through(wire, createGunzip({ chunkSize: CHUNK_BYTES }))
    else yield* inflateEither(wire)
  } catch (error) {
    throw asFault(error, compression)
  }
}

/** Deflate within zlib's form, as RFC 9110 has it, or bare, as some senders do, .NET's DeflateStream among them. */
async function* inflateEither(wire: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const rest = wire[Symbol.asyncIterator]()
  let head = Buffer.alloc(0)
  while (head.length < 2) {
    const next = await rest.next()
    if (next.done) break
    head = Buffer.concat([head, next.value])
  }
  const isZlib = head.length < 2 || ((head[0]! & 0x0f) === 8 && head.readUInt16BE(0) % 31 === 0)
  async function* whole(): AsyncGenerator<Buffer> {
    yield head
    yield* { [Symbol.asyncIterator]: () => rest }
  }
  yield* through(whole(), (isZlib ? createInflate : createInflateRaw)({ chunkSize: CHUNK_BYTES }))
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

/*
 * Where the frames of a zstd body end (RFC 8878, Zstandard Frames). The decoder of node:zlib reads one frame and
 * passes over what follows it, and before Node 24 takes a frame that is cut short for a whole one: both would
 * lose events without a word. Only headers are read here, three bytes a block.
 */

const MAGIC = 0xfd2fb528
/** The sixteen kinds of frames that hold nothing for a decoder. */
const SKIPPABLE = 0x184d2a50
const MAGIC_BYTES = 4
const BLOCK_BYTES = 3
const CHECKSUM_BYTES = 4
const RLE = 1
const RESERVED = 3
const DICTIONARY_BYTES = [0, 1, 2, 4]
const CONTENT_SIZE_BYTES = [0, 2, 4, 8]

/** Bytes of one frame, as they came. */
interface FramePart {
  bytes: Buffer
  isLast: boolean
}

/** Cuts bytes at the ends of frames, in whatever pieces they come. */
export class ZstdFrames {
  /** Bytes of the header that is being collected. */
  private header = Buffer.alloc(0)
  private wanted = MAGIC_BYTES
  private read: (header: Buffer) => void = (header) => this.begin(header)
  /** Bytes until the next header, of which nothing is looked at. */
  private skip = 0
  private isInside = false
  private isSkippable = false
  private hasChecksum = false
  private ended = false

  /** Whether all that came are whole frames. */
  get isWhole(): boolean {
    return !this.isInside && this.header.length === 0
  }

  /** @returns the parts of frames in these bytes. @throws RangeError where they are not zstd */
  *cut(bytes: Buffer): Generator<FramePart> {
    let from = 0
    let at = 0
    while (at < bytes.length) {
      if (this.skip > 0) {
        const step = Math.min(this.skip, bytes.length - at)
        this.skip -= step
        at += step
      } else {
        const step = Math.min(this.wanted - this.header.length, bytes.length - at)
        this.header = Buffer.concat([this.header, bytes.subarray(at, at + step)])
        at += step
        if (this.header.length < this.wanted) break
        const header = this.header
        this.header = Buffer.alloc(0)
        this.read(header)
      }
      if (this.skip === 0 && this.ended) {
        if (!this.isSkippable) yield { bytes: bytes.subarray(from, at), isLast: true }
        from = at
        this.expect(MAGIC_BYTES, (header) => this.begin(header))
        this.ended = this.isInside = this.isSkippable = false
      }
    }
    if (from < bytes.length && !this.isSkippable) yield { bytes: bytes.subarray(from), isLast: false }
  }

  private expect(bytes: number, read: (header: Buffer) => void): void {
    this.wanted = bytes
    this.read = read
  }

  private begin(header: Buffer): void {
    const magic = header.readUInt32LE()
    this.isInside = true
    this.isSkippable = (magic & 0xfffffff0) >>> 0 === SKIPPABLE
    if (this.isSkippable) this.expect(4, (size) => this.end(size.readUInt32LE()))
    else if (magic === MAGIC) this.expect(1, (descriptor) => this.describe(descriptor[0]!))
    else throw new RangeError('no frame begins here')
  }

  private describe(descriptor: number): void {
    const isSingle = (descriptor & 0x20) !== 0
    const size = descriptor >> 6
    this.hasChecksum = (descriptor & 0x04) !== 0
    this.skip =
      (isSingle ? 0 : 1) +
      DICTIONARY_BYTES[descriptor & 0x03]! +
      (size === 0 && isSingle ? 1 : CONTENT_SIZE_BYTES[size]!)
    this.expect(BLOCK_BYTES, (block) => this.block(block.readUIntLE(0, BLOCK_BYTES)))
  }

  private block(header: number): void {
    const kind = (header >> 1) & 0x03
    if (kind === RESERVED) throw new RangeError('a block of a reserved kind')
    const bytes = kind === RLE ? 1 : header >> 3
    if ((header & 1) === 1) this.end(bytes + (this.hasChecksum ? CHECKSUM_BYTES : 0))
    else this.skip = bytes
  }

  /** @param bytes of the frame that are still to come. */
  private end(bytes: number): void {
    this.skip = bytes
    this.ended = true
  }
}

/** Bodies of ingest, compressed; and the frames of zstd, which node:zlib reads one of. */
import { Readable } from 'node:stream'
import {
  constants,
  deflateRawSync,
  deflateSync,
  gzipSync,
  zstdCompressSync,
  zstdDecompressSync,
} from 'node:zlib'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { ZstdFrames } from '../../../api/http/compression.ts'
import { openDoor } from './door.ts'

const COMPRESSIONS = [
  ['gzip', gzipSync],
  ['deflate', deflateSync],
  ['deflate', deflateRawSync],
  ['zstd', zstdCompressSync],
] as const

/** More than one piece of what is stored while it comes. */
const LINES = Array.from(
  { length: 9_000 },
  (_, n) => `${JSON.stringify({ n, pad: `${n * 7919}`.repeat(80) })}\n`,
)

const skippable = (size: number): Buffer => {
  const head = Buffer.alloc(8)
  head.writeUInt32LE(0x184d2a53)
  head.writeUInt32LE(size, 4)
  return Buffer.concat([head, Buffer.alloc(size, 7)])
}

describe('a body of ingest that is compressed', () => {
  let door: Awaited<ReturnType<typeof openDoor>>
  let url: string
  beforeEach(async () => {
    door = await openDoor()
    url = (await door.source('app')).url
  })
  afterEach(() => door.close())

  const stored = async () => (await door.engine.status()).counters.events

  async function stream(payload: Readable, encoding: string) {
    const { statusCode, body } = await door.app.inject({
      method: 'POST',
      url,
      headers: {
        host: '127.0.0.1:8787',
        'content-type': 'application/x-ndjson',
        'content-encoding': encoding,
      },
      payload,
    })
    return { status: statusCode, json: JSON.parse(body) as Record<string, unknown> }
  }

  /** In parts that fall anywhere. */
  const partsOf = (bytes: Buffer) =>
    Readable.from(
      Array.from({ length: Math.ceil(bytes.length / 7_919) }, (_, n) =>
        bytes.subarray(n * 7_919, (n + 1) * 7_919),
      ),
      { objectMode: false },
    )

  it.each(COMPRESSIONS)('with %s is stored, as a whole and while it comes', async (name, compress) => {
    const whole = await door.call('POST', url, compress('[{"a":1},{"a":2}]'), { 'content-encoding': name })
    expect([whole.status, whole.json().ingested]).toEqual([202, 2])
    const { status, json } = await stream(partsOf(compress(LINES.join(''))), name)
    expect([status, json.ingested, await stored()]).toEqual([202, LINES.length, LINES.length + 2])
  })

  it('with zlib, under the name that the HTTP handler of pygelf gives it, is stored', async () => {
    const line = { version: '1.1', host: 'web1', short_message: 'payment failed', level: 3 }
    const packed = deflateSync(JSON.stringify(line))
    for (const name of ['gzip,deflate', 'gzip, deflate'])
      expect(await door.call('POST', url, packed, { 'content-encoding': name })).toMatchObject({
        status: 202,
      })
    expect(await stored()).toBe(2)
  })

  it.each(COMPRESSIONS)(
    'with %s is refused when it is cut short, however it comes',
    async (name, compress) => {
      const packed = compress('[{"a":1},{"a":2}]')
      const cut = await door.call('POST', url, packed.subarray(0, -3), { 'content-encoding': name })
      expect([cut.status, cut.json().detail]).toEqual([400, expect.stringContaining(`not valid ${name}`)])
      const long = compress(LINES.slice(0, 50).join(''))
      const { status, json } = await stream(partsOf(long.subarray(0, -3)), name)
      expect([status, json.detail]).toEqual([400, expect.stringContaining(`not valid ${name}`)])
    },
  )

  it.each(COMPRESSIONS)('with %s is refused when it unpacks to far more', async (name, compress) => {
    const bomb = compress(Buffer.alloc(70 * 1024 * 1024, 0x20))
    expect((await door.call('POST', url, bomb, { 'content-encoding': name })).status).toBe(413)
    expect((await stream(partsOf(bomb), name)).status).toBe(413)
    expect(await stored()).toBe(0)
  })

  it('with zstd is stored with all of its frames, those that hold nothing passed over', async () => {
    const frames = Buffer.concat([
      skippable(20),
      zstdCompressSync('{"n":1}\n'),
      zstdCompressSync('{"n":2}\n', { params: { [constants.ZSTD_c_checksumFlag]: 1 } }),
      skippable(0),
      zstdCompressSync(LINES.join('')),
    ])
    const whole = await door.call('POST', url, frames, { 'content-encoding': 'zstd' })
    expect([whole.status, whole.json().ingested]).toEqual([202, LINES.length + 2])
    expect((await stream(partsOf(frames), 'zstd')).json.ingested).toBe(LINES.length + 2)
  })

  it('with zstd is refused when it wants a window of more than 8 MiB, is no zstd, or holds nothing', async () => {
    const wide = zstdCompressSync(Buffer.alloc(20 * 1024 * 1024, 'a b c'), {
      params: { [constants.ZSTD_c_windowLog]: 24 },
    })
    for (const body of [wide, Buffer.from('no zstd at all'), Buffer.alloc(0), skippable(4)]) {
      const { status, json } = await stream(partsOf(body), 'zstd')
      expect([status, json.detail]).toEqual([400, 'the body is not valid zstd'])
    }
  })
})

describe('frames of zstd', () => {
  const frame = fc
    .record({
      text: fc.oneof(fc.string({ maxLength: 300 }), fc.constant('ab'.repeat(400_000)), fc.constant('')),
      checksum: fc.boolean(),
      level: fc.integer({ min: 1, max: 9 }),
    })
    .map(({ text, checksum, level }) => ({
      text,
      bytes: zstdCompressSync(text, {
        params: {
          [constants.ZSTD_c_checksumFlag]: Number(checksum),
          [constants.ZSTD_c_compressionLevel]: level,
        },
      }),
    }))

  it('are cut where they end, however their bytes come', () => {
    fc.assert(
      fc.property(
        fc.array(frame, { minLength: 1, maxLength: 4 }),
        fc.integer({ min: 1, max: 50 }),
        (given, step) => {
          const frames = new ZstdFrames()
          const bytes = Buffer.concat(given.map((one) => one.bytes))
          const found: Buffer[][] = [[]]
          for (let at = 0; at < bytes.length; at += step) {
            for (const part of frames.cut(bytes.subarray(at, at + step))) {
              found.at(-1)!.push(part.bytes)
              if (part.isLast) found.push([])
            }
          }
          expect(frames.isWhole).toBe(true)
          expect(found.pop()).toEqual([])
          const texts = found.map((parts) => zstdDecompressSync(Buffer.concat(parts)).toString())
          expect(texts).toEqual(given.map(({ text }) => text))
        },
      ),
      { numRuns: 60 },
    )
  })

  it('are not whole at any byte before their end', () => {
    const bytes = zstdCompressSync('a text of some length, twice: a text of some length')
    for (let end = 1; end < bytes.length; end++) {
      const frames = new ZstdFrames()
      for (const part of frames.cut(bytes.subarray(0, end))) expect(part.isLast).toBe(false)
      expect(frames.isWhole).toBe(false)
    }
  })
})

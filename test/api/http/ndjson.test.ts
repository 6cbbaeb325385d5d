import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Limits, type Piece, piecesOf } from '../../../api/http/ndjson.ts'

const LIMITS: Limits = { piece: 64, lines: 5, whole: 4_096 }

async function cut(parts: readonly Uint8Array[], limits = LIMITS): Promise<Piece[]> {
  const body = (async function* () {
    yield* parts
  })()
  const pieces: Piece[] = []
  for await (const piece of piecesOf(body, limits)) pieces.push(piece)
  return pieces
}

const line = fc.oneof(
  fc.constantFrom('', ' ', '\t\r', '{}'),
  fc.string({ unit: 'binary', maxLength: 12 }).map((text) => text.replaceAll('\n', ' ')),
)
const body = fc.tuple(fc.array(line, { maxLength: 60 }), fc.boolean()).map(([lines, ends]) => {
  const text = lines.join('\n')
  return Buffer.from(ends ? `${text}\n` : text)
})
const isItem = (text: string) => text.replace(/[ \t\r]/g, '') !== ''

describe('pieces of NDJSON', () => {
  it('are whole lines within the limits, together the body, and the same however it arrives', async () => {
    await fc.assert(
      fc.asyncProperty(body, fc.array(fc.integer({ min: 1, max: 150 })), async (bytes, sizes) => {
        const parts: Buffer[] = []
        let at = 0
        for (const size of sizes) {
          parts.push(bytes.subarray(at, at + size))
          at += size
        }
        parts.push(bytes.subarray(at))
        const pieces = await cut(parts)
        expect(Buffer.concat(pieces.map((piece) => piece.bytes))).toEqual(bytes)
        for (const [n, piece] of pieces.entries()) {
          const text = Buffer.from(piece.bytes).toString()
          expect(piece.bytes.length).toBeLessThanOrEqual(LIMITS.piece)
          expect(text.match(/\n/g)?.length ?? 0).toBeLessThanOrEqual(LIMITS.lines)
          expect(piece.items).toBe(text.split('\n').filter(isItem).length)
          if (n < pieces.length - 1) expect(text.endsWith('\n')).toBe(true)
        }
        expect(await cut([bytes])).toEqual(pieces)
      }),
    )
  })

  it('are one for an empty body', async () => {
    expect(await cut([])).toEqual([{ bytes: Buffer.alloc(0), items: 0, lines: 0 }])
  })

  it('refuse a line longer than a piece, and more than is taken in all', async () => {
    await expect(cut([Buffer.from(`1\n${'x'.repeat(65)}`)])).rejects.toThrow('a line is longer than 64 bytes')
    const lines = Buffer.from('1234567\n'.repeat(513))
    await expect(cut([lines])).rejects.toThrow('the body is longer than 4096 bytes')
    expect((await cut([lines.subarray(8)])).reduce((sum, { items }) => sum + items, 0)).toBe(512)
  })
})

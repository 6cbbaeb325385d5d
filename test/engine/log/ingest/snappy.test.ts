/** Bodies packed by snappy, as Loki's clients send them. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { unpackSnappy } from '../../../../engine/log/ingest/otlp-protobuf.ts'

/** A part of a body: bytes as they are, or some that stand so far back. */
type Part = { literal: Uint8Array; wide: number } | { back: number; length: number; form: 1 | 2 | 3 }

function lengthOf(size: number): number[] {
  return size < 128 ? [size] : [(size & 127) | 128, ...lengthOf(size >>> 7)]
}

/** Packs by format_description.txt, in each form an element may have. @returns what it unpacks to, too */
function packed(parts: readonly Part[]): { whole: number[]; body: Buffer } {
  const whole: number[] = []
  const body: number[] = []
  for (const part of parts) {
    if ('literal' in part) {
      const size = part.literal.length - 1
      const bytes = Math.max(part.wide, size < 60 ? 0 : size < 256 ? 1 : 2)
      body.push((bytes === 0 ? size : 59 + bytes) << 2)
      for (let n = 0; n < bytes; n++) body.push((size >>> (8 * n)) & 255)
      body.push(...part.literal)
      whole.push(...part.literal)
      continue
    }
    if (whole.length === 0) continue
    const back = 1 + (part.back % Math.min(whole.length, part.form === 1 ? 2047 : 65_535))
    const length = part.form === 1 ? 4 + (part.length % 8) : 1 + (part.length % 64)
    if (part.form === 1) body.push(((back >> 8) << 5) | ((length - 4) << 2) | 1, back & 255)
    else body.push(((length - 1) << 2) | part.form, back & 255, back >> 8, ...(part.form === 3 ? [0, 0] : []))
    for (let n = 0; n < length; n++) whole.push(whole[whole.length - back]!)
  }
  return { whole, body: Buffer.from([...lengthOf(whole.length), ...body]) }
}

const parts = fc.array(
  fc.oneof(
    fc.record({
      literal: fc.uint8Array({ minLength: 1, maxLength: 400 }),
      wide: fc.integer({ min: 0, max: 4 }),
    }),
    fc.record({
      back: fc.nat(),
      length: fc.nat(),
      form: fc.constantFrom(1 as const, 2 as const, 3 as const),
    }),
  ),
  { minLength: 1, maxLength: 30 },
)

describe('a body packed by snappy', () => {
  it('is unpacked to the same bytes, whatever elements it is made of', () => {
    fc.assert(
      fc.property(parts, (given) => {
        const { whole, body } = packed(given)
        expect([...unpackSnappy(body)]).toEqual(whole)
      }),
    )
  })

  it('is refused, and nothing else happens, where it is cut short or any other bytes', () => {
    const unpacks = (body: Uint8Array): boolean => {
      try {
        unpackSnappy(body)
        return true
      } catch (error) {
        expect(error).toMatchObject({ code: expect.stringMatching(/^(invalid|too_large)$/) })
        return false
      }
    }
    fc.assert(
      fc.property(parts, fc.nat(), (given, at) => {
        const { whole, body } = packed(given)
        if (whole.length > 0) expect(unpacks(body.subarray(0, at % body.length))).toBe(false)
      }),
    )
    fc.assert(fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => void unpacks(bytes)))
  })
})

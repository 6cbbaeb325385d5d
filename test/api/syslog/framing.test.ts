/** RFC 6587: lengths and lines, however the stream is cut into pieces. */
import { deflateSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { Framer, isPackedStream, MESSAGE_MAX, unpacked } from '../../../api/syslog/framing.ts'

/** @param cuts where the stream is cut, in bytes */
function framesOf(stream: Buffer, cuts: readonly number[] = []): { text: string; isCut: boolean }[] {
  const framer = new Framer()
  const places = [0, ...cuts, stream.length]
  const frames = places.slice(1).flatMap((to, i) => framer.push(Buffer.from(stream.subarray(places[i]!, to))))
  return [...frames, ...framer.end()].map(({ bytes, isCut }) => ({ text: bytes.toString(), isCut }))
}

const whole = (...texts: string[]) => texts.map((text) => ({ text, isCut: false }))
const counted = (text: string) => `${Buffer.byteLength(text)} ${text}`

describe('frames of syslog over TCP', () => {
  it('3.4.1: octet counting: line ends within a message stay', () => {
    const first = '<13>1 - - - - - - zwei\nZeilen für alle'
    expect(framesOf(Buffer.from(counted(first) + counted('<14>b')))).toEqual(whole(first, '<14>b'))
  })

  it('3.4.2: lines, also with CR LF, a zero byte, empty ones, and the last without its end', () => {
    expect(framesOf(Buffer.from('<13>a\n<13>b\r\n\n<13>c\0\nno priority\n5 apples\n<13>last'))).toEqual(
      whole('<13>a', '<13>b', '<13>c', 'no priority', '5 apples', '<13>last'),
    )
  })

  it('what rsyslog packs by its ziplevel is as it was before, beside what it leaves as it is', () => {
    const packed = (text: string, level = 9) =>
      Buffer.concat([Buffer.from('z'), deflateSync(text, { level })])
    const long = `<13>1 2026-11-30T18:06:46Z vm app - - - ${'a'.repeat(200)}`
    // Its last bytes, a sum, may be those that are taken for a line end.
    const messages = [long, ...Array.from({ length: 300 }, (_, n) => `${long} ${n}`)]
    const frame = (bytes: Buffer) => Buffer.concat([Buffer.from(`${bytes.length} `), bytes])
    const stream = Buffer.concat([
      ...messages.map((text, n) => frame(packed(text, (n % 9) + 1))),
      Buffer.from(counted('<13>b')),
    ])
    expect(framesOf(stream)).toEqual(whole(...messages, '<13>b'))
    const one = frame(packed(long))
    for (let cut = 1; cut < one.length; cut++) expect(framesOf(one, [cut])).toEqual(whole(long))
    expect(unpacked(packed(long)).toString()).toBe(long)
    for (const text of ['zx is no zlib', 'zebra', packed('x'.repeat(MESSAGE_MAX + 1))])
      expect(unpacked(Buffer.from(text))).toEqual(Buffer.from(text))
    expect(
      [deflateSync(long), Buffer.from('x'), Buffer.from('xa<13>b'), Buffer.from(counted(long))].map(
        isPackedStream,
      ),
    ).toEqual([true, false, false, false])
  })

  it('both on one connection, also with a line end behind a counted one', () => {
    expect(framesOf(Buffer.from(`${counted('<13>a')}\n<13>b\n${counted('<13>c')}`))).toEqual(
      whole('<13>a', '<13>b', '<13>c'),
    )
  })

  it('behind a message with its length one without <PRI> has its length, too; behind a line it is a line', () => {
    expect(
      framesOf(Buffer.from(`${counted('<13>a')}${counted('no priority\nat all')}${counted('<13>b')}`)),
    ).toEqual(whole('<13>a', 'no priority\nat all', '<13>b'))
    expect(framesOf(Buffer.from(`${counted('<13>a')}\n5 apples\n`))).toEqual(whole('<13>a', '5 apples'))
  })

  it('with nothing between messages, as winston-syslog sends them, are told by their headers', () => {
    const messages = [
      '<131>1 2026-11-30T07:51:32.812Z web-9 cart 4711 - - {"level":"error"}',
      '<134>Nov 30 07:51:32 web-9 cart[4711]: {"level":"info"}',
      '<14>1 2026-11-30T07:51:33Z web-9 cart - - - grün <3 and <34>1 apple',
    ]
    const stream = Buffer.from(messages.join(''))
    const cuts = Array.from({ length: stream.length - 1 }, (_, i) => i + 1)
    for (const cut of [[], cuts, ...cuts.map((one) => [one])])
      expect(framesOf(stream, cut)).toEqual(whole(...messages))
    // More of them than a message may be long: none is lost, and each comes with the next.
    const framer = new Framer()
    const many = Array.from(
      { length: 3_000 },
      (_, n) => `<14>1 2026-11-30T07:51:33Z web-9 cart - - - line ${n}`,
    )
    const frames = many.flatMap((one) => framer.push(Buffer.from(one)))
    expect(frames.map(({ bytes }) => bytes.toString())).toEqual(many.slice(0, -1))
    // Where lines end, a header within one is what a relay passed on.
    const relayed = '<13>Nov 30 07:51:32 relay <34>Nov 30 07:51:31 db-1 su: failed'
    expect(framesOf(Buffer.from(`<13>a\n${relayed}`), [5, 30, 60])).toEqual(whole('<13>a', relayed))
  })

  it('any cut of the stream gives the same messages', () => {
    const long = `<13>${'ü'.repeat(MESSAGE_MAX / 2)}`
    const stream = Buffer.from(
      [
        counted('<34>1 - h a - - - grün\n2'),
        '<13>line one\n',
        `${counted('<13>x')}\r\n`,
        '12 no length\n1234567\n12345678 <\n\0\n',
        `${counted(long)}<13>after the long one\n${long}\n${counted('<1>z')}`,
        '<13>end',
      ].join(''),
    )
    const expected = framesOf(stream)
    expect(expected.map(({ text }) => text.slice(0, 24))).toEqual([
      ...['<34>1 - h a - - - grün\n2', '<13>line one', '<13>x', '12 no length', '1234567', '12345678 <'],
      ...[expect.stringMatching(/^<13>ü+$/), '<13>after the long one'],
      ...[expect.stringMatching(/^<13>ü+$/), '<1>z', '<13>end'],
    ])
    expect(expected.filter(({ isCut }) => isCut)).toHaveLength(2)
    const near = [...Array(90).keys()].map((i) => i + 1)
    for (const at of [...near, ...near.map((i) => stream.length - i)])
      expect(framesOf(stream, [at])).toEqual(expected)
    // Pieces of pseudo-random sizes; the seed is the number of the round.
    for (let round = 1; round <= 60; round++) {
      let state = round * 7_919
      const cuts: number[] = []
      const size = round % 3 === 0 ? 40_000 : 3_000
      for (let at = 0; at < stream.length; ) {
        state = (state * 48_271) % 2_147_483_647
        at += 1 + (state % size)
        if (at < stream.length) cuts.push(at)
      }
      expect(framesOf(stream, cuts), `round ${round}`).toEqual(expected)
    }
    const small = Buffer.from(`${counted('<34>a b\nc')}<13>line\n7 x\n${counted('<1>')}\n`)
    const each = [...Array(small.length - 1).keys()].map((i) => i + 1)
    expect(framesOf(small, each)).toEqual(framesOf(small))
  })

  it('what is longer than 64 KiB is cut there, and said to be; a message whose rest never came, too', () => {
    const [frame, next] = framesOf(Buffer.from(`<13>${'a'.repeat(MESSAGE_MAX)}\n<13>b\n`))
    expect(frame).toEqual({ text: `<13>${'a'.repeat(MESSAGE_MAX - 4)}`, isCut: true })
    expect(next).toEqual({ text: '<13>b', isCut: false })
    expect(framesOf(Buffer.from('20 <13>half'))).toEqual([{ text: '<13>half', isCut: true }])
    const exact = `<13>${'a'.repeat(MESSAGE_MAX - 4)}`
    expect(framesOf(Buffer.from(`${exact}\n`))).toEqual(whole(exact))
  })
})

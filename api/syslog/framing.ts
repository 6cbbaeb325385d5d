/**
 * Syslog over TCP, RFC 6587: each frame is a length and that many bytes, or a line. A length is told from a line
 * by the `<` behind it, with which a message begins; a sender may do both on one connection. Behind a message with its
 * length a number is a length even so: some senders leave `<PRI>` out of some.
 */

import { inflateSync } from 'node:zlib'

/** Bytes of a message; what is longer is cut there. */
export const MESSAGE_MAX = 64 * 1024
/** A message, or one that rsyslog has packed. */
const LENGTH = /^[1-9]\d{0,6} (?:<|zx)/
const BARE_LENGTH = /^[1-9]\d{0,6} /
/** What may still become the above. */
const BEGINNING = /^(?:[1-9]\d{0,6}(?: z?)?)?$/
const HEAD_MAX = 9
/**
 * Where another message begins, by its header: RFC 5424 with a time, or RFC 3164. Some senders put nothing between
 * messages, such as winston-syslog unless its `eol` is set.
 */
const HEADER =
  /<(?:0|[1-9]\d{0,2})>(?:1 \d{4}-\d\d-\d\dT|(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) [ \d]\d \d\d:\d\d:\d\d )/
const HEADER_MAX = 24
const LF = 10
const CR = 13
const SPACE = 32

export interface Frame {
  bytes: Buffer
  /** It was longer, or the connection ended within it. */
  isCut: boolean
}

export class Framer {
  private held: Buffer = Buffer.alloc(0)
  /** Bytes of `held` in which no line end is. */
  private searched = 0
  /** Left to pass over of a message that was cut: a number of bytes, or up to the end of the line. */
  private skip: number | 'line' = 0
  /** The frame before had its length. */
  private isCounting = false
  /** A line of the connection had its end: what looks like a header within one is what a relay passed on. */
  private hasLines = false

  /** @returns the messages that are whole with these bytes. */
  push(chunk: Buffer): Frame[] {
    this.held = this.held.length === 0 ? chunk : Buffer.concat([this.held, chunk])
    const frames: Frame[] = []
    for (let frame = this.next(); frame !== null; frame = this.next())
      if (frame.bytes.length > 0) frames.push(frame)
    // What is kept is a copy: it must not hold the chunk it is a part of.
    this.held = Buffer.from(this.held)
    return frames
  }

  /** @returns what is left at the end of the connection: a line that lacks its end, or the part of a message. */
  end(): Frame[] {
    if (this.skip !== 0 || this.held.length === 0) return []
    const length = lengthAt(this.held, this.isCounting)
    const isCounted = typeof length === 'number'
    const bytes = isCounted ? this.held.subarray(String(length).length + 1) : trimmed(this.held)
    this.held = Buffer.alloc(0)
    return bytes.length === 0 ? [] : [{ bytes, isCut: isCounted }]
  }

  /** @returns the next frame, empty where there is nothing in it; null: more bytes are needed */
  private next(): Frame | null {
    if (!this.passOver()) return null
    const length = lengthAt(this.held, this.isCounting)
    if (length === null) return null
    return length === undefined ? this.line() : this.counted(length)
  }

  private counted(length: number): Frame | null {
    const from = String(length).length + 1
    const bytes = Math.min(length, MESSAGE_MAX)
    if (this.held.length < from + bytes) return null
    this.isCounting = true
    return this.take(from, from + bytes, from + bytes, length - bytes)
  }

  private line(): Frame | null {
    const end = this.held.indexOf(LF, this.searched)
    this.isCounting = false
    if (end >= 0 && end <= MESSAGE_MAX) {
      this.hasLines = true
      return this.take(0, end, end + 1, 0)
    }
    const next = this.hasLines ? -1 : this.headerFrom(Math.max(1, this.searched - HEADER_MAX))
    if (next > 0 && next <= MESSAGE_MAX) return this.take(0, next, next, 0)
    if (this.held.length > MESSAGE_MAX) return this.take(0, MESSAGE_MAX, MESSAGE_MAX, 'line')
    this.searched = this.held.length
    return null
  }

  /** @returns where a header begins; -1: nowhere */
  private headerFrom(from: number): number {
    const found = this.held.toString('latin1', from).search(HEADER)
    return found < 0 ? -1 : from + found
  }

  private take(from: number, to: number, next: number, skip: number | 'line'): Frame {
    const whole = this.held.subarray(from, to)
    const bytes = skip === 0 ? trimmed(unpacked(whole)) : wholeCharacters(whole)
    this.held = this.held.subarray(next)
    this.searched = 0
    this.skip = skip
    return { bytes, isCut: skip !== 0 }
  }

  /** @returns whether a frame begins at what is held */
  private passOver(): boolean {
    if (this.skip === 'line') {
      const end = this.held.indexOf(LF)
      this.held = this.held.subarray(end < 0 ? this.held.length : end + 1)
      if (end < 0) return false
    } else if (this.skip > 0) {
      const passed = Math.min(this.skip, this.held.length)
      this.held = this.held.subarray(passed)
      this.skip -= passed
      if (this.skip > 0) return false
    }
    this.skip = 0
    return this.held.length > 0
  }
}

/** @returns the length a frame begins with; undefined: it begins with none; null: that is not known yet */
function lengthAt(bytes: Buffer, isCounting: boolean): number | null | undefined {
  const space = bytes.subarray(0, HEAD_MAX).indexOf(SPACE)
  const head = bytes.toString('latin1', 0, space < 0 ? HEAD_MAX : space + 3)
  if ((isCounting ? BARE_LENGTH : LENGTH).test(head)) return Number.parseInt(head, 10)
  return BEGINNING.test(head) ? null : undefined
}

const PACKED = 0x7a
const ZLIB = 0x78

/** @returns a message that rsyslog has packed (its `ziplevel`), as it was before: a `z`, and zlib's form */
export function unpacked(bytes: Buffer): Buffer {
  if (bytes[0] !== PACKED || bytes[1] !== ZLIB) return bytes
  try {
    return inflateSync(bytes.subarray(1), { maxOutputLength: MESSAGE_MAX })
  } catch {
    // A text that begins so, or one that is longer than a message may be.
    return bytes
  }
}

/** Whether a connection begins as zlib's form does: rsyslog packs all of it where its `compression.mode` says so. */
export const isPackedStream = (first: Buffer): boolean =>
  first.length > 1 && first[0] === ZLIB && first.readUInt16BE(0) % 31 === 0

/** Without the line end, and the zero byte that some senders put there. */
export function trimmed(bytes: Buffer): Buffer {
  let end = bytes.length
  while (end > 0 && (bytes[end - 1] === LF || bytes[end - 1] === CR || bytes[end - 1] === 0)) end--
  return bytes.subarray(0, end)
}

/** Without the beginning of a character of UTF-8 at the end, whose rest was cut off. */
function wholeCharacters(bytes: Buffer): Buffer {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back]!
    if ((byte & 0xc0) === 0x80) continue
    const wanted = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1
    return wanted > back ? bytes.subarray(0, bytes.length - back) : bytes
  }
  return bytes
}

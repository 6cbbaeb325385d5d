/**
 * The log of a container as the Engine API sends it, cut into lines. Without a terminal it is a row of
 * frames: a byte for the stream, three of zero, the length in four (big endian), then that many bytes; a
 * container with a terminal has one stream and no frames. Each line begins with its time.
 */
import { UpstreamError } from '../connectors/connector.ts'
import { parseStamp, type Stamp } from './stamp.ts'

export type Stream = 'stdout' | 'stderr'

export interface LogLine {
  stream: Stream
  stamp: Stamp
  text: string
  /** It was longer than is kept. */
  isCut: boolean
}

/** Bytes of a line that are kept. */
export const LINE_BYTES = 256 * 1024
const HEADER = 8
const FRAME_BYTES = 16 * 1024 * 1024
const NEWLINE = 0x0a
const RETURN = 0x0d
const SPACE = 0x20
/** Characters of the longest RFC 3339 time with nanoseconds. */
const STAMP_MAX = 35

/** A line of which the end has not come. */
interface Begun {
  stamp: Stamp
  parts: Buffer[]
  bytes: number
  isCut: boolean
}

/** Takes the bytes as they come. */
export class LogLines {
  private rest: Buffer = Buffer.alloc(0)
  private readonly begun = new Map<Stream, Begun>()

  /** @param hasFrames false for a container with a terminal. @param from time of a line that has none. */
  constructor(
    private readonly hasFrames: boolean,
    private last: Stamp,
  ) {}

  /** @returns the lines that are whole now. @throws UpstreamError where these are no frames. */
  push(chunk: Buffer): LogLine[] {
    const lines: LogLine[] = []
    this.rest = this.rest.length === 0 ? chunk : Buffer.concat([this.rest, chunk])
    if (this.hasFrames) this.readFrames(lines)
    else this.readLines(lines)
    return lines
  }

  /**
   * The lines whose end never came. Only of a container that has stopped: in one that runs, the rest of
   * a long line is still being written, and the next read has it whole.
   */
  end(): LogLine[] {
    if (!this.hasFrames && this.rest.length > 0) this.take('stdout', this.rest)
    return [...this.begun.keys()].map((stream) => this.finish(stream)!)
  }

  private readFrames(lines: LogLine[]): void {
    let at = 0
    while (this.rest.length - at >= HEADER) {
      const kind = this.rest[at]!
      const length = this.rest.readUInt32BE(at + 4)
      if (kind > 3 || this.rest.readUIntBE(at + 1, 3) !== 0 || length > FRAME_BYTES)
        throw new UpstreamError('the log Docker sent cannot be read: it has no frames')
      if (this.rest.length - at - HEADER < length) break
      const body = this.rest.subarray(at + HEADER, at + HEADER + length)
      if (kind === 3)
        throw new UpstreamError(`Docker stopped sending the log: ${body.toString('utf8', 0, 200).trim()}`)
      this.readFrame(kind === 2 ? 'stderr' : 'stdout', body, lines)
      at += HEADER + length
    }
    this.rest = this.rest.subarray(at)
  }

  private readFrame(stream: Stream, body: Buffer, lines: LogLine[]): void {
    let from = 0
    for (let end = body.indexOf(NEWLINE); end >= 0; end = body.indexOf(NEWLINE, from)) {
      lines.push(...this.take(stream, body.subarray(from, end)), this.finish(stream)!)
      from = end + 1
    }
    if (from < body.length) lines.push(...this.take(stream, body.subarray(from)))
  }

  private readLines(lines: LogLine[]): void {
    let from = 0
    for (let end = this.rest.indexOf(NEWLINE); end >= 0; end = this.rest.indexOf(NEWLINE, from)) {
      lines.push(...this.take('stdout', this.rest.subarray(from, end)), this.finish('stdout')!)
      from = end + 1
    }
    // What is kept of a line without an end is bounded.
    this.rest = this.rest.subarray(from, from + LINE_BYTES + STAMP_MAX + 1)
  }

  /**
   * Goes on with a line, or begins one: a long line comes in parts, which bear the same time.
   * @returns the line before where it turns out to have had no end.
   */
  private take(stream: Stream, bytes: Buffer): LogLine[] {
    const { stamp, text } = this.parse(bytes)
    const open = this.begun.get(stream)
    const before = open && stamp !== null && stamp !== open.stamp ? [this.finish(stream)!] : []
    const line = this.begun.get(stream) ?? { stamp: stamp ?? this.last, parts: [], bytes: 0, isCut: false }
    const kept = text.subarray(0, LINE_BYTES - line.bytes)
    line.parts.push(kept)
    line.bytes += kept.length
    line.isCut ||= kept.length < text.length
    this.last = line.stamp
    this.begun.set(stream, line)
    return before
  }

  private parse(bytes: Buffer): { stamp: Stamp | null; text: Buffer } {
    const space = bytes.subarray(0, STAMP_MAX + 1).indexOf(SPACE)
    const end = space < 0 ? bytes.length : space
    const stamp = end > STAMP_MAX ? null : parseStamp(bytes.toString('latin1', 0, end))
    return { stamp, text: stamp === null ? bytes : bytes.subarray(end + 1) }
  }

  private finish(stream: Stream): LogLine | null {
    const line = this.begun.get(stream)
    if (!line) return null
    this.begun.delete(stream)
    const bytes = Buffer.concat(line.parts)
    const length = bytes.at(-1) === RETURN ? bytes.length - 1 : bytes.length
    return { stream, stamp: line.stamp, text: bytes.toString('utf8', 0, length), isCut: line.isCut }
  }
}

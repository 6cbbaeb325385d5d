/**
 * NDJSON of any length, cut at the ends of lines into pieces, so that no more of it is in memory than
 * two of them. Where it is cut depends on its bytes alone and not on how they arrive: a repeat has the
 * same pieces, which their idempotency keys tell.
 */
import { SvcError } from '../../engine/index.ts'

export interface Limits {
  /** Bytes of a piece; a line is never longer. */
  piece: number
  /** Lines of a piece. */
  lines: number
  /** Bytes in all. */
  whole: number
}

export const LIMITS: Limits = { piece: 4 * 1024 * 1024, lines: 50_000, whole: 1024 * 1024 * 1024 }

export interface Piece {
  /** Whole lines, the last of the body perhaps without its end. */
  bytes: Uint8Array
  /** Lines in it that are not blank: its items. */
  items: number
  /** Ends of lines in it, those of blank lines too. */
  lines: number
}

const NEWLINE = 0x0a
/** Space of JSON within a line (RFC 8259, section 2). */
const SPACES = new Set([0x20, 0x09, 0x0d])
const FIRST_BUFFER = 64 * 1024

/** @returns one piece at least. @throws SvcError too_large for a line longer than a piece, or too much in all. */
export async function* piecesOf(
  body: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  limits: Limits = LIMITS,
): AsyncGenerator<Piece> {
  const lines = new Lines(limits)
  let n = 0
  for await (const part of body)
    for (const piece of lines.take(part)) {
      n++
      yield piece
    }
  const rest = lines.end()
  if (n === 0 || rest.bytes.length > 0) yield rest
}

/** The bytes of the next piece as far as they are here. */
class Lines {
  private held = Buffer.allocUnsafe(0)
  private size = 0
  /** Behind the last whole line. */
  private cut = 0
  private count = 0
  private items = 0
  private total = 0

  constructor(private readonly limits: Limits) {}

  /** @returns the pieces that are complete now. */
  *take(part: Uint8Array): Generator<Piece> {
    this.total += part.length
    if (this.total > this.limits.whole)
      throw new SvcError('too_large', `the body is longer than ${inWords(this.limits.whole)}`)
    for (let at = 0; at < part.length; ) {
      const from = this.size
      at += this.append(part, at)
      yield* this.scan(from)
      if (this.size < this.limits.piece) continue
      if (this.cut === 0)
        throw new SvcError('too_large', `a line is longer than ${inWords(this.limits.piece)}`)
      yield this.shift()
    }
  }

  end(): Piece {
    if (!this.isBlank(this.cut, this.size)) this.items++
    return { bytes: this.held.subarray(0, this.size), items: this.items, lines: this.count }
  }

  /** @returns how many bytes there was room for. */
  private append(part: Uint8Array, at: number): number {
    const n = Math.min(part.length - at, this.limits.piece - this.size)
    if (this.size + n > this.held.length) {
      const room = Math.max(this.size + n, 2 * this.held.length, FIRST_BUFFER)
      const grown = Buffer.allocUnsafeSlow(Math.min(this.limits.piece, room))
      grown.set(this.held.subarray(0, this.size))
      this.held = grown
    }
    this.held.set(part.subarray(at, at + n), this.size)
    this.size += n
    return n
  }

  /** Finds the ends of lines from a place on. */
  private *scan(from: number): Generator<Piece> {
    for (let next = from; ; ) {
      const found = this.held.subarray(0, this.size).indexOf(NEWLINE, next)
      if (found === -1) return
      if (!this.isBlank(this.cut, found)) this.items++
      this.cut = next = found + 1
      if (++this.count < this.limits.lines) continue
      yield this.shift()
      next = 0
    }
  }

  /** Takes the whole lines out; what is behind them begins the next piece. */
  private shift(): Piece {
    const { held, cut, size, items, count: lines } = this
    const rest = held.subarray(cut, size)
    this.held = Buffer.allocUnsafeSlow(Math.max(FIRST_BUFFER, rest.length))
    this.held.set(rest)
    this.size = rest.length
    this.cut = this.count = this.items = 0
    return { bytes: held.subarray(0, cut), items, lines }
  }

  private isBlank(start: number, end: number): boolean {
    for (let at = start; at < end; at++) if (!SPACES.has(this.held[at]!)) return false
    return true
  }
}

/** Items that are taken at once. */
export const AT_ONCE = 100_000

/**
 * Whether a body that is held has more lines than are taken at once, so that it is stored in pieces like a longer
 * one. One JSON value that is spread over many lines is none: its first line does not end a value.
 */
export function isOfManyLines(parts: readonly Uint8Array[]): boolean {
  let lines = 0
  let last = 0
  for (const part of parts)
    for (let at = 0; ; at++) {
      const end = part.indexOf(NEWLINE, at)
      for (let i = (end === -1 ? part.length : end) - 1; lines === 0 && i >= at; i--)
        if (!SPACES.has(part[i]!)) {
          last = part[i]!
          break
        }
      if (end === -1) break
      if (lines === 0 && last !== 0x7d && last !== 0x5d) return false
      if (++lines > AT_ONCE) return true
      at = end
    }
  return false
}

const inWords = (bytes: number): string =>
  bytes % 2 ** 30 === 0
    ? `${bytes / 2 ** 30} GiB`
    : bytes % 2 ** 20 === 0
      ? `${bytes / 2 ** 20} MiB`
      : `${bytes} bytes`

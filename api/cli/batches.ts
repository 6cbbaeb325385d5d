/**
 * Cuts a stream of bytes into bodies for ingest. NDJSON goes out in batches of whole lines, a
 * batch when it is large enough or when nothing more came for a moment, so that a program's log
 * can be piped in for ever; any other JSON is collected whole.
 */
import { CliError, EXIT } from './exit.ts'

const LINE_FEED = 10
/** A batch: at most this many lines and bytes; an ingest takes 100,000 items and 16 MiB. */
const BATCH_LINES = 1_000
const BATCH_BYTES = 1024 * 1024
/** Lines that waited this long go out although the batch is not full. */
const LINGER_MS = 250
/** One JSON document; an ingest takes no more after inflation. */
const WHOLE_BYTES = 64 * 1024 * 1024

export type BodyType = 'json' | 'ndjson'

export interface Batch {
  type: BodyType
  body: Uint8Array
  /** Line of the input that the body begins on, from 1. */
  firstLine: number
  /** How many of its lines the body has. */
  lines: number
}

/** How many items a batch of lines has: lines that are blank are none. */
export function itemsIn({ body }: Batch): number {
  let items = 0
  for (let at = 0; at < body.length; ) {
    const end = body.indexOf(LINE_FEED, at)
    const stop = end < 0 ? body.length : end
    if (!isBlank(body.subarray(at, stop))) items++
    at = stop + 1
  }
  return items
}

/**
 * The line of the input that an item of a batch is on; null where items are no lines.
 * @param index of the item, as the daemon counts: lines that are blank are none.
 */
export function lineOfItem({ type, body, firstLine }: Batch, index: number): number | null {
  if (type !== 'ndjson') return null
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength)
  let line = firstLine
  let items = 0
  for (let at = 0; at < bytes.length; line++) {
    const end = bytes.indexOf(LINE_FEED, at)
    const stop = end < 0 ? bytes.length : end
    if (!isBlank(bytes.subarray(at, stop)) && items++ === index) return line
    at = stop + 1
  }
  return null
}

/** Space of JSON within a line (RFC 8259, section 2). */
const isBlank = (line: Uint8Array): boolean =>
  line.every((byte) => byte === 0x20 || byte === 0x09 || byte === 0x0d)

/**
 * The bodies to send.
 * @param type given by the caller; null: NDJSON when the first line is JSON by itself.
 * @throws CliError when a document or a line is larger than an ingest takes.
 */
export async function* batches(
  input: AsyncIterable<Uint8Array>,
  type: BodyType | null,
): AsyncGenerator<Batch> {
  const reader = new IdleReader(input)
  let head: Buffer<ArrayBufferLike> = Buffer.alloc(0)
  let decided = type
  while (decided === null) {
    const next = await reader.next(null)
    if (next !== null && next !== 'idle') head = Buffer.concat([head, next])
    decided = decide(head, next === null)
  }
  if (decided === 'ndjson') yield* lines(reader, head)
  else {
    const body = await whole(reader, head)
    if (body.some((byte) => byte > 32)) yield { type: 'json', body, firstLine: 1, lines: 1 }
  }
}

/** NDJSON or one document, by the first line; null while that line is not complete. */
function decide(head: Buffer, isEnd: boolean): BodyType | null {
  const start = head.findIndex((byte) => byte > 32)
  const end = start < 0 ? -1 : head.indexOf(LINE_FEED, start)
  if (end < 0) return isEnd || head.length > BATCH_BYTES ? 'json' : null
  try {
    JSON.parse(head.toString('utf8', start, end))
    return 'ndjson'
  } catch {
    // The first line is not JSON by itself: a document over several lines.
    return 'json'
  }
}

async function* lines(reader: IdleReader, head: Buffer): AsyncGenerator<Batch> {
  let held = head
  let line = 1
  const taken = (end: number, count: number): Batch => {
    const batch: Batch = { type: 'ndjson', body: held.subarray(0, end), firstLine: line, lines: count }
    held = held.subarray(end)
    line += count
    return batch
  }
  for (;;) {
    const cut = cutAfterLines(held, BATCH_LINES)
    const isFull = cut.lines === BATCH_LINES || held.length >= BATCH_BYTES
    const next = isFull ? 'idle' : await reader.next(cut.end > 0 ? LINGER_MS : null)
    if (next === null) break
    if (next !== 'idle') held = Buffer.concat([held, next])
    else if (cut.end > 0) {
      yield taken(cut.end, cut.lines)
    } else if (held.length >= BATCH_BYTES * 2)
      throw new CliError('a line is longer than 1 MiB, the most one item may have', EXIT.data)
    else {
      const more = await reader.next(null)
      if (more === null) break
      if (more !== 'idle') held = Buffer.concat([held, more])
    }
  }
  while (held.length) {
    const cut = cutAfterLines(held, BATCH_LINES)
    const end = cut.lines === BATCH_LINES ? cut.end : held.length
    // The last line may have no end.
    const batch = taken(end, end > cut.end ? cut.lines + 1 : cut.lines)
    if (batch.body.some((byte) => byte > 32)) yield batch
  }
}

/** The end of the last complete line within `limit` lines and a batch's bytes. */
function cutAfterLines(bytes: Buffer, limit: number): { end: number; lines: number } {
  let end = 0
  let count = 0
  while (count < limit) {
    const at = bytes.indexOf(LINE_FEED, end)
    if (at < 0 || (count > 0 && at >= BATCH_BYTES)) break
    end = at + 1
    count++
  }
  return { end, lines: count }
}

async function whole(reader: IdleReader, head: Buffer): Promise<Buffer> {
  const parts = [head]
  let size = head.length
  for (let next = await reader.next(null); next !== null; next = await reader.next(null)) {
    if (next === 'idle') continue
    parts.push(next)
    size += next.length
    if (size > WHOLE_BYTES)
      throw new CliError(
        'the document is larger than 64 MiB, the most one request may have; send it as NDJSON with --type ndjson',
        EXIT.data,
      )
  }
  return Buffer.concat(parts)
}

/** Reads chunks, and says when none came for a while without losing the one that is under way. */
class IdleReader {
  private readonly iterator: AsyncIterator<Uint8Array>
  private pending: Promise<IteratorResult<Uint8Array>> | null = null

  constructor(input: AsyncIterable<Uint8Array>) {
    this.iterator = input[Symbol.asyncIterator]()
  }

  /** The next chunk, null at the end, `idle` when none came within `ms` (null: waits). */
  async next(ms: number | null): Promise<Buffer | 'idle' | null> {
    this.pending ??= this.iterator.next()
    let timer: NodeJS.Timeout | undefined
    const idle = new Promise<'idle'>((resolve) => {
      if (ms !== null) timer = setTimeout(() => resolve('idle'), ms)
    })
    const result = await (ms === null ? this.pending : Promise.race([this.pending, idle]))
    clearTimeout(timer)
    if (result === 'idle') return 'idle'
    this.pending = null
    return result.done ? null : Buffer.from(result.value)
  }
}

/** Files of recorded events: NDJSON, its first line says what they are, compressed as the name of the file says. */
import { once } from 'node:events'
import { createWriteStream, renameSync, rmSync } from 'node:fs'
import { PassThrough, type Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGzip, createZstdCompress, gunzipSync, zstdDecompressSync } from 'node:zlib'
import type { RecordedEvents } from '../../engine/local.ts'
import { systemWords } from '../../schemas/plain-words.ts'
import type { ExportedEvent } from '../../schemas/types.ts'
import { CliError, EXIT } from './exit.ts'
import { partOf, placeOf, readBytes, STANDARD, shownFile } from './files.ts'
import type { Io } from './terminal.ts'

/** Of this form; a later one that reads otherwise counts up. */
const FORM = 1
/** Of a file, inflated. */
const BYTES_MAX = 2_000_000_000

/** The first line. */
export interface Heading {
  svc_events: number
  from: string
  to: string
  /** Of a hundred entities so many are in it. */
  sample: number
}

export const headingOf = (from: string, to: string, sample: number): Heading => ({
  ...{ svc_events: FORM, from, to, sample },
})

/** Writes a file part by part: it has its name once all of it is there. A pipe or a device gets each part at once. */
export class EventsFile {
  /** What is put in its place at the end; null: nothing is. */
  private readonly beside: { part: string; place: string } | null
  private readonly packer: Transform | null
  /** Settles when all is on the disk, or cannot be. */
  private readonly written: Promise<void>

  constructor(
    private readonly io: Pick<Io, 'out'>,
    private readonly file: string,
  ) {
    const place = file === STANDARD ? null : placeOf(file)
    this.beside = place === null ? null : { part: partOf(place), place }
    this.packer = file === STANDARD ? null : packerOf(file)
    this.written = this.packer ? writeTo(this.packer, file, this.beside?.part) : Promise.resolve()
    // Told where it is waited for.
    this.written.catch(() => undefined)
  }

  /** @throws CliError 74 */
  async add(lines: readonly object[]): Promise<void> {
    if (lines.length === 0) return
    const text = `${lines.map((line) => JSON.stringify(line)).join('\n')}\n`
    if (!this.packer) this.io.out(text)
    else if (!this.packer.write(text)) await Promise.race([once(this.packer, 'drain'), this.failed()])
  }

  /** @throws CliError 74 */
  async finish(): Promise<void> {
    if (!this.packer) return
    this.packer.end()
    try {
      await this.written
      if (this.beside) renameSync(this.beside.part, this.beside.place)
    } catch (error) {
      throw unwritten(this.file, error)
    }
  }

  /** What was written so far is of no use. */
  discard(): void {
    this.packer?.destroy()
    if (this.beside) rmSync(this.beside.part, { force: true })
  }

  private async failed(): Promise<never> {
    return this.written.then(
      () => {
        throw new Error('the file was closed before its end')
      },
      (error: unknown) => {
        throw unwritten(this.file, error)
      },
    )
  }
}

/**
 * @param part of the file, where it gets its name at the end. What lies there goes first: a link that somebody put there
 *   would be followed to wherever it leads
 */
async function writeTo(packer: Transform, file: string, part: string | undefined): Promise<void> {
  if (part) rmSync(part, { force: true })
  await pipeline(packer, part ? createWriteStream(part, { flags: 'wx' }) : createWriteStream(file))
}

function packerOf(file: string): Transform {
  if (file.endsWith('.gz')) return createGzip()
  return file.endsWith('.zst') ? createZstdCompress() : new PassThrough()
}

const unwritten = (file: string, error: unknown): CliError =>
  new CliError(`cannot write ${file}: ${systemWords(error, file)}`, EXIT.disk)

/** A file of recorded events. @throws CliError 66 when it cannot be read, 65 when it is none */
export async function readEvents(io: Io, file: string): Promise<RecordedEvents & { sample: number }> {
  const lines = inflated(file, await readBytes(io, file)).split('\n')
  const heading = parsed(file, lines[0] ?? '', 1) as Partial<Heading>
  if (heading.svc_events !== FORM)
    throw new CliError(
      `${shownFile(file)} is no file of recorded events; "svc events export" writes them`,
      EXIT.data,
    )
  const [from, to] = [heading.from, heading.to].map((at) => Date.parse(String(at)))
  const events = lines.flatMap((line, i) =>
    i === 0 || line === '' ? [] : [checked(file, parsed(file, line, i + 1), i + 1)],
  )
  return { from: from!, to: to!, sample: heading.sample ?? 100, events }
}

function inflated(file: string, bytes: Uint8Array): string {
  const [first, second] = bytes
  try {
    const isGzip = first === 0x1f && second === 0x8b
    const isZstd = first === 0x28 && second === 0xb5
    const limit = { maxOutputLength: BYTES_MAX }
    const plain = isGzip ? gunzipSync(bytes, limit) : isZstd ? zstdDecompressSync(bytes, limit) : bytes
    return Buffer.from(plain.buffer, plain.byteOffset, plain.byteLength).toString()
  } catch (error) {
    throw new CliError(`${shownFile(file)} cannot be inflated: ${(error as Error).message}`, EXIT.data)
  }
}

function parsed(file: string, line: string, number: number): unknown {
  try {
    return JSON.parse(line)
  } catch {
    // Cut, or no line of ours: which one is said.
    throw new CliError(`${shownFile(file)}:${number}: the line is not JSON`, EXIT.data)
  }
}

function checked(file: string, line: unknown, number: number): ExportedEvent {
  const event = line as ExportedEvent
  const texts = [
    event?.source,
    event?.stored_at,
    event?.event_time,
    event?.event_type,
    event?.text,
    event?.raw,
  ]
  const isEvent =
    texts.every((text) => typeof text === 'string') &&
    typeof event.labels === 'object' &&
    event.labels !== null &&
    [event.stored_at, event.event_time].every((at) => Number.isFinite(Date.parse(at)))
  if (!isEvent) throw new CliError(`${shownFile(file)}:${number}: the line is no recorded event`, EXIT.data)
  return event
}

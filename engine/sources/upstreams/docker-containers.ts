/** The containers of an engine, and those that a source names. */
import { UpstreamError } from '../connectors/connector.ts'
import { type DockerClient, DockerRefusal, msOf, parseStamp, type Stamp, sinceOf } from './docker.ts'

/** A row of GET /containers/json, as far as it is looked at. */
interface ContainerRow {
  Id: string
  Names?: string[] | null
  Image?: string
  State?: string
  Status?: string
  Created?: number
  Labels?: Record<string, string> | null
  Ports?: { PrivatePort?: number; PublicPort?: number; Type?: string }[] | null
}

/** A container in our words. */
export interface Container {
  id: string
  name: string
  image: string
  state: string
  /** Epoch ms; 0: not said. */
  createdMs: number
  /** Of Docker Compose; null outside of it. */
  service: string | null
  project: string | null
  /** Its project's compose files. */
  composeFiles: string[]
  ports: { inside: number; outside: number }[]
}

const LABEL = 'com.docker.compose'
const LISTED = { all: '1' }

/** Every container of the engine, stopped ones too. @throws UpstreamError */
export async function listContainers(client: DockerClient): Promise<Container[]> {
  return rowsOf(await client.get('/containers/json', LISTED))
}

/**
 * The containers a source reads: the one of that name, else every replica of the compose service.
 * @param composeFile narrows to the project made of this file, as a whole path or the end of one.
 * @returns none where there is nothing of that name now. @throws UpstreamError
 */
export async function findContainers(
  client: DockerClient,
  name: string,
  composeFile: string | undefined,
): Promise<Container[]> {
  const ask = async (filters: Record<string, string[]>) =>
    rowsOf(await client.get('/containers/json', { ...LISTED, filters: JSON.stringify(filters) })).filter(
      (one) => composeFile === undefined || one.composeFiles.some((file) => isSameFile(file, composeFile)),
    )
  const pattern = `^/?${name.replaceAll('.', '\\.')}$`
  // Engines differ in what they take for a match; the name decides here.
  const named = (await ask({ name: [pattern] })).filter((one) => one.name === name)
  return named.length > 0
    ? named
    : (await ask({ label: [`${LABEL}.service=${name}`] })).filter((one) => one.service === name)
}

/** What must be known to read its log; null where it has gone meanwhile. @throws UpstreamError */
export async function inspect(client: DockerClient, container: Container): Promise<LogOf | null> {
  try {
    const { Config, State } = await client.get<{ Config?: { Tty?: boolean }; State?: { Running?: boolean } }>(
      `/containers/${container.id}/json`,
    )
    return { id: container.id, hasTerminal: Config?.Tty === true, running: State?.Running === true }
  } catch (error) {
    if (isGone(error)) return null
    throw error
  }
}

/** The name of its logging driver; null where it has gone meanwhile. @throws UpstreamError */
export async function loggingDriver(client: DockerClient, { id }: Container): Promise<string | null> {
  try {
    const { HostConfig } = await client.get<{ HostConfig?: { LogConfig?: { Type?: string } } }>(
      `/containers/${id}/json`,
    )
    return HostConfig?.LogConfig?.Type ?? null
  } catch (error) {
    if (isGone(error)) return null
    throw error
  }
}

/** Whether a container was removed between two calls. */
export const isGone = (error: unknown): boolean =>
  error instanceof DockerRefusal && (error.status === 404 || error.status === 409)

function rowsOf(rows: unknown): Container[] {
  if (!Array.isArray(rows)) throw new UpstreamError('the list of containers Docker sent cannot be read')
  return (rows as ContainerRow[])
    .filter((row) => typeof row?.Id === 'string' && /^[0-9a-f]{12,64}$/.test(row.Id))
    .filter((row) => row.Labels?.[`${LABEL}.oneoff`]?.toLowerCase() !== 'true')
    .map(containerOf)
}

function containerOf({ Id, Names, Image, State, Created, Labels, Ports }: ContainerRow): Container {
  const labels = Labels ?? {}
  const ports = (Ports ?? []).flatMap(({ PrivatePort, PublicPort, Type }) =>
    PrivatePort && PublicPort && Type !== 'udp' ? [{ inside: PrivatePort, outside: PublicPort }] : [],
  )
  return {
    id: Id,
    name: (Names?.[0] ?? Id.slice(0, 12)).replace(/^\//, ''),
    image: Image ?? '',
    state: State ?? '',
    createdMs: typeof Created === 'number' ? Created * 1000 : 0,
    service: labels[`${LABEL}.service`] ?? null,
    project: labels[`${LABEL}.project`] ?? null,
    composeFiles: (labels[`${LABEL}.project.config_files`] ?? '').split(',').filter(Boolean),
    ports,
  }
}

/**
 * Whether a compose file is the one given: its whole path, or the end of it.
 * Compose notes whole paths of its own machine, of which a person may know the end.
 */
export function isSameFile(file: string, given: string): boolean {
  const whole = file.replaceAll('\\', '/')
  const end = given.replaceAll('\\', '/').replace(/^(\.\/)+/, '')
  return whole === end || (!end.startsWith('/') && whole.endsWith(`/${end}`))
}

/*
 * What is new in the log of one container. A line is found again by its stream, its time and its place
 * among those of the same time: within a stream times do not fall, between the two they may, since both
 * are written at once. So each stream has a position of its own.
 */

/** Up to where the log of a container was read. */
export interface Position {
  /** Where reading began. */
  since: Stamp
  /** By stream: the time of its last line, and how many lines of that time were read. */
  stdout?: [Stamp, number]
  stderr?: [Stamp, number]
}

interface NewLine extends LogLine {
  /** Place among the lines of its time in its stream, from 0. */
  seq: number
}

export interface ReadLog {
  /** In the order of the log. */
  lines: NewLine[]
  position: Position
  /** There was more than was asked for. */
  more: boolean
}

/** A container whose log is to be read. */
interface LogOf {
  id: string
  hasTerminal: boolean
  running: boolean
}

/** How much at most is read; lines that were read before do not count. */
export interface LogBounds {
  lines: number
  bytes: number
}

/**
 * How far behind the newest line the next read begins: the other stream may be that much late.
 * Lines in between are skipped by their stream's own position.
 */
const OVERLAP_MS = 2_000

/** @throws UpstreamError; DockerRefusal where Docker has no log of it to give. */
export async function readLog(
  client: DockerClient,
  container: LogOf,
  position: Position,
  bounds: LogBounds,
): Promise<ReadLog> {
  const since = sinceOf(beginOf(position))
  const answer = await client.stream(`/containers/${container.id}/logs`, {
    stdout: '1',
    stderr: '1',
    timestamps: '1',
    since,
  })
  const reader = new LogLines(!container.hasTerminal, position.since)
  const taking = new Taking(position, bounds)
  try {
    for await (const chunk of answer as AsyncIterable<Buffer>)
      if (!taking.take(reader.push(chunk))) return taking.result(true)
  } catch (error) {
    throw client.fault(error)
  } finally {
    answer.destroy()
  }
  const isAll = container.running || taking.take(reader.end())
  return taking.result(!isAll)
}

/** The last lines of a log, whatever was read before. @throws UpstreamError */
export async function readTail(client: DockerClient, container: LogOf, lines: number): Promise<LogLine[]> {
  const answer = await client.stream(`/containers/${container.id}/logs`, {
    stdout: '1',
    stderr: '1',
    timestamps: '1',
    tail: String(lines),
  })
  const reader = new LogLines(!container.hasTerminal, '')
  const found: LogLine[] = []
  try {
    for await (const chunk of answer as AsyncIterable<Buffer>) {
      found.push(...reader.push(chunk))
      if (found.length >= lines) break
    }
  } catch (error) {
    throw client.fault(error)
  } finally {
    answer.destroy()
  }
  return found
}

function beginOf({ since, stdout, stderr }: Position): number {
  const newest = [stdout, stderr].flatMap((at) => (at ? [at[0]] : [])).sort()
  const last = newest.at(-1)
  return last === undefined ? msOf(since) : Math.max(msOf(since), msOf(last) - OVERLAP_MS)
}

/** Sorts out what is new, and moves the position along. */
class Taking {
  private readonly lines: NewLine[] = []
  private bytes = 0
  private readonly now: Position
  private readonly places = new Map<ContainerStream, [Stamp, number]>()

  constructor(
    private readonly from: Position,
    private readonly bounds: LogBounds,
  ) {
    this.now = { ...from }
  }

  /** @returns false where a bound was reached before all of them were taken. */
  take(lines: readonly LogLine[]): boolean {
    for (const line of lines) {
      const seq = this.placeOf(line)
      if (!this.isNew(line, seq)) continue
      if (this.lines.length >= this.bounds.lines || this.bytes >= this.bounds.bytes) return false
      this.lines.push({ ...line, seq })
      this.bytes += line.text.length
      this.move(line, seq)
    }
    return true
  }

  result(more: boolean): ReadLog {
    return { lines: this.lines, position: this.now, more }
  }

  private placeOf({ stream, stamp }: LogLine): number {
    const before = this.places.get(stream)
    const seq = before?.[0] === stamp ? before[1] + 1 : 0
    this.places.set(stream, [stamp, seq])
    return seq
  }

  private isNew({ stream, stamp }: LogLine, seq: number): boolean {
    const [last, count] = this.from[stream] ?? [this.from.since, 0]
    return stamp > last || (stamp === last && seq >= count)
  }

  private move({ stream, stamp }: LogLine, seq: number): void {
    const last = this.now[stream]
    if (!last || stamp >= last[0]) this.now[stream] = [stamp, seq + 1]
  }
}

/*
 * The log of a container as the Engine API sends it, cut into lines. Without a terminal it is a row of
 * frames: a byte for the stream, three of zero, the length in four (big endian), then that many bytes; a
 * container with a terminal has one stream and no frames. Each line begins with its time.
 */

export type ContainerStream = 'stdout' | 'stderr'

export interface LogLine {
  stream: ContainerStream
  stamp: Stamp
  text: string
  /** It was longer than is kept. */
  isCut: boolean
}

/** Bytes of a line that are kept. */
const LINE_BYTES = 256 * 1024
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
class LogLines {
  private rest: Buffer = Buffer.alloc(0)
  private readonly begun = new Map<ContainerStream, Begun>()

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

  private readFrame(stream: ContainerStream, body: Buffer, lines: LogLine[]): void {
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
  private take(stream: ContainerStream, bytes: Buffer): LogLine[] {
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

  private finish(stream: ContainerStream): LogLine | null {
    const line = this.begun.get(stream)
    if (!line) return null
    this.begun.delete(stream)
    const bytes = Buffer.concat(line.parts)
    const length = bytes.at(-1) === RETURN ? bytes.length - 1 : bytes.length
    return { stream, stamp: line.stamp, text: bytes.toString('utf8', 0, length), isCut: line.isCut }
  }
}

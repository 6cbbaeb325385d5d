/**
 * What is new in the log of one container. A line is found again by its stream, its time and its place
 * among those of the same time: within a stream times do not fall, between the two they may, since both
 * are written at once. So each stream has a position of its own.
 */
import type { DockerClient } from './client.ts'
import { type LogLine, LogLines, type Stream } from './log-lines.ts'
import { msOf, type Stamp, sinceOf } from './stamp.ts'

/** Up to where the log of a container was read. */
export interface Position {
  /** Where reading began. */
  since: Stamp
  /** By stream: the time of its last line, and how many lines of that time were read. */
  stdout?: [Stamp, number]
  stderr?: [Stamp, number]
}

export interface NewLine extends LogLine {
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
export interface LogOf {
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
  private readonly places = new Map<Stream, [Stamp, number]>()

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

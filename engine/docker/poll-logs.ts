/** One poll of a source of logs: all of its containers, each from where it was read to. */
import { type Polled, type Reach, UpstreamError } from '../connectors/connector.ts'
import { type DockerClient, openDocker, RETRY_MS } from './client.ts'
import { type Container, findContainers, inspect, isGone } from './containers.ts'
import type { LogLine, Stream } from './log-lines.ts'
import { type LogBounds, type Position, type ReadLog, readLog } from './read-log.ts'
import { stampOf } from './stamp.ts'

/** A line as it is stored. */
export interface LogItem {
  raw: string
  /** To the nanosecond, UTC. */
  time: string
  container: string
  service?: string
  project?: string
  stream: Stream
  /** First twelve digits of the container's id. */
  id: string
  /** Place among the lines of its time; absent for the first. */
  seq?: number
  /** The line was longer than is kept. */
  cut?: true
}

export interface LogsWanted {
  container: string
  composeFile: string | undefined
  /** Whether a line is wanted. */
  isWanted(line: string): boolean
}

/** Positions by container id. */
interface Cursor {
  containers: Record<string, Position>
}

const LINES = 5_000
const BYTES = 16 * 1024 * 1024
const ID_DIGITS = 12
const LOOK_BACK_MS = 30_000
/** Containers read at once. */
const AT_ONCE = 8
/** One container whose log hangs must not use up the poll of the others. */
const ONE_LOG_MS = 10_000

/** @throws UpstreamError where no container can be read; where only some can, a notice says so. */
export async function pollLogs(wanted: LogsWanted, cursor: string | null, reach: Reach): Promise<Polled> {
  const client = await openDocker(reach.env ?? {}, reach.signal)
  const found = await findContainers(client, wanted.container, wanted.composeFile)
  if (found.length === 0) return nothingThere(wanted, cursor)
  const before = cursor === null ? null : (JSON.parse(cursor) as Cursor).containers
  const firstAt = stampOf(reach.clock.now() - LOOK_BACK_MS)
  const positionOf = ({ id, createdMs }: Container): Position =>
    before?.[id] ?? { since: before === null ? firstAt : stampOf(createdMs) }
  const share = Math.max(1, Math.floor(LINES / found.length))
  const bounds = { lines: share, bytes: Math.ceil(BYTES / found.length) }
  const failed: UpstreamError[] = []
  const read = await inGroups(found, async (container) => {
    const position = positionOf(container)
    try {
      return { container, log: await readOne(client, container, position, bounds, reach.signal) }
    } catch (error) {
      if (!(error instanceof UpstreamError) || reach.signal.aborted) throw error
      failed.push(new UpstreamError(`${container.name}: ${error.message}`, error.retryAfterMs))
      return { container, log: { lines: [], position, more: false } }
    }
  })
  if (failed.length === found.length) throw failed[0]!
  const positions = Object.fromEntries(read.map(({ container, log }) => [container.id, log.position]))
  return {
    items: itemsOf(read, wanted),
    cursor: JSON.stringify({ containers: positions } satisfies Cursor),
    more: read.some(({ log }) => log.more),
    ...(failed.length ? { notice: failed.map(({ message }) => message).join('; ') } : {}),
  }
}

/** A name that is not there yet is an error; one that was there may be on its way back. */
function nothingThere({ container, composeFile }: LogsWanted, cursor: string | null): Polled {
  const where = composeFile === undefined ? '' : ` of ${composeFile}`
  const sentence = `Docker has no container and no compose service named ${container}${where}: start it, or correct the name`
  if (cursor === null) throw new UpstreamError(sentence, RETRY_MS)
  return { items: [], cursor, notice: sentence }
}

async function readOne(
  client: DockerClient,
  container: Container,
  position: Position,
  bounds: LogBounds,
  signal: AbortSignal,
): Promise<ReadLog> {
  const own = client.within(AbortSignal.any([signal, AbortSignal.timeout(ONE_LOG_MS)]))
  try {
    const known = await inspect(own, container)
    return known ? await readLog(own, known, position, bounds) : { lines: [], position, more: false }
  } catch (error) {
    // Removed since it was listed: what it had not been asked for is gone with it.
    if (isGone(error)) return { lines: [], position, more: false }
    throw error
  }
}

/** The lines of all of them that are wanted, oldest first. */
function itemsOf(read: readonly { container: Container; log: ReadLog }[], wanted: LogsWanted): string[] {
  const all = read.flatMap(({ container, log }) =>
    log.lines.filter((line) => wanted.isWanted(line.text)).map((line) => ({ container, line })),
  )
  // The sort is stable: lines of one container and one time stay in the order of its log.
  if (read.length > 1)
    all.sort((a, b) => (a.line.stamp < b.line.stamp ? -1 : a.line.stamp > b.line.stamp ? 1 : 0))
  return all.map(({ container, line }) => JSON.stringify(itemOf(container, line)))
}

/** A line as it is stored. */
export function itemOf(
  { id, name, service, project }: Container,
  { text, stamp, stream, isCut, seq = 0 }: LogLine & { seq?: number },
): LogItem {
  return {
    raw: text,
    time: stamp,
    container: name,
    ...(service === null ? {} : { service }),
    ...(project === null ? {} : { project }),
    stream,
    id: id.slice(0, ID_DIGITS),
    ...(seq === 0 ? {} : { seq }),
    ...(isCut ? { cut: true as const } : {}),
  }
}

async function inGroups<T, R>(all: readonly T[], each: (one: T) => Promise<R>): Promise<R[]> {
  const done: R[] = []
  for (let at = 0; at < all.length; at += AT_ONCE)
    done.push(...(await Promise.all(all.slice(at, at + AT_ONCE).map(each))))
  return done
}

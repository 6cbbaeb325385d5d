/** Log lines of containers, over the Docker Engine API (SPEC.md, Sources and labels 4). */

import type { FieldsOf } from '../../../schemas/fields-of.ts'
import { countWords } from '../../../schemas/plain-words.ts'
import type { DockerLogsConfig, Label } from '../../../schemas/types.ts'
import { oneLine } from '../../log/ingest/label.ts'
import { compileGroups, groupNames, patternFault } from '../../model/pattern.ts'
import { withDeadline } from '../../net/fetch.ts'
import {
  type Item,
  type MappedEvent,
  type PollConnector,
  type Polled,
  type Reach,
  UpstreamError,
} from '../connectors/connector.ts'
import { compileWanted, jsonLine, lineFields, messageOf, plainLine } from '../connectors/upstream.ts'
import { type DockerClient, openDocker, RETRY_MS, stampOf } from './docker.ts'
import {
  type Container,
  type ContainerStream,
  findContainers,
  inspect,
  isGone,
  type LogBounds,
  type LogLine,
  listContainers,
  type Position,
  type ReadLog,
  readLog,
  readTail,
} from './docker-containers.ts'

const TEXT_MAX = 300
const PATTERNS = ['match', 'drop', 'label_pattern'] as const

export const dockerLogs: PollConnector = {
  kind: 'docker_logs',
  label: 'Docker logs',
  mode: 'poll',
  description:
    'Log lines of a container, or of every replica of a compose service, read from the Docker engine of this machine or the one DOCKER_HOST names. Fields of JSON lines can be labels; of other lines, their level and request.',
  sourceType: 'application_log',
  configSchema: 'connector-docker-logs.json',
  provides: [
    { name: 'service', help: 'Compose service of the container.', primary: true },
    { name: 'container', help: 'Name of the container.' },
    { name: 'project', help: 'Compose project of the container.' },
    { name: 'stream', help: 'stdout or stderr.' },
    { name: 'level', help: 'Level of the line: TRACE to CRIT; of a JSON line, its own field.' },
    { name: 'http_method', help: 'Method of a request noted in the line.' },
    { name: 'http_status', help: 'Status of a request noted in the line.' },
    { name: 'line', help: 'Fields of a JSON line by line.<name>, where a name is taken above.' },
  ],
  suggestedPoll: '5s',
  minPollMs: 1_000,
  identity: ['container', 'compose_file'],
  validate: (config: FieldsOf<DockerLogsConfig>) => faultsOf(config),
  compile: (config: FieldsOf<DockerLogsConfig>) => compileLogs(config),
  poll: (config: FieldsOf<DockerLogsConfig>, cursor, reach) => {
    const { container, compose_file: composeFile, match, drop } = config
    return pollLogs({ container, composeFile, isWanted: compileWanted({ match, drop }) }, cursor, reach)
  },
  discover: (config, reach) => proposeLogs(config as Partial<DockerLogsConfig>, reach),
}

function faultsOf(config: DockerLogsConfig): string[] {
  const faults = PATTERNS.flatMap((field) => {
    const fault = config[field] === undefined ? null : patternFault(config[field], '')
    return fault === null ? [] : [`${field}: ${fault}`]
  })
  if (faults.length === 0 && config.label_pattern && groupNames(config.label_pattern).length === 0)
    faults.push('label_pattern must have a named group, such as (?P<order>ORD-[0-9]+)')
  return faults
}

function compileLogs(config: DockerLogsConfig): (item: Item) => MappedEvent[] {
  const { key, label_pattern: pattern } = config
  const groups = pattern === undefined ? null : compileGroups(pattern)
  return ({ value }) => {
    const {
      raw,
      container,
      service,
      project,
      stream,
      time,
      id,
      seq = 0,
    } = { ...NO_ITEM, ...(value as LogItem) }
    const line = plainLine(raw)
    const fields = jsonLine(line)
    const own = { container, ...(service ? { service } : {}), ...(project ? { project } : {}), stream, time }
    return [
      {
        eventType: 'log',
        text: oneLine(messageOf(fields) ?? line, TEXT_MAX),
        eventTime: time,
        context: {
          ...lineFields(fields, line),
          ...(fields ? { line: fields } : {}),
          ...groups?.(line),
          ...own,
          raw,
        },
        stamped: { service: key ?? service ?? container },
        entityLabel: 'service',
        dedupeKey: `${id}:${stream}:${time}:${seq}`,
      },
    ]
  }
}

/** A sample a person made up to try a label may lack what every line has. */
const NO_ITEM = { raw: '', container: '', stream: 'stdout', time: '', id: '' } as const

/* What a source of logs could be, from what is there: the containers, or the labels its lines can give. */

const TAIL = 200
/** Replicas whose lines are looked at. */
const SAMPLED = 3
const SHOWN = 3
const SHOWN_CHARACTERS = 300
const LABELS_MAX = 8
const VALUE_MAX = 64
/** Share of the lines that must have a field for it to be proposed. */
const COVERAGE = 0.5
/** Said of the line as a whole, not of what it is about. */
const NO_LABEL = /^(msg|message|time|timestamp|ts|@timestamp|date|v|pid|hostname|caller|stack|error|err)$/i

/**
 * @returns without a container: those there are; with one: what its last lines have, and a config whose
 *   labels they give.
 * @throws UpstreamError
 */
async function proposeLogs(
  config: Partial<DockerLogsConfig>,
  reach: Reach,
): Promise<Record<string, unknown>> {
  const client = await openDocker(reach.env ?? {}, reach.signal)
  if (!config.container) {
    const all = await listContainers(client)
    return {
      summary: `${countWords(all.length, 'container')}; name one, or a compose service, and discover again`,
      containers: all.map(({ name, service, project, image, state }) => ({
        name,
        service,
        project,
        image,
        state,
      })),
      proposed_config: { ...config },
    }
  }
  const found = await findContainers(client, config.container, config.compose_file)
  if (found.length === 0)
    throw new UpstreamError(`Docker has no container and no compose service named ${config.container}`)
  const lines: string[] = []
  for (const container of found.slice(0, SAMPLED)) {
    const known = await inspect(client, container)
    if (known) lines.push(...(await readTail(client, known, TAIL)).map((line) => plainLine(line.text)))
  }
  const fields = fieldsOf(lines)
  const replicas = countWords(found.length, 'container')
  return {
    summary: `${replicas}, ${countWords(lines.length, 'line')} looked at${lines.length === 0 ? ': it has logged nothing yet' : ''}`,
    fields,
    sample: lines.slice(-SHOWN).map((line) => oneLine(line, SHOWN_CHARACTERS)),
    proposed_config: { ...config, labels: labelsOf(found[0]!, fields) },
  }
}

interface Field {
  name: string
  type: 'string' | 'number'
  /** Share of the lines that have it, 0 to 1. */
  coverage: number
  distinct: number
  example: string
}

/** The scalar fields of lines, those most lines have first. */
function fieldsOf(lines: readonly string[]): Field[] {
  const tallies = new Map<string, { values: Set<string>; count: number; isNumber: boolean; long: boolean }>()
  for (const line of lines) {
    for (const [name, value] of Object.entries(lineFields(jsonLine(line), line))) {
      if (!['string', 'number', 'boolean'].includes(typeof value) || value === '') continue
      const tally = tallies.get(name) ?? { values: new Set(), count: 0, isNumber: true, long: false }
      tally.count++
      tally.isNumber &&= typeof value === 'number'
      tally.long ||= String(value).length > VALUE_MAX
      tally.values.add(String(value).slice(0, VALUE_MAX))
      tallies.set(name, tally)
    }
  }
  return [...tallies]
    .filter(([, { long }]) => !long)
    .map(([name, { values, count, isNumber }]) => ({
      name,
      type: isNumber ? ('number' as const) : ('string' as const),
      coverage: count / lines.length,
      distinct: values.size,
      example: [...values][0] ?? '',
    }))
    .sort((a, b) => b.coverage - a.coverage || (a.name < b.name ? -1 : 1))
}

/** The entity, the level, then what most lines have and few values fill. */
function labelsOf(container: Container, fields: readonly Field[]): Label[] {
  const entity = container.service === null ? 'container' : 'service'
  const first: Label = { name: entity, field: entity, primary: true }
  const chosen = fields.filter(({ name, coverage, distinct, type }) => {
    if (name === entity || NO_LABEL.test(name) || labelName(name) === null) return false
    // A level is worth a label even where only some lines name theirs.
    if (name === 'level' || name === 'http_status' || name === 'http_method') return true
    return coverage >= COVERAGE && (type === 'number' || distinct <= 50)
  })
  const rest = chosen.map(
    ({ name, type }): Label => ({
      name: labelName(name)!,
      field: OWN.has(name) ? `line.${name}` : name,
      ...(type === 'number' && name !== 'level' && name !== 'http_status' ? { type: 'number' as const } : {}),
    }),
  )
  const named = [first, ...rest]
  return named
    .filter((label, at) => named.findIndex((other) => other.name === label.name) === at)
    .slice(0, LABELS_MAX)
}

/** Fields of the container, which a JSON line's own of that name give way to. */
const OWN = new Set(['container', 'service', 'project', 'stream', 'raw', 'line'])

function labelName(field: string): string | null {
  const name = field.replace(/[^A-Za-z0-9_]/g, '_')
  return /^[A-Za-z0-9_]{1,64}$/.test(name) && name !== 'key_value' && name !== '__proto__' ? name : null
}

/* One poll of a source of logs: all of its containers, each from where it was read to. */

/** A line as it is stored. */
interface LogItem {
  raw: string
  /** To the nanosecond, UTC. */
  time: string
  container: string
  service?: string
  project?: string
  stream: ContainerStream
  /** First twelve digits of the container's id. */
  id: string
  /** Place among the lines of its time; absent for the first. */
  seq?: number
  /** The line was longer than is kept. */
  cut?: true
}

interface LogsWanted {
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
async function pollLogs(wanted: LogsWanted, cursor: string | null, reach: Reach): Promise<Polled> {
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
      return { container, log: await readOne(client, container, position, bounds, reach) }
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
  { timers, signal }: Reach,
): Promise<ReadLog> {
  try {
    const read = await withDeadline(timers, ONE_LOG_MS, signal, async (cut) => {
      const own = client.within(cut)
      const known = await inspect(own, container)
      return known ? await readLog(own, known, position, bounds) : { lines: [], position, more: false }
    })
    if (typeof read === 'string') throw client.late()
    return read.value
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
function itemOf(
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

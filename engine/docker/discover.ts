/** What a source of logs could be, from what is there: the containers, or the labels its lines can give. */
import type { DockerLogsConfig, Label } from '../../schemas/types.ts'
import { type Reach, UpstreamError } from '../connectors/connector.ts'
import { jsonLine, plainLine, textFields } from '../connectors/log-fields.ts'
import { oneLine } from '../ingest/template.ts'
import { openDocker } from './client.ts'
import { type Container, findContainers, inspect, listContainers } from './containers.ts'
import { readTail } from './read-log.ts'

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
export async function proposeLogs(
  config: Partial<DockerLogsConfig>,
  reach: Reach,
): Promise<Record<string, unknown>> {
  const client = await openDocker(reach.env ?? {}, reach.signal)
  if (!config.container) {
    const all = await listContainers(client)
    return {
      summary: `${all.length} container${all.length === 1 ? '' : 's'}; name one, or a compose service, and discover again`,
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
  const replicas = `${found.length} container${found.length === 1 ? '' : 's'}`
  return {
    summary: `${replicas}, ${lines.length} line${lines.length === 1 ? '' : 's'} looked at${lines.length === 0 ? ': it has logged nothing yet' : ''}`,
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
export function fieldsOf(lines: readonly string[]): Field[] {
  const tallies = new Map<string, { values: Set<string>; count: number; isNumber: boolean; long: boolean }>()
  for (const line of lines) {
    for (const [name, value] of Object.entries(jsonLine(line) ?? textFields(line))) {
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
export function labelsOf(container: Container, fields: readonly Field[]): Label[] {
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

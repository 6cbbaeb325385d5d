/** Log lines of containers, over the Docker Engine API (SPEC.md, Sources and labels 4). */
import type { FieldsOf } from '../../schemas/fields-of.ts'
import type { DockerLogsConfig } from '../../schemas/types.ts'
import { proposeLogs } from '../docker/discover.ts'
import { type LogItem, pollLogs } from '../docker/poll-logs.ts'
import { compileGroups, groupNames, patternFault } from '../ingest/pattern.ts'
import { oneLine } from '../ingest/template.ts'
import type { Item, MappedEvent, PollConnector } from './connector.ts'
import { compileWanted, jsonLine, messageOf, plainLine, textFields } from './log-fields.ts'

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
          ...(fields ? { ...fields, line: fields } : textFields(line)),
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

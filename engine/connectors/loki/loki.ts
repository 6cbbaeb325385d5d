/** Log lines of Loki, chosen with LogQL (SPEC.md, Sources and labels 4: a log-aggregator connector). */
import type { FieldsOf } from '../../../schemas/fields-of.ts'
import type { LokiConfig } from '../../../schemas/types.ts'
import { patternFault } from '../../ingest/pattern.ts'
import { oneLine } from '../../ingest/template.ts'
import type { Item, MappedEvent, PollConnector } from '../connector.ts'
import { compileWanted, jsonLine, messageOf, plainLine, textFields } from '../log-fields.ts'
import { upstreamFaults } from '../upstream.ts'
import { type Entry, lineId } from './entries.ts'
import { pollLines } from './poll.ts'

const TEXT_MAX = 300
const PATTERNS = ['match', 'drop'] as const

/** What is stored of a line. */
interface LokiItem {
  raw: string
  stream: Record<string, string>
  metadata?: Record<string, string>
  /** ISO 8601 with nanoseconds. */
  time: string
}

export const loki: PollConnector = {
  kind: 'loki',
  label: 'Loki logs',
  mode: 'poll',
  description:
    'Log lines of Loki, chosen with LogQL. Labels of a stream and fields of JSON lines can be labels; of other lines, their level and request.',
  sourceType: 'application_log',
  configSchema: 'connector-loki.json',
  suggestedPoll: '5s',
  identity: ['url', 'query', 'tenant_id'],
  provides: [
    { name: 'service_name', help: 'Label of the stream; any other is read bare, or as stream.<label>.' },
    { name: 'level', help: 'Level of the line: TRACE to CRIT; of a JSON line, its own field.' },
    { name: 'http_method', help: 'Method of a request noted in the line.' },
    { name: 'http_status', help: 'Status of a request noted in the line.' },
    { name: 'line', help: 'Fields of a JSON line by line.<name>, where a label of the stream has the name.' },
  ],
  validate: (config: FieldsOf<LokiConfig>) => faultsOf(config),
  compile: (config: FieldsOf<LokiConfig>) => compileLines(config),
  poll: (config: FieldsOf<LokiConfig>, cursor, reach) => {
    return pollLines(config, cursor, reach, compileWanted(config), itemOf)
  },
}

function faultsOf(config: LokiConfig): string[] {
  const faults = PATTERNS.flatMap((field) => {
    const fault = config[field] === undefined ? null : patternFault(config[field], '')
    return fault === null ? [] : [`${field}: ${fault}`]
  })
  return [...upstreamFaults(config), ...faults]
}

function itemOf(entry: Entry): string {
  const { line, stream, metadata } = entry
  const item: LokiItem = {
    raw: line,
    stream,
    ...(metadata ? { metadata } : {}),
    time: isoOf(entry.at),
  }
  return JSON.stringify(item)
}

/** @param at ns since 1970. */
function isoOf(at: bigint): string {
  const seconds = new Date(Number(at / 1_000_000_000n) * 1_000).toISOString().slice(0, 19)
  return `${seconds}.${String(at % 1_000_000_000n).padStart(9, '0')}Z`
}

function compileLines({ key, labels = [] }: LokiConfig): (item: Item) => MappedEvent[] {
  const entity = labels.find((label) => label.primary)?.name ?? 'key'
  return ({ value }) => {
    const { raw, stream, metadata, time } = { ...NO_ITEM, ...(value as Partial<LokiItem>) }
    const line = plainLine(raw)
    const fields = jsonLine(line)
    return [
      {
        eventType: 'log',
        text: oneLine(messageOf(fields) ?? line, TEXT_MAX),
        context: {
          ...(fields ? { ...fields, line: fields } : textFields(line)),
          ...metadata,
          ...stream,
          stream,
          metadata,
          raw,
          time,
        },
        ...(key ? { stamped: { [entity]: key }, entityLabel: entity } : {}),
        // A large page is stored in parts, and one that was half stored is read again.
        ...(time === undefined ? {} : { eventTime: time, dedupeKey: lineId(stream, time, raw) }),
      },
    ]
  }
}

/** A sample a person made up to try a label may lack what every line has. */
const NO_ITEM: Partial<LokiItem> & Pick<LokiItem, 'raw' | 'stream'> = { raw: '', stream: {} }

/** Log lines of Loki, chosen with LogQL (SPEC.md, Sources and labels 4: a log-aggregator connector). */

import { createHash } from 'node:crypto'
import type { FieldsOf } from '../../../schemas/fields-of.ts'
import type { LokiConfig } from '../../../schemas/types.ts'
import { oneLine } from '../../log/ingest/label.ts'
import { patternFault } from '../../model/pattern.ts'
import {
  type Item,
  type MappedEvent,
  type PollConnector,
  type Polled,
  type Reach,
  UpstreamError,
} from './connector.ts'
import {
  ask,
  compileWanted,
  jsonLine,
  lineFields,
  messageOf,
  plainLine,
  refusal,
  upstreamFaults,
} from './upstream.ts'

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
          ...lineFields(fields, line),
          ...(fields ? { line: fields } : {}),
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

/* Asking Loki for lines, and its answer read with care. */

/** A line of a stream. */
interface Entry {
  /** Nanoseconds since 1970, which no number holds. */
  at: bigint
  line: string
  stream: Record<string, string>
  /** Structured metadata of the line; most have none. */
  metadata: Record<string, string> | null
}

interface Page {
  /** Oldest first. */
  entries: Entry[]
  /** There were as many as were asked for: more may wait. */
  isFull: boolean
}

const LOKI = {
  name: 'Loki',
  api: '/loki/api/v1',
  credentials: 'bearer_token, username and password, or tenant_id',
}

/**
 * Asks for the oldest lines of a span.
 * @param start inclusive, ns. @param end exclusive, ns. @param limit lines at most.
 * @throws UpstreamError
 */
async function askLines(
  config: LokiConfig,
  { start, end, limit }: { start: bigint; end: bigint; limit: number },
  reach: Reach,
): Promise<Page> {
  const { tenant_id: tenant } = config
  const upstream = { ...config, ...LOKI, ...(tenant ? { headers: { 'x-scope-orgid': tenant } } : {}) }
  const asked = new URLSearchParams({
    query: config.query,
    start: String(start),
    end: String(end),
    direction: 'forward',
    limit: String(limit),
  })
  const answer = await ask(upstream, `/loki/api/v1/query_range?${asked}`, reach)
  const { status, data, message } = objectOf(answer.body)
  const { resultType, result } = objectOf(data)
  if (answer.status !== 200 || status !== 'success' || !Array.isArray(result)) {
    // Loki says it in plain text; what stands before it may wrap that in JSON.
    throw refusal(upstream, answer, answer.plain ?? (typeof message === 'string' ? message : undefined))
  }
  if (resultType !== 'streams')
    throw new UpstreamError('The query gives numbers, not lines. Ask for lines, such as {app="checkout"}.')
  const entries = result.flatMap(entriesOf).sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0))
  return { entries, isFull: entries.length >= limit }
}

/** Tells lines of one time apart: 96 bits. @param at the time, in any one form. */
function lineId(stream: Record<string, string>, at: string, line: string): string {
  const labels = Object.entries(stream).sort(([a], [b]) => (a < b ? -1 : 1))
  return createHash('sha256')
    .update(JSON.stringify([labels, at, line]))
    .digest('hex')
    .slice(0, 24)
}

function entriesOf(one: unknown): Entry[] {
  const { stream, values } = objectOf(one)
  const labels = textsOf(stream)
  return (Array.isArray(values) ? values : []).map((value) => {
    const [at, line, more] = Array.isArray(value) ? (value as unknown[]) : []
    if (typeof at !== 'string' || !/^\d{1,19}$/.test(at) || typeof line !== 'string')
      throw new UpstreamError('What answers at this address does not list lines as Loki does. Check url.')
    const metadata = textsOf(objectOf(more).structuredMetadata ?? more)
    return {
      at: BigInt(at),
      line,
      stream: labels,
      metadata: Object.keys(metadata).length ? metadata : null,
    }
  })
}

function objectOf(value: unknown): Record<string, unknown> {
  return value !== null && typeof value === 'object' && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : {}
}

function textsOf(value: unknown): Record<string, string> {
  return Object.fromEntries(
    Object.entries(objectOf(value)).filter(
      (entry): entry is [string, string] => typeof entry[1] === 'string',
    ),
  )
}

/*
 * Reads the lines of a Loki page by page. A page that is full ends in the middle of a nanosecond: the
 * next one begins with that nanosecond again, and leaves out the lines of it that were read.
 */

const PAGE = 1_000
/** What Loki gives at most unless it is told otherwise: for more lines of one nanosecond than a page holds. */
const WHOLE_PAGE = 5_000
const FIRST_MS = 30_000
/** A query over a longer time is refused, or stalls Loki. */
const BACK_MS = 7 * 86_400_000
const NS = 1_000_000n
const DELAY_S = 5

interface Place {
  /** Where to begin, ns. */
  at: string
  /** Lines of exactly that time that were read. */
  seen: string[]
}

/**
 * @param isWanted whether a line is kept. @param itemOf the JSON text to store of a line.
 * @throws UpstreamError
 */
async function pollLines(
  config: LokiConfig,
  cursor: string | null,
  reach: Reach,
  isWanted: (line: string) => boolean,
  itemOf: (entry: Entry) => string,
): Promise<Polled> {
  const now = BigInt(reach.clock.now()) * NS
  const end = now - BigInt((config.delay ?? DELAY_S) * 1_000) * NS
  const { place, notice } = placeOf(cursor, now)
  const start = BigInt(place.at)
  if (start >= end) return { items: [], cursor: JSON.stringify(place) }
  const { entries, isFull, isStuck } = await pageFrom(config, start, end, reach)
  const seen = new Set(place.seen)
  const fresh = entries.filter((entry) => entry.at !== start || !seen.has(idOf(entry)))
  const notices = [notice, isStuck ? STUCK : null].filter((text) => text !== null)
  return {
    items: fresh.filter(({ line }) => isWanted(line)).map(itemOf),
    cursor: JSON.stringify(isFull ? nextPlace(entries, isStuck) : { at: String(end), seen: [] }),
    ...(isFull ? { more: true } : {}),
    ...(notices.length ? { notice: notices.join(' ') } : {}),
  }
}

const STUCK = `More than ${WHOLE_PAGE} lines have one and the same time; those beyond were not read.`
const BEHIND = 'Lines older than seven days were left out.'

/** Where reading goes on; the first time, half a minute ago. */
function placeOf(cursor: string | null, now: bigint): { place: Place; notice: string | null } {
  if (cursor === null) return { place: { at: String(now - BigInt(FIRST_MS) * NS), seen: [] }, notice: null }
  const place = JSON.parse(cursor) as Place
  const oldest = now - BigInt(BACK_MS) * NS
  if (BigInt(place.at) >= oldest) return { place, notice: null }
  return { place: { at: String(oldest), seen: [] }, notice: BEHIND }
}

async function pageFrom(
  config: LokiConfig,
  start: bigint,
  end: bigint,
  reach: Reach,
): Promise<Page & { isStuck: boolean }> {
  const isOneTime = ({ entries, isFull }: Page) => isFull && entries.at(-1)!.at === start
  const page = await askLines(config, { start, end, limit: PAGE }, reach)
  if (!isOneTime(page)) return { ...page, isStuck: false }
  const larger = await askLines(config, { start, end, limit: WHOLE_PAGE }, reach)
  return { ...larger, isStuck: isOneTime(larger) }
}

const idOf = ({ stream, at, line }: Entry): string => lineId(stream, String(at), line)

function nextPlace(entries: readonly Entry[], isStuck: boolean): Place {
  const { at } = entries.at(-1)!
  if (isStuck) return { at: String(at + 1n), seen: [] }
  return { at: String(at), seen: entries.filter((entry) => entry.at === at).map(idOf) }
}

/**
 * Resources of an MCP server: documents that it lists and lets one read (Model Context Protocol 2025-11-25, Server
 * Features: Resources). Each poll lists them and reads those that may have changed; what is added, changed or gone is an
 * event. Nothing is subscribed to: a notification says only that there is something to read, which a poll finds as well.
 */

import { createHash } from 'node:crypto'
import type { Client, StandardSchemaV1 } from '@modelcontextprotocol/client'
import type { FieldsOf } from '../../../schemas/fields-of.ts'
import { countWords } from '../../../schemas/plain-words.ts'
import type { McpResourcesConfig } from '../../../schemas/types.ts'
import { parseDigits } from '../../log/ingest/json.ts'
import { oneLine, TEXT_MAX } from '../../log/ingest/label.ts'
import { withoutNotifications } from '../../net/fetch.ts'
import { withoutSecrets } from '../../net/redact.ts'
import {
  type Item,
  type MappedEvent,
  objectOf,
  type PollConnector,
  type Polled,
  type Reach,
  UpstreamError,
} from './connector.ts'
import { upstreamFaults } from './upstream.ts'

/** Resources that are followed; what a server lists beyond them is told. */
const RESOURCES_MAX = 500
const PAGES_MAX = 20
/** Read in one poll; the next goes on. */
const READS_MAX = 100
/** Of the 20 seconds of a poll: a server may take its time for each, and what was read is not to be lost. */
const READING_MS = 12_000
/** Characters of a resource that are stored. */
const TEXT_KEPT = 64 * 1024
const URI_MAX = 2_000
const ENTITY = 'resource'
const TOLD_MAX = 300

/** Of a resource in the cursor: the hash of what it held, and when the server said that it changed. */
interface Entry {
  hash: string
  modified: string
  name: string
}

/** By URI, what was read the longest ago first. */
type Known = Map<string, Entry>

interface Cursor {
  /** Polls that brought something. */
  turn: number
  known: [string, Entry][]
}

/** Of older versions it is the list alone. */
const cursorOf = (text: string | null): Cursor => {
  const cursor = text === null ? [] : (JSON.parse(text) as Cursor | Cursor['known'])
  return Array.isArray(cursor) ? { turn: 0, known: cursor } : cursor
}

interface Listed {
  uri: string
  name: string
  title?: string
  mimeType?: string
  modified: string
}

/** The payload of an event. */
interface ResourceItem {
  change: 'added' | 'changed' | 'gone'
  uri: string
  name: string
  title?: string
  mime_type?: string
  modified?: string
  /** What it holds, where that is text; cut at 64 Ki characters. */
  text?: string
  /** Size where it is none. */
  bytes?: number
  time: string
  /** Number of the poll: a poll that is repeated because its outcome was not stored has the same one. */
  turn: number
}

export const mcpResources: PollConnector = {
  kind: 'mcp_resources',
  label: 'MCP resources',
  mode: 'poll',
  description:
    'Documents that an MCP server lets one read: an event for each that is added, changed or gone.',
  sourceType: 'event_stream',
  configSchema: 'connector-mcp-resources.json',
  suggestedPoll: '1m',
  minPollMs: 5_000,
  identity: ['url', 'uris'],
  provides: [
    { name: ENTITY, help: 'Address (URI) of the resource.', primary: true },
    { name: 'name', help: 'Name of the resource.' },
    { name: 'change', help: 'added, changed or gone.' },
    { name: 'mime_type', help: 'Type of what it holds, as its server says.' },
    { name: 'text', help: 'What it holds, where that is text.' },
    { name: 'json', help: 'Fields of a resource that is a JSON object, by json.<name>.' },
  ],
  validate: (config: FieldsOf<McpResourcesConfig>) => upstreamFaults({ url: config.url }),
  compile: (config: FieldsOf<McpResourcesConfig>) => (item) => compileResource(config, item),
  poll: (config: FieldsOf<McpResourcesConfig>, cursor, reach) => pollResources(config, cursor, reach),
  discover: (config, reach) => propose(config, reach),
}

function compileResource({ url, uris }: McpResourcesConfig, { value }: Item): MappedEvent[] {
  const item = objectOf(value) as Partial<ResourceItem>
  const { uri = '', name = uri, change = 'changed', text, bytes, time, turn } = item
  const said = text ?? (bytes === undefined ? '' : `${bytes} bytes`)
  const json = text === undefined ? null : objectIn(text)
  return [
    {
      eventType: `resource.${change}`,
      text: oneLine(`${name} ${change}${said ? `: ${said}` : ''}`, TEXT_MAX),
      ...(time === undefined ? {} : { eventTime: time }),
      context: { ...item, ...(json ? { json } : {}) },
      stamped: { [ENTITY]: oneLine(uri, 256) },
      entityLabel: ENTITY,
      // A large poll is stored in parts, and one that was half stored is done again: with the same turn, at another time.
      ...(turn === undefined ? {} : { dedupeKey: hashOf([url, uris, turn, change, uri, text, bytes]) }),
    },
  ]
}

const hashOf = (parts: readonly unknown[]): string =>
  createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 32)

function objectIn(text: string): Record<string, unknown> | null {
  if (!/^\s*\{/.test(text)) return null
  try {
    return objectOf(parseDigits(text))
  } catch {
    return null
  }
}

async function pollResources(
  config: McpResourcesConfig,
  cursor: string | null,
  reach: Reach,
): Promise<Polled> {
  const { turn, known: entries } = cursorOf(cursor)
  const known: Known = new Map(entries)
  const began = reach.clock.now()
  return await connected(config, reach, async (ask) => {
    const { resources, notice } = await list(ask, config)
    const listed = new Map(resources.map((one) => [one.uri, one]))
    const time = new Date(reach.clock.now()).toISOString()
    // A list that was cut says nothing of what it does not have.
    const gone = notice ? [] : [...known].filter(([uri]) => !listed.has(uri))
    for (const [uri] of gone) known.delete(uri)
    const due = dueOf(listed, known)
    const isOver = () => reach.clock.now() - began >= READING_MS
    const { changes, faults, read } = await readDue(ask, due.slice(0, READS_MAX), known, isOver)
    const items: ResourceItem[] = [
      ...changes.map((change) => ({ ...change, time, turn })),
      ...gone.map(([uri, { name }]) => ({ change: 'gone' as const, uri, name, time, turn })),
    ]
    const told = [
      ...(notice ? [notice] : []),
      ...(faults.length ? [`${faults.length} not read: ${faults.slice(0, 3).join('; ')}`] : []),
    ]
    return {
      items: items.map((item) => JSON.stringify(item)),
      cursor: JSON.stringify({ turn: turn + (items.length ? 1 : 0), known: [...known] } satisfies Cursor),
      // Those that were never read; the others are read in turn, poll by poll.
      ...(due.slice(read).some(({ uri }) => !known.has(uri)) ? { more: true } : {}),
      ...(told.length ? { notice: told.join(' ') } : {}),
    }
  })
}

/** What may hold something else than it did: what was never read first, then what was read the longest ago. */
function dueOf(listed: ReadonlyMap<string, Listed>, known: Known): Listed[] {
  const fresh = [...listed.values()].filter(({ uri }) => !known.has(uri))
  const again = [...known].flatMap(([uri, { modified }]) => {
    const one = listed.get(uri)
    return one && (one.modified === '' || one.modified !== modified) ? [one] : []
  })
  return [...fresh, ...again]
}

/** Reads them, and notes in `known` what they hold now, as what was read last. */
async function readDue(
  ask: Ask,
  due: readonly Listed[],
  known: Known,
  isOver: () => boolean,
): Promise<{ changes: Omit<ResourceItem, 'time' | 'turn'>[]; faults: string[]; read: number }> {
  const changes: Omit<ResourceItem, 'time' | 'turn'>[] = []
  const faults: string[] = []
  let read = 0
  for (const one of due) {
    if (read > 0 && isOver()) break
    read++
    const before = known.get(one.uri)
    const held = await contentOf(ask, one.uri)
    if (typeof held === 'string') faults.push(`${oneLine(one.name, 80)}: ${held}`)
    else if (before?.hash !== held.hash)
      changes.push({ change: before ? 'changed' : 'added', ...shown(one), ...held.said })
    known.delete(one.uri)
    const entry =
      typeof held === 'string' ? before : { hash: held.hash, modified: one.modified, name: one.name }
    if (entry) known.set(one.uri, entry)
  }
  return { changes, faults, read }
}

const shown = ({
  uri,
  name,
  title,
  mimeType,
  modified,
}: Listed): Omit<ResourceItem, 'change' | 'time' | 'turn'> => ({
  uri,
  name,
  ...(title ? { title } : {}),
  ...(mimeType ? { mime_type: mimeType } : {}),
  ...(modified ? { modified } : {}),
})

type Ask = (method: string, params: Record<string, unknown>) => Promise<Record<string, unknown>>

/** All pages of the list, as far as they are followed. */
async function list(
  ask: Ask,
  { uris = [] }: Pick<McpResourcesConfig, 'uris'>,
): Promise<{ resources: Listed[]; notice: string | null }> {
  const found = new Map<string, Listed>()
  let cursor: unknown
  for (let page = 0; page < PAGES_MAX; page++) {
    const answer = await ask('resources/list', typeof cursor === 'string' ? { cursor } : {})
    for (const entry of Array.isArray(answer.resources) ? answer.resources : []) {
      const one = listedOf(entry)
      if (
        one &&
        !found.has(one.uri) &&
        (uris.length === 0 || uris.some((begin) => one.uri.startsWith(begin)))
      )
        found.set(one.uri, one)
    }
    cursor = answer.nextCursor
    if (typeof cursor !== 'string' || cursor === '' || found.size > RESOURCES_MAX) break
  }
  const isCut = found.size > RESOURCES_MAX || (typeof cursor === 'string' && cursor !== '')
  return {
    resources: [...found.values()].slice(0, RESOURCES_MAX),
    notice: isCut
      ? `The server lists more than are followed: the first ${Math.min(found.size, RESOURCES_MAX)} are. Narrow them with uris.`
      : null,
  }
}

function listedOf(entry: unknown): Listed | null {
  const { uri, name, title, mimeType, annotations } = objectOf(entry)
  if (typeof uri !== 'string' || uri === '' || uri.length > URI_MAX) return null
  const { lastModified } = objectOf(annotations)
  return {
    uri,
    name: typeof name === 'string' && name !== '' ? oneLine(name, 256) : uri,
    ...(typeof title === 'string' ? { title: oneLine(title, 256) } : {}),
    ...(typeof mimeType === 'string' ? { mimeType: oneLine(mimeType, 128) } : {}),
    modified: typeof lastModified === 'string' ? oneLine(lastModified, 64) : '',
  }
}

/** @returns what a resource holds, or why it cannot be read */
async function contentOf(
  ask: Ask,
  uri: string,
): Promise<{ hash: string; said: Pick<ResourceItem, 'text' | 'bytes'> } | string> {
  let contents: unknown
  try {
    contents = (await ask('resources/read', { uri })).contents
  } catch (error) {
    // One that is gone by now, or may not be read, keeps no other from being read.
    if (error instanceof ServerSays) return error.message
    throw error
  }
  const parts = (Array.isArray(contents) ? contents : []).map(objectOf)
  const hash = hashOf(parts.map(({ text, blob }) => [text, blob]))
  const texts = parts.flatMap(({ text }) => (typeof text === 'string' ? [text] : []))
  const blobs = parts.flatMap(({ blob }) =>
    typeof blob === 'string' ? [Buffer.byteLength(blob, 'base64')] : [],
  )
  const bytes = blobs.reduce((sum, size) => sum + size, 0)
  return {
    hash,
    said: {
      ...(texts.length ? { text: texts.join('\n').slice(0, TEXT_KEPT) } : {}),
      ...(blobs.length ? { bytes } : {}),
    },
  }
}

/* The connection, which lives for one poll. */

/** The server understood, and answers with an error of its own. */
class ServerSays extends UpstreamError {}

const AS_IT_IS: StandardSchemaV1<unknown, Record<string, unknown>> = {
  '~standard': { version: 1, vendor: 'svc', validate: (value) => ({ value: objectOf(value) }) },
}

type Connection = Pick<McpResourcesConfig, 'url' | 'bearer_token'>

/** @throws UpstreamError */
async function connected<T>(connection: Connection, reach: Reach, use: (ask: Ask) => Promise<T>): Promise<T> {
  // Loaded when it is first used: most of a start is loading code.
  const sdk = await import('@modelcontextprotocol/client')
  const transport = new sdk.StreamableHTTPClientTransport(new URL(connection.url), {
    fetch: withoutNotifications((input, init) => reach.fetch(input, { ...init, signal: reach.signal })),
    requestInit: {
      headers: connection.bearer_token ? { authorization: `Bearer ${connection.bearer_token}` } : {},
    },
  })
  const client: Client = new sdk.Client(
    { name: 'svc', version: '1' },
    { capabilities: {}, versionNegotiation: { mode: 'auto' } },
  )
  const told = (error: unknown) => faultOf(error, connection, reach)
  try {
    await client.connect(transport, { signal: reach.signal })
  } catch (error) {
    throw told(error)
  }
  try {
    return await use(async (method, params) => {
      try {
        return await client.request({ method, params }, AS_IT_IS, { signal: reach.signal })
      } catch (error) {
        throw told(error)
      }
    })
  } finally {
    await transport.terminateSession().catch(() => {})
    await client.close().catch(() => {})
  }
}

function faultOf(error: unknown, { bearer_token: token }: Connection, { signal }: Reach): UpstreamError {
  if (signal.aborted) return new UpstreamError('The MCP server gave no answer in the time of a poll.')
  const { name, message, status, code } = error as Error & { status?: unknown; code?: unknown }
  if (status === 401 || status === 403)
    return new UpstreamError(`The MCP server answered ${status}. ${token ? 'Check' : 'Set'} bearer_token.`)
  if (status === 404 || status === 405)
    return new UpstreamError(
      `The MCP server answered ${status}. url is its whole address, such as https://mcp.example/mcp.`,
    )
  if (typeof status === 'number') return new UpstreamError(`The MCP server answered ${status}.`)
  if (code === -32_601) return new ServerSays('The MCP server has no resources.')
  if (name === 'ProtocolError')
    return new ServerSays(
      `the MCP server says: ${oneLine(withoutSecrets(message.replace(/^MCP error -?\d+: /, ''), [token]), TOLD_MAX)}`,
    )
  const { cause } = error as { cause?: { fault?: unknown; message?: string } }
  if (cause?.fault !== undefined && cause.message)
    return new UpstreamError(
      `The MCP server cannot be reached: ${cause.message}. Check url, and that it runs.`,
    )
  return new UpstreamError('What answers at this address is no MCP server. Check url.')
}

/* What there is to follow. */

const SHOWN_MAX = 20

/** @throws UpstreamError */
async function propose(config: Record<string, unknown>, reach: Reach): Promise<Record<string, unknown>> {
  const { url, bearer_token, uris } = config as Partial<McpResourcesConfig>
  if (typeof url !== 'string' || !URL.canParse(url))
    throw new UpstreamError('url must be the address of an MCP server.')
  const { resources, notice } = await connected(
    { url, ...(bearer_token ? { bearer_token } : {}) },
    reach,
    (ask) => list(ask, { ...(uris ? { uris } : {}) }),
  )
  const schemes = [
    ...new Set(resources.map(({ uri }) => /^[a-z][a-z0-9+.-]*:/i.exec(uri)?.[0] ?? uri)),
  ].sort()
  return {
    connector: 'mcp_resources',
    summary: [
      `${countWords(resources.length, 'resource')}${schemes.length ? ` (${schemes.slice(0, 5).join(', ')})` : ''}`,
      ...(notice ? [notice] : []),
    ].join('; '),
    resources: resources.slice(0, SHOWN_MAX).map((one) => shown(one)),
    proposed_config: { url, ...(uris ? { uris } : {}) },
  }
}

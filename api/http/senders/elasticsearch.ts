/**
 * What sends logs to Elasticsearch: its bulk requests behind an ingest URL, and what its clients ask before they send.
 * https://www.elastic.co/docs/api/doc/elasticsearch/operation/operation-bulk
 */
import { createHash } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { type ErrorExtra, fail, type IngestPost, SvcError } from '../../../engine/index.ts'
import type { IngestResult } from '../../../schemas/types.ts'
import type { Doors } from '../doors.ts'
import { isHead } from '../head.ts'
import { problemHeaders } from '../problems.ts'

const BULK = /^\/ingest\/[^/?]+\/+(?:([^/?_][^/?]*)\/)?_bulk\/?(?:\?|$)/
/** One document, as who sends few does. */
const ONE = /^\/ingest\/[^/?]+\/+([^/?_][^/?]*)\/_(?:doc|create)(?:\/([^/?]+))?\/?(?:\?|$)/
/** What is asked, each answered as by a cluster that has all that its client would set up. */
const ASKED: readonly (readonly [path: RegExp, answer: object])[] = [
  [/^$/, info()],
  [/^_license$/, { license: { status: 'active', uid: 'svc', type: 'basic', mode: 'basic' } }],
  [/^_xpack$/, { license: { status: 'active', uid: 'svc', type: 'basic', mode: 'basic' }, features: {} }],
  [/^_(cluster|cat)\/health(\/.*)?$/, { cluster_name: 'svc', status: 'green', timed_out: false }],
  [/^_(index_template|template|component_template|ilm\/policy|ingest\/pipeline|data_stream)\/[^/]+$/, {}],
  [/^([^/]+\/)?_refresh$/, { _shards: { total: 1, successful: 1, failed: 0 } }],
]
const SENT = /^(\/ingest\/[^/?]+)\/+([^?]*?)\/?(\?|$)/
/** An index, or the name of many in one. */
const INDEX = /^[^/_+-][^/]*$/

/** A version whose clients send what is taken here; clients of 7 to 9 look at it. */
function info(): object {
  const version = { number: '8.19.0', build_flavor: 'default', build_type: 'svc', lucene_version: '9.12.2' }
  const build = { build_hash: 'svc', build_date: '2025-07-29T00:00:00.000Z', build_snapshot: false }
  return {
    name: 'svc',
    cluster_name: 'svc',
    cluster_uuid: 'svc',
    version: {
      ...version,
      ...build,
      minimum_wire_compatibility_version: '7.17.0',
      minimum_index_compatibility_version: '7.0.0',
    },
    tagline: 'You Know, for Search',
  }
}

const pathOf = (url: string): string | undefined => SENT.exec(url)?.[2]

/** Requests that came as a PUT. */
const puts = new WeakSet<IncomingMessage>()

/**
 * What clients of Elasticsearch ask before they send is answered with.
 * @param url as it came. @param body of a POST or a PUT. @returns undefined for any other request.
 * @throws SvcError invalid
 */
export function clusterAnswer(
  url: string,
  request: IncomingMessage,
  body?: Uint8Array | readonly Uint8Array[],
): object | undefined {
  const path = pathOf(url)
  // A post to the address with a slash behind it is one to the address.
  if (path === undefined || (path === '' && body !== undefined)) return undefined
  const asked = ASKED.find(([of]) => of.test(path))?.[1]
  if (asked && puts.has(request)) return { acknowledged: true }
  if (asked || !INDEX.test(path)) return asked
  if (isHead(request)) return {}
  if (!puts.has(request) || body === undefined) return undefined
  if (!makesIndex(body))
    fail('invalid', `a PUT of /${path} makes an index: documents go to /${path}/_doc/<id>, or to /_bulk`)
  return { acknowledged: true, shards_acknowledged: true, index: path }
}

/** What a client says of an index that it makes: a document has other fields. */
const OF_INDEX: ReadonlySet<string> = new Set(['settings', 'mappings', 'aliases'])

function makesIndex(given: Uint8Array | readonly Uint8Array[]): boolean {
  const text = bytesOf(given).toString().trim()
  if (text === '') return true
  try {
    const said: unknown = JSON.parse(text)
    return Object.keys(said as object).every((name) => OF_INDEX.has(name))
  } catch {
    // No JSON is none of these.
    return false
  }
}

/** Whether documents go there. @param url as it came */
export const isToElasticsearch = (url: string): boolean => BULK.test(url) || ONE.test(url)

/** The address without a path of Elasticsearch; a PUT of its API is a POST from here on. */
export function withoutPath(url: string, request: IncomingMessage): string {
  const path = pathOf(url)
  if (path === undefined) return url
  const isPut = request.method === 'PUT'
  const isOfIndex = (isPut || isHead(request)) && INDEX.test(path)
  if (!isToElasticsearch(url) && !isOfIndex && !ASKED.some(([of]) => of.test(path))) return url
  if (isPut && path !== '') {
    puts.add(request)
    request.method = 'POST'
  }
  return url.replace(SENT, '$1$3')
}

/** Its clients take no answer without it for one of Elasticsearch. */
const PRODUCT = ['x-elastic-product', 'Elasticsearch'] as const

/** Answers as Elasticsearch does. */
export const sendAsCluster = (reply: FastifyReply, answer: object, status = 200): FastifyReply =>
  reply
    .code(status)
    .header(...PRODUCT)
    .type('application/json; charset=utf-8')
    .serializer((text: string) => text)
    .send(JSON.stringify(answer))

type Rejected = NonNullable<ErrorExtra['rejected']>

/** One action of a bulk request. */
interface Action {
  op: 'index' | 'create' | 'update' | 'delete'
  index: string | undefined
  id: string | undefined
  /** Why it is refused by itself. */
  refused?: string
}

/** The answer to one action. */
interface Answered {
  status: number
  [told: string]: unknown
}

/** A bulk request, taken apart. */
export interface Bulk {
  actions: Action[]
  /** The documents to be stored, one a line, each with its index and id in front. */
  documents: Buffer
}

const OPS = ['index', 'create', 'update', 'delete'] as const
const NEWLINE = 0x0a
const OBJECT = 0x7b
const END = 0x7d
/** Of a name, as Elasticsearch has it; it is repeated with each document. */
const INDEX_BYTES_MAX = 255
const ID_BYTES_MAX = 512
/** Read at once: a request of 15 MiB held up all others for a sixth of a second (2026-12-01). */
const ACTIONS_A_TURN = 2_000
const NO_CHANGES = 'what is stored is neither updated nor deleted: send create or index'

/** Takes a request apart. @param url as it came. @throws SvcError invalid: what breaks it as a whole */
export async function readBulk(url: string, given: Uint8Array | readonly Uint8Array[]): Promise<Bulk> {
  const bytes = bytesOf(given)
  const [, name, idInAddress] = ONE.exec(url) ?? BULK.exec(url)!
  const inAddress = bounded('the index', plain(name), INDEX_BYTES_MAX)
  if (ONE.test(url))
    return oneDocument(bytes, {
      op: 'index',
      index: inAddress,
      id: bounded('the id', plain(idInAddress), ID_BYTES_MAX),
    })
  const actions: Action[] = []
  const documents: Buffer[] = []
  const lines = new Lines(bytes)
  for (let line = lines.next(); line; line = lines.next()) {
    if (line.length === 0) continue
    const action = actionOf(line, lines.number, inAddress)
    if (actions.push(action) % ACTIONS_A_TURN === 0) await nextTurn()
    if (action.op === 'delete') {
      action.refused = NO_CHANGES
      continue
    }
    const document = lines.next()
    if (!document) fail('invalid', `line ${lines.number} asks to ${action.op} and no document follows it`)
    // The first must be JSON by itself: by it the body is known for lines.
    action.refused = action.op === 'update' ? NO_CHANGES : documentFault(document, documents.length === 0)
    if (action.refused === undefined) documents.push(headOf(action, document), document.subarray(1), LINE_END)
  }
  if (actions.length === 0) fail('invalid', 'the body is empty; it must be a bulk request')
  return { actions, documents: Buffer.concat(documents) }
}

const bytesOf = (given: Uint8Array | readonly Uint8Array[]): Buffer =>
  given instanceof Uint8Array ? Buffer.from(given) : Buffer.concat(given)

/** Of an address, as in a bulk request. @throws SvcError invalid */
function plain(part: string | undefined): string | undefined {
  try {
    return part === undefined ? undefined : decodeURIComponent(part)
  } catch {
    return fail('invalid', `${part} in the address is not percent-encoded as it must be`)
  }
}

function oneDocument(bytes: Buffer, action: Action): Bulk {
  const { start, end } = trimmed(bytes, 0, bytes.length)
  const document = bytes.subarray(start, end)
  action.refused = documentFault(document, true)
  const documents = action.refused === undefined ? [headOf(action, document), document.subarray(1)] : []
  return { actions: [action], documents: Buffer.concat(documents) }
}

const LINE_END = Buffer.from('\n')

class Lines {
  number = 0
  private at = 0

  constructor(private readonly bytes: Buffer) {}

  /** The next line without the space around it; undefined: there is none. */
  next(): Buffer | undefined {
    const { bytes, at } = this
    if (at >= bytes.length) return undefined
    const found = bytes.indexOf(NEWLINE, at)
    const past = found === -1 ? bytes.length : found
    this.at = past + 1
    this.number++
    const { start, end } = trimmed(bytes, at, past)
    return bytes.subarray(start, end)
  }
}

const isSpace = (byte: number): boolean => byte === 0x20 || byte === 0x09 || byte === 0x0d || byte === NEWLINE

function trimmed(bytes: Buffer, from: number, to: number): { start: number; end: number } {
  let start = from
  let end = to
  while (start < end && isSpace(bytes[start]!)) start++
  while (end > start && isSpace(bytes[end - 1]!)) end--
  return { start, end }
}

/** @param inAddress the index where the action names none. @throws SvcError invalid */
function actionOf(line: Buffer, number: number, inAddress: string | undefined): Action {
  const wants = `line ${number} must be an action: an object with one of ${OPS.join(', ')}`
  let given: Record<string, unknown> | null = null
  try {
    given = line[0] === OBJECT && line.length < 65_536 ? JSON.parse(line.toString()) : null
  } catch (error) {
    fail('invalid', `${wants} (${(error as Error).message})`)
  }
  const op = OPS.find((name) => given !== null && Object.hasOwn(given, name))
  if (!op) return fail('invalid', wants)
  const { _index: index, _id: id } = (given![op] ?? {}) as { _index?: unknown; _id?: unknown }
  return {
    op,
    index: bounded(`_index of line ${number}`, index, INDEX_BYTES_MAX) ?? inAddress,
    id: bounded(`_id of line ${number}`, id, ID_BYTES_MAX),
  }
}

function bounded(what: string, value: unknown, most: number): string | undefined {
  if (value === undefined || value === null) return undefined
  const text = String(value)
  if (Buffer.byteLength(text) > most) fail('invalid', `${what} is longer than ${most} bytes`)
  return text === '' ? undefined : text
}

/** @param isFirst whether none before it is stored */
function documentFault(document: Buffer, isFirst: boolean): string | undefined {
  if (document[0] !== OBJECT) return 'the document is not a JSON object'
  if (!isFirst) return undefined
  try {
    JSON.parse(document.toString())
    return undefined
  } catch (error) {
    return `the document is not valid JSON: ${(error as Error).message}`
  }
}

/** What stands before the fields of a document: no document has fields of these names. */
function headOf({ op, index, id }: Action, document: Buffer): Buffer {
  // What is put under an id again may say something else; the same is a repeat.
  const version = op === 'index' && id !== undefined ? versionOf(document) : undefined
  const told = JSON.stringify({ _index: index, _id: id, _version: version }).slice(0, -1)
  let next = 1
  while (isSpace(document[next] ?? 0)) next++
  return Buffer.from(told === '{' || document[next] === END ? told : `${told},`)
}

const VERSION_DIGITS = 16
const versionOf = (document: Buffer): string =>
  createHash('sha256').update(document).digest('hex').slice(0, VERSION_DIGITS)

/**
 * What a bulk request is answered with, an item for each action.
 * @param rejected documents that were refused, by their place among those to be stored. @param took ms
 */
function bulkAnswer(
  { actions }: Bulk,
  rejected: Rejected,
  result: IngestResult | null,
  took: number,
): { items: Partial<Record<Action['op'], Answered>>[] } {
  const faults = new Map(rejected.map(({ index, error }) => [index, error]))
  let stored = 0
  const items = actions.map(({ op, index, id, refused }) => {
    const reason = refused ?? faults.get(stored)
    if (refused === undefined) stored++
    const about = { _index: index ?? null, _id: id ?? null }
    const answered: Answered =
      reason === undefined
        ? { ...about, _version: 1, result: 'created', status: 201 }
        : { ...about, status: 400, error: { type: 'document_parsing_exception', reason } }
    return { [op]: answered }
  })
  const errors = items.some((item) => Object.values(item)[0]!.status !== 201)
  const { rejected: _, ...told } = result ?? {}
  return { took, errors, items, ...(result === null ? {} : { svc: told }) } as never
}

/** The request, taken apart; where it cannot be, that is told on its source, too. @throws SvcError */
async function readTold(url: string, call: IngestPost, engine: Doors['engine']): Promise<Bulk> {
  try {
    return await readBulk(url, call.body)
  } catch (error) {
    if (error instanceof SvcError && error.code === 'invalid')
      await engine.ingest({ ...call, unreadable: { code: 'invalid', detail: error.message } })
    throw error
  }
}

/** Stores a bulk request, whose documents are answered one by one. @throws SvcError */
export async function ingestBulk(
  { originalUrl }: FastifyRequest,
  reply: FastifyReply,
  { body, ...call }: IngestPost,
  { engine, clock }: Doors,
): Promise<FastifyReply> {
  const began = clock.now()
  const bulk = await readTold(originalUrl, { body, ...call }, engine)
  const answer = (rejected: Rejected, result: IngestResult | null): FastifyReply => {
    const told = bulkAnswer(bulk, rejected, result, clock.now() - began)
    return ONE.test(originalUrl) ? sendOne(reply, told.items[0]!.index!, result) : sendAsCluster(reply, told)
  }
  if (bulk.documents.length === 0) return answer([], null)
  try {
    const result = await engine.ingest({ ...call, body: bulk.documents, listsAll: true })
    return answer(result.rejected ?? [], result)
  } catch (error) {
    if (!(error instanceof SvcError && error.extra.rejected)) throw error
    return answer(error.extra.rejected, null)
  }
}

/** Answers a document by itself: without what the client for Java wants of it, that takes a stored one for a failure. */
function sendOne(reply: FastifyReply, answered: Answered, result: IngestResult | null): FastifyReply {
  const { status, _id: id, ...told } = answered
  if (told.error) return sendAsCluster(reply, answered, status)
  const stored = { _shards: { total: 1, successful: 1, failed: 0 }, _seq_no: 0, _primary_term: 1 }
  return sendAsCluster(reply, { ...told, _id: id ?? result?.ids?.[0] ?? '', ...stored }, status)
}

/** What sending the same again does not change. */
const FINAL: ReadonlySet<number> = new Set([400, 413, 415, 422])

/** A refusal of the whole, as Elasticsearch and as svc says it. */
export function refuseAsCluster(reply: FastifyReply, error: SvcError): FastifyReply {
  problemHeaders(reply, error)
  // Of what is full clients of Elasticsearch know 429, 502, 503 and 504, after which they send it again.
  const status = error.code === 'storage_full' ? 503 : error.status
  // rsyslog takes JSON under any status for an answer that is not worth trying again: it would drop what it has.
  if (!FINAL.has(status))
    return reply
      .code(status)
      .header(...PRODUCT)
      .type('text/plain; charset=utf-8')
      .send(error.message)
  const cause = { type: 'illegal_argument_exception', reason: error.message }
  const told = { error: { root_cause: [cause], ...cause }, status, detail: error.message }
  return sendAsCluster(reply, told, status)
}

/**
 * One poll: the entries of an answer that were not read before. The cursor holds what was read last by
 * the hash of its id: all of the last answer, and some of those before.
 */
import { createHash } from 'node:crypto'
import { countWords } from '../../../schemas/plain-words.ts'
import type { HttpPollConfig } from '../../../schemas/types.ts'
import { isDeeper, parseDigits } from '../../log/ingest/json.ts'
import { compileField, lookup } from '../../log/ingest/json-project.ts'
import { compileTemplate, oneLine, summarise, templateFields } from '../../log/ingest/label.ts'
import { type Entries, entriesAt } from '../../log/ingest/split.ts'
import { parseEventTime, timesIn, zoneFaults } from '../../log/ingest/time.ts'
import { EgressError } from '../../net/fetch.ts'
import {
  ANSWER_BYTES,
  type MappedEvent,
  type MappingConnector,
  type Polled,
  type Reach,
  scalar,
  UpstreamError,
} from './connector.ts'
import { retryAfter, utf8Of } from './upstream.ts'

/** Ids kept at least; what the last answer shows is never forgotten. */
const IDS_KEPT = 2_000
const ID_LENGTH = 16

/** @throws UpstreamError */
export async function pollOnce(config: HttpPollConfig, cursor: string | null, reach: Reach): Promise<Polled> {
  const { id_field: idField } = config
  const known = idsOf(cursor)
  const isKnown = (page: Entries) =>
    cursor !== null &&
    idField !== undefined &&
    unread(page, idField, known).fresh.length === 0 &&
    !isOldestFirst(page.texts, config, reach)
  const { entries, notices } = await readPages(config, reach, isKnown)
  if (idField === undefined) {
    if (entries.isList) notices.push('Without an id field each poll stores every entry again.')
    return { items: inOrder(entries.texts, config, reach), cursor: null, ...noticeOf(notices) }
  }
  const { fresh, ids, skipped } = unread(entries, idField, known)
  if (skipped > 0)
    notices.push(
      `${skipped} of ${countWords(entries.texts.length, 'entry', 'entries')} ${skipped === 1 ? 'has' : 'have'} no ${idField} and ${skipped === 1 ? 'was' : 'were'} left out.`,
    )
  return {
    items: inOrder(fresh, config, reach),
    cursor: JSON.stringify({ ids }),
    ...noticeOf(notices),
  }
}

function unread({ texts }: Entries, field: string, known: readonly string[]) {
  const idOf = compileField(field)
  const before = new Set(known)
  const now = new Set<string>()
  const fresh: string[] = []
  let skipped = 0
  for (const text of texts) {
    const key = scalar(idOf(contextOf(parseDigits(text))))
    if (key === undefined) {
      skipped++
      continue
    }
    const id = createHash('sha256').update(key).digest('hex').slice(0, ID_LENGTH)
    if (!before.has(id) && !now.has(id)) fresh.push(text)
    now.add(id)
  }
  const ids = [...known.filter((id) => !now.has(id)), ...now].slice(-Math.max(IDS_KEPT, now.size))
  return { fresh, ids, skipped }
}

/** Whether its times rise: then what is new lies on later pages. */
function isOldestFirst(texts: readonly string[], config: HttpPollConfig, { clock }: Reach): boolean {
  if (config.event_time_field === undefined) return false
  const timeOf = compileField(config.event_time_field)
  const [first, last] = [texts[0], texts.at(-1)].map((text) =>
    text === undefined ? null : parseEventTime(timeOf(contextOf(parseDigits(text))), clock.now()).ts,
  )
  return first != null && last != null && first < last
}

/** By time, oldest first, where every entry has one; else as the API gives them. */
function inOrder(texts: string[], { event_time_field: field }: HttpPollConfig, { clock }: Reach): string[] {
  if (field === undefined || texts.length < 2) return texts
  const timeOf = compileField(field)
  const timed = texts.map((text) => ({
    text,
    at: parseEventTime(timeOf(contextOf(parseDigits(text))), clock.now()).ts,
  }))
  if (timed.some(({ at }) => at === null)) return texts
  return timed.sort((a, b) => a.at! - b.at!).map(({ text }) => text)
}

function idsOf(cursor: string | null): string[] {
  return cursor === null ? [] : (JSON.parse(cursor) as { ids: string[] }).ids
}

const noticeOf = (notices: readonly string[]) => (notices.length ? { notice: notices.join(' ') } : {})

/*
 * Asking an upstream for JSON: one request, bounded, whose failures are sentences for a source's health.
 * They name the status and what to do, never an address, a header or what the upstream wrote.
 */

/** Lists and objects within each other in an answer; an entry of it may nest half as deep. */
const DEPTH_MAX = 200

interface Ask {
  url: string
  method?: 'GET' | 'POST'
  headers?: Record<string, string>
  body?: string
  /** What it is called in sentences, such as "the API". */
  name: string
  /** Which field to look at when it refuses the credential. */
  credentialField?: string
  /** Statuses that are answers too. */
  allow?: readonly number[]
}

/** An answer that was read whole. */
export interface Answer {
  status: number
  headers: Headers
  bytes: Buffer
}

/** @returns an answer of status 2xx, or one that is allowed. @throws UpstreamError; what the signal was aborted with */
export async function ask(request: Ask, reach: Reach): Promise<Answer> {
  const { clock, signal } = reach
  const { url, method = 'GET', headers, body, name, allow = [] } = request
  try {
    const response = await reach.fetch(url, { method, headers, body, signal })
    const { status } = response
    if (!response.ok && !allow.includes(status)) {
      await response.body?.cancel()
      throw refusal(request, response, clock.now())
    }
    const bytes = Buffer.from(await response.arrayBuffer())
    return { status, headers: response.headers, bytes: utf8Of(bytes, response.headers.get('content-type')) }
  } catch (error) {
    if (error instanceof UpstreamError || signal.aborted) throw error
    if (error instanceof EgressError && error.fault.fault === 'too_large')
      throw new UpstreamError(
        `${name} answered with more than ${ANSWER_BYTES / 1_048_576} MiB; ask it for less`,
      )
    if (error instanceof EgressError) throw new UpstreamError(unreachable(name, error.fault.message))
    // A fetch has no other way to say that a stream broke off.
    if (error instanceof TypeError) throw new UpstreamError(`${name} broke its answer off; it is asked again`)
    throw error
  }
}

/** The JSON of an answer. @throws UpstreamError no JSON, or nested too deep */
export function jsonOf({ bytes, headers }: Answer, name: string): unknown {
  if (isDeeper(bytes, [0, bytes.length], DEPTH_MAX))
    throw new UpstreamError(`${name} answers with values nested more than ${DEPTH_MAX} deep; ask it for less`)
  try {
    return parseDigits(bytes.toString('utf8'))
  } catch {
    const type = /^[\w.+-]+\/[\w.+-]+/.exec(headers.get('content-type') ?? '')?.[0]
    throw new UpstreamError(
      `${name} did not answer with JSON${type ? ` but with ${type}` : ''}; check the URL, which may lead to a page for people`,
    )
  }
}

function unreachable(name: string, reason: string): string {
  return `${name} cannot be reached: ${reason}; check the URL, and that it can be reached from here`
}

function refusal({ name, credentialField }: Ask, { status, headers }: Response, now: number): UpstreamError {
  const retryAfterMs = retryAfter(headers.get('retry-after'), now)
  const wait = until(retryAfterMs, now)
  if (status === 429) return new UpstreamError(`rate limited by ${name} (429)${wait}`, retryAfterMs)
  if (status >= 500) return new UpstreamError(`${name} failed (${status})${wait}`, retryAfterMs)
  if (status === 403 && wait)
    return new UpstreamError(`${name} refused the request for now (403)${wait}`, retryAfterMs)
  if (status === 401 || status === 403)
    return new UpstreamError(
      `${name} refused the request (${status}); check ${credentialField ?? 'the credential'} and what it may read`,
    )
  if (status === 404) return new UpstreamError(`${name} has nothing at this URL (404); check the URL`)
  if (status >= 300 && status < 400)
    return new UpstreamError(`${name} redirects to no address that is followed (${status}); check the URL`)
  return new UpstreamError(`${name} answered ${status}; check the URL and what is sent`)
}

function until(retryAfterMs: number | null, now: number): string {
  if (retryAfterMs === null) return ''
  return `; it asks to be left alone until ${new Date(now + retryAfterMs).toISOString().slice(11, 16)} UTC`
}

/* The pages of one poll, read until what is new was read, or a bound is met, which is told. */

/** Entries of one poll at most. */
const ENTRIES_MAX = 5_000
/** Of the 20 seconds of a poll: what is asked after them might not be answered in time, and all be lost. */
const PAGING_MS = 12_000

interface Pages {
  entries: Entries
  notices: string[]
}

/**
 * @param isKnown whether all entries of a page were read before: there the new ones end, where the newest come
 *   first.
 * @throws UpstreamError
 */
async function readPages(
  config: HttpPollConfig,
  reach: Reach,
  isKnown: (entries: Entries) => boolean,
): Promise<Pages> {
  const began = reach.clock.now()
  const pages: Entries[] = []
  const most = config.pages_max ?? PAGES_MAX
  let asked: PageRequest = { url: config.url, ...(config.body ? { body: config.body } : {}) }
  for (let page = 1; ; page++) {
    const { answer, value, entries, isBeyond } = await readPage(config, reach, asked, page)
    const isRepeated = page > 1 && isSame(entries, pages.at(-1)!)
    pages.push(entries)
    const texts = pages.flatMap((one) => one.texts)
    const read = { here: entries.count, all: pages.reduce((sum, one) => sum + one.count, 0) }
    const next = isBeyond ? null : nextPage(config, asked, { answer, value, page, read })
    const stop = isRepeated
      ? `page ${page} is the same as the one before; check paging and page_param`
      : stopOf(next, { page, most, entries: texts.length, ms: reach.clock.now() - began })
    const isOver = next === null || (config.read_all_pages !== true && isKnown(entries))
    if (isOver || stop !== null) {
      const all = {
        texts: isRepeated ? pages.slice(0, -1).flatMap((one) => one.texts) : texts,
        count: read.all,
        isList: entries.isList,
      }
      return {
        entries: all,
        notices: [
          ...noticesOf(config, answer, value, pages),
          ...(isOver || !stop ? [] : [sentence(page, stop)]),
        ],
      }
    }
    asked = next as PageRequest
  }
}

/** @param asked where that is not what the config says. @throws UpstreamError */
async function readPage(config: HttpPollConfig, reach: Reach, asked: PageRequest, page: number) {
  // A page that is asked for by its number may be one too many, which some say so: Django REST framework does.
  const isGuessed = page > 1 && (config.paging === 'page' || config.paging === 'offset')
  const answer = await request(config, reach, asked, isGuessed ? [GONE] : [])
  return { answer, isBeyond: answer.status === GONE, ...entriesOf(answer, config.payload_key ?? '') }
}

const GONE = 404
const NOTHING = 204
const NO_ENTRIES: Entries = { texts: [], count: 0, isList: true }

/** @throws UpstreamError */
export function entriesOf(answer: Answer, path: string): { value: unknown; entries: Entries } {
  if (answer.status === NOTHING || answer.status === GONE) return { value: [], entries: NO_ENTRIES }
  const value = jsonOf(answer, API)
  const found = entriesAt(answer.bytes, path) ?? missing(path, value)
  // What has no list to show may say null: Go writes one so that was never made.
  const isNull = !found.isList && found.texts[0] === 'null'
  return { value, entries: isNull ? NO_ENTRIES : found }
}

function stopOf(
  next: Next,
  { page, most, entries, ms }: { page: number; most: number; entries: number; ms: number },
): string | null {
  if (typeof next === 'string') return next
  if (page >= most) return `pages_max is ${most}`
  if (entries >= ENTRIES_MAX) return `a poll takes at most ${ENTRIES_MAX} entries`
  return ms >= PAGING_MS ? 'the time of a poll is nearly over' : null
}

const sentence = (page: number, why: string): string =>
  `Reading stopped after page ${page}, and entries further on were not read: ${why}.`

function noticesOf(
  config: HttpPollConfig,
  answer: Parameters<typeof pagingSeen>[0],
  value: unknown,
  pages: readonly Entries[],
): string[] {
  const long = pages.filter(({ count, texts }) => count > texts.length)
  const seen = config.paging === undefined ? pagingSeen(answer, value) : null
  return [
    ...long.map(
      ({ count, texts }) => `The answer has ${count} entries, of which the first ${texts.length} are read.`,
    ),
    ...(seen
      ? [
          `The API has further pages, which are not read; set paging to ${seen.paging}${seen.next_field ? ` with next_field ${seen.next_field}` : ''}, or to none where the first page is enough.`,
        ]
      : []),
  ]
}

const isSame = (a: Entries, b: Entries): boolean =>
  a.texts.length > 0 && a.texts.length === b.texts.length && a.texts.every((text, i) => text === b.texts[i])

/*
 * Where the next page of an answer lies: in its Link header (RFC 8288), behind a link or a cursor in its body,
 * or one page or offset on. Only the host that is configured is asked, for it alone gets the credential.
 */

const PAGES_MAX = 10
const URL_MAX = 4_096
const CURSOR_MAX = 2_048

type Paging = NonNullable<HttpPollConfig['paging']>

/** What is asked for one page, where that is not what the config says. */
interface PageRequest {
  url: string
  body?: Record<string, unknown>
}

/** The request of the next page; null: this was the last; text: why it is not asked for. */
type Next = PageRequest | string | null

/** Names of the field or parameter a style uses, where the config names none. */
const NEXT_FIELD: Partial<Record<Paging, string>> = { next_link: 'next', cursor: 'next_cursor' }
const PAGE_PARAM: Partial<Record<Paging, string>> = { cursor: 'cursor', page: 'page', offset: 'offset' }
/** Fields in which APIs name their next page, with what lies there. */
const LINK_FIELDS = [
  'next',
  'next_url',
  'next_page_url',
  'links.next',
  'links.next.href',
  '_links.next.href',
  '_links.next',
  '@odata.nextLink',
  'paging.next',
  'pagination.next',
  'pagination.next_url',
  'meta.next',
]
const CURSOR_FIELDS = [
  'next_cursor',
  'nextCursor',
  'nextPageToken',
  'next_page_token',
  'meta.next_cursor',
  'pagination.next_cursor',
  'response_metadata.next_cursor',
]

/** Rules a JSON Schema cannot say. @returns a sentence per fault. */
function pagingFaults(config: HttpPollConfig): string[] {
  const { paging, id_field: id, next_field: field, page_param: param } = config
  if (paging === undefined || paging === 'none') return []
  return [
    ...(id === undefined ? [`config.paging ${paging} needs id_field, which tells what was read before`] : []),
    ...(field !== undefined && NEXT_FIELD[paging] === undefined
      ? [`config.next_field is of no use with paging ${paging}`]
      : []),
    ...(param !== undefined && PAGE_PARAM[paging] === undefined
      ? [`config.page_param is of no use with paging ${paging}`]
      : []),
  ]
}

/**
 * @param now what this page was asked with. @param value the answer, parsed.
 * @param read entries of this page, and of all pages so far; @param page its number, from 1.
 */
function nextPage(
  config: HttpPollConfig,
  now: PageRequest,
  {
    answer,
    value,
    page,
    read,
  }: { answer: Answer; value: unknown; page: number; read: { here: number; all: number } },
): Next {
  const { paging = 'none', page_param: param = PAGE_PARAM[paging] ?? '' } = config
  const field = config.next_field ?? NEXT_FIELD[paging] ?? ''
  if (paging === 'none') return null
  if (paging === 'link_header') return followed(linkOf(answer.headers.get('link')), now)
  const told = scalar(lookup(value, field))
  if (paging === 'next_link') return followed(told, now)
  if (paging === 'cursor') {
    if (told === undefined || told === 'false') return null
    if (told.length > CURSOR_MAX) return `the cursor at ${field} is longer than ${CURSOR_MAX} characters`
    return valueIn(config, now, param) === told ? null : withParam(config, now, param, told)
  }
  if (read.here === 0) return null
  const first = Number(
    valueIn(config, { url: config.url, body: config.body }, param) ?? (paging === 'page' ? 1 : 0),
  )
  if (!Number.isSafeInteger(first)) return `${param} of the request is no whole number`
  return withParam(config, now, param, paging === 'page' ? first + page : first + read.all)
}

/** How an answer names a next page that the config does not read; null: it names none. */
export function pagingSeen(
  answer: Answer,
  value: unknown,
): Pick<HttpPollConfig, 'paging' | 'next_field'> | null {
  if (linkOf(answer.headers.get('link')) !== undefined) return { paging: 'link_header' }
  const isLink = (text: string | undefined) => text !== undefined && /^(https?:\/\/|\/|\?)\S/.test(text)
  const link = LINK_FIELDS.find((name) => isLink(scalar(lookup(value, name))))
  if (link) return { paging: 'next_link', next_field: link }
  const cursor = CURSOR_FIELDS.find((name) => scalar(lookup(value, name)) !== undefined)
  return cursor ? { paging: 'cursor', next_field: cursor } : null
}

/** The address of rel=next in a Link header (RFC 8288, 3). */
function linkOf(header: string | null): string | undefined {
  for (const [, target, params = ''] of (header ?? '').matchAll(
    /<([^<>]*)>((?:\s*;\s*[^\s=;,]+\s*=\s*(?:"[^"]*"|[^",;\s]*))*)/g,
  )) {
    const rel = /;\s*rel\s*=\s*(?:"([^"]*)"|([^",;\s]*))/i.exec(params)
    const names = (rel?.[1] ?? rel?.[2] ?? '').toLowerCase().split(/\s+/)
    if (names.includes('next')) return target
  }
  return undefined
}

function followed(link: string | undefined, now: PageRequest): Next {
  if (link === undefined) return null
  if (link.length > URL_MAX || !URL.canParse(link, now.url)) return 'the link to the next page is no address'
  const [from, to] = [new URL(now.url), new URL(link, now.url)]
  // Behind a proxy that ends TLS an API names itself with http.
  if (
    from.protocol === 'https:' &&
    to.protocol === 'http:' &&
    from.hostname === to.hostname &&
    to.port === ''
  )
    to.protocol = 'https:'
  if (to.origin !== from.origin) return `the next page is at another origin, ${to.origin}, which is not asked`
  to.username = ''
  to.password = ''
  to.hash = ''
  return to.href === from.href ? null : { ...now, url: to.href }
}

/** A parameter of the query; of a POST a field of the body. */
function valueIn({ method }: HttpPollConfig, { url, body }: PageRequest, param: string): string | undefined {
  if (method === 'POST') return scalar(lookup(body, param))
  return new URL(url).searchParams.get(param) ?? undefined
}

function withParam(
  config: HttpPollConfig,
  now: PageRequest,
  param: string,
  value: string | number,
): PageRequest {
  if (config.method === 'POST') return { ...now, body: withField(now.body ?? {}, param.split('.'), value) }
  const url = new URL(now.url)
  url.searchParams.set(param, String(value))
  return { ...now, url: url.href }
}

function withField(
  body: Record<string, unknown>,
  [name = '', ...rest]: readonly string[],
  value: string | number,
): Record<string, unknown> {
  if (rest.length === 0) return { ...body, [name]: value }
  const inner = Object.hasOwn(body, name) ? body[name] : {}
  const object = inner !== null && typeof inner === 'object' && !Array.isArray(inner) ? inner : {}
  return { ...body, [name]: withField(object as Record<string, unknown>, rest, value) }
}

/* What is asked of the API, and what a config must hold so that it can be. */

export const API = 'the API'
const FIELDS_NAMED = 10
const CREDENTIAL_HEADER = 'Authorization'
/** Headers of the connection, which are not the config's to say. */
const OURS =
  /^(host|content-length|transfer-encoding|connection|keep-alive|upgrade|te|trailer|expect|proxy-.*)$/i
/** What a header can carry (RFC 9110, 5.5). */
const NOT_IN_HEADERS = /[^\t\x20-\x7e\x80-\xff]/

/** Rules a JSON Schema cannot say. @returns a sentence per fault, without values that may be secret. */
export function requestFaults(config: HttpPollConfig): string[] {
  const { url, method, body, headers = {}, credential_header: header = CREDENTIAL_HEADER } = config
  const names = Object.keys(headers)
  const twice = names.find((name) => name.toLowerCase() === header.toLowerCase())
  const ours = names.find((name) => OURS.test(name))
  return [
    ...urlFaults(url),
    ...pagingFaults(config),
    ...zoneFaults(config.zone),
    ...(body !== undefined && method !== 'POST' ? ['config.body is only sent with method POST'] : []),
    ...(twice === undefined
      ? []
      : [`config.headers.${twice} is the credential header; put its value in credential`]),
    ...(ours === undefined ? [] : [`config.headers.${ours} belongs to the connection and cannot be set`]),
    ...names
      .filter((name) => NOT_IN_HEADERS.test(headers[name]!))
      .map((name) => `config.headers.${name} contains characters that a header cannot carry`),
  ]
}

function urlFaults(text: string): string[] {
  if (!URL.canParse(text)) return ['config.url must be an absolute http or https address']
  const url = new URL(text)
  return url.username || url.password
    ? ['config.url must not contain a user name or a password; put them in credential']
    : []
}

/**
 * Asks once. @param page where another than the first is asked for. @param allow statuses that are answers too.
 * @throws UpstreamError
 */
export function request(
  config: HttpPollConfig,
  reach: Reach,
  page?: PageRequest,
  allow: readonly number[] = [],
): Promise<Answer> {
  const { url, body } = page ?? config
  const { method = 'GET', headers, credential, credential_header: header = CREDENTIAL_HEADER } = config
  // One from the environment often ends with the line break of the file it came from.
  const secret = credential?.trim()
  if (secret !== undefined && NOT_IN_HEADERS.test(secret))
    throw new UpstreamError('the credential contains characters that a header cannot carry; enter it again')
  return ask(
    {
      url,
      method,
      headers: {
        accept: 'application/json',
        ...(method === 'POST' ? { 'content-type': 'application/json' } : {}),
        ...headers,
        ...(secret ? { [header]: secret } : {}),
      },
      ...(method === 'POST' ? { body: JSON.stringify(body ?? {}) } : {}),
      name: API,
      credentialField: 'Credential',
      allow,
    },
    reach,
  )
}

/** @throws UpstreamError */
function missing(path: string, value: unknown): never {
  const names = Object.keys(contextOf(value)).slice(0, FIELDS_NAMED)
  const there = Array.isArray(value) ? 'a list' : `an object with ${names.join(', ') || 'no fields'}`
  throw new UpstreamError(`the answer has nothing at payload key ${path}; it is ${there}`)
}

/* From an entry to an event: the mapping of a webhook. */

const EVENT_TYPE = 'api_reading'
const EVENT_TYPE_MAX = 200

type Context = MappedEvent['context']

/** Every field that mapping looks up. */
export function mappedFields(config: HttpPollConfig): string[] {
  const named = [config.event_type_field, config.event_time_field, config.id_field]
  return [...named.filter((field) => field !== undefined), ...templateFields(config.text_template ?? '')]
}

export function compileMapping(config: HttpPollConfig): ReturnType<MappingConnector['compile']> {
  const { event_type: fixed = EVENT_TYPE, event_type_field: typeField, id_field: idField } = config
  const typeOf = compileField(typeField ?? '')
  const timeOf = compileField(config.event_time_field ?? '')
  const timed = timesIn(config.zone)
  const keyOf = compileField(idField ?? '')
  const template = compileTemplate(config.text_template ?? '')
  return (item) => {
    const context = contextOf(item.value)
    return [
      {
        eventType:
          typeField === undefined ? fixed : oneLine(scalar(typeOf(context)) ?? fixed, EVENT_TYPE_MAX),
        text: template(context).trim() || summarise(item.whole()),
        eventTime: config.event_time_field === undefined ? undefined : timed(timeOf(context)),
        context,
        dedupeKey: idField === undefined ? undefined : scalar(keyOf(context)),
      },
    ]
  }
}

/** The entry's own object, so that no field is copied; anything else is wrapped as {value}. */
export function contextOf(value: unknown): Context {
  return value !== null && typeof value === 'object' && !Array.isArray(value) ? (value as Context) : { value }
}

/**
 * Where the next page of an answer lies: in its Link header (RFC 8288), behind a link or a cursor in its body,
 * or one page or offset on. Only the host that is configured is asked, for it alone gets the credential.
 */
import type { HttpPollConfig } from '../../../schemas/types.ts'
import { lookup } from '../../ingest/field.ts'
import { scalar } from '../scalar.ts'
import type { Answer } from './ask.ts'

export const PAGES_MAX = 10
const URL_MAX = 4_096
const CURSOR_MAX = 2_048

type Paging = NonNullable<HttpPollConfig['paging']>

/** What is asked for one page, where that is not what the config says. */
export interface PageRequest {
  url: string
  body?: Record<string, unknown>
}

/** The request of the next page; null: this was the last; text: why it is not asked for. */
export type Next = PageRequest | string | null

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
export function pagingFaults(config: HttpPollConfig): string[] {
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
export function nextPage(
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

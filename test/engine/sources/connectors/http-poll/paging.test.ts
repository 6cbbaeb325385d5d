/** Every way an API may page is followed, within bounds, and where reading stops early that is told. */
import { describe, expect, it, onTestFinished } from 'vitest'
import { systemTimers } from '../../../../../engine/clock.ts'
import { fetchOver } from '../../../../../engine/net/fetch.ts'
import { httpPoll } from '../../../../../engine/sources/connectors/http-poll.ts'
import { validateConfig } from '../../../../../engine/sources/connectors/index.ts'
import type { Received } from '../../../net/egress/receiver.ts'
import { client } from '../../../net/egress/setup.ts'
import { type Said, upstreamServer } from '../upstream-server.ts'

const NOW = Date.UTC(2026, 0, 2, 3, 4, 5)
const SIZE = 10

/** An API with entries, newest first, and polls of it. */
async function pagedApi(answer: (received: Received, page: (at: number) => object[], url: string) => Said) {
  const all = Array.from({ length: 35 }, (_, i) => ({ id: 35 - i, at: NOW - i * 1_000 }))
  const page = (at: number) => all.slice(at, at + SIZE)
  const upstream = await upstreamServer((received) => answer(received, page, upstream.url))
  const fetch = fetchOver(client(), { audience: 'operator', timeoutMs: 60_000, maxResponseBytes: 1 << 20 })
  const clock = { at: NOW, now: () => clock.at }
  const stop = new AbortController()
  onTestFinished(() => stop.abort())
  let cursor: string | null = null
  const poll = async (config: Record<string, unknown>) => {
    const whole = { url: `${upstream.url}items`, id_field: 'id', ...config }
    validateConfig('http_poll', whole)
    const polled = await httpPoll.poll(whole, cursor, {
      fetch,
      clock,
      timers: systemTimers,
      signal: stop.signal,
    })
    cursor = polled.cursor
    const ids = polled.items.map((item) => (JSON.parse(item) as { id: number }).id)
    return { ids, notice: polled.notice }
  }
  return { upstream, poll, all, clock }
}

const paramOf = (path: string, name: string, otherwise: number) =>
  Number(new URL(path, 'http://a').searchParams.get(name) ?? otherwise)

type Answer = Parameters<typeof pagedApi>[0]
const byLinkHeader: Answer = ({ path }, page, url) => {
  const at = paramOf(path, 'from', 0)
  const next = `<${url}items?from=0>; rel="first", <${url}items?from=${at + SIZE}>; title="a, b"; rel="next last"`
  return { body: page(at), ...(at + SIZE < 35 ? { headers: { link: next } } : {}) }
}
const byNextLink: Answer = ({ path }, page) => {
  const at = paramOf(path, 'from', 0)
  return { body: { data: page(at), links: { next: at + SIZE < 35 ? `/items?from=${at + SIZE}` : null } } }
}
const byCursor: Answer = ({ path, body }, page) => {
  const given = body ? (JSON.parse(body) as { q: { after?: string } }).q.after : undefined
  const at = Number(given ?? paramOf(path, 'cursor', 0))
  return { body: { data: page(at), meta: { next: at + SIZE < 35 ? String(at + SIZE) : '' } } }
}
const byPage: Answer = ({ path }, page) => ({ body: page((paramOf(path, 'p', 1) - 1) * SIZE) })
const byOffset: Answer = ({ path }, page) => ({ body: page(paramOf(path, 'offset', 0)) })

const STYLES: [string, Answer, Record<string, unknown>][] = [
  ['a Link header', byLinkHeader, { paging: 'link_header' }],
  [
    'a link in the answer',
    byNextLink,
    { paging: 'next_link', next_field: 'links.next', payload_key: 'data' },
  ],
  ['a cursor in the query', byCursor, { paging: 'cursor', next_field: 'meta.next', payload_key: 'data' }],
  [
    'a cursor in the body',
    byCursor,
    {
      paging: 'cursor',
      next_field: 'meta.next',
      payload_key: 'data',
      method: 'POST',
      body: { q: {} },
      page_param: 'q.after',
    },
  ],
  ['a page number', byPage, { paging: 'page', page_param: 'p' }],
  ['an offset', byOffset, { paging: 'offset' }],
]

describe('http_poll reads further pages', () => {
  it.each(STYLES)(
    'by %s, all of them first, then until one holds nothing new',
    async (_what, answer, config) => {
      const { upstream, poll, all } = await pagedApi(answer)
      const first = await poll(config)
      expect(first).toEqual({ ids: all.map(({ id }) => id), notice: undefined })
      expect(upstream.received.length).toBeGreaterThanOrEqual(4)
      for (const id of [36, 37]) all.unshift({ id, at: NOW })
      upstream.received.length = 0
      expect((await poll(config)).ids).toEqual([37, 36])
      expect(upstream.received).toHaveLength(2)
    },
  )

  it.each(STYLES)('by %s, and says where it stopped early', async (_what, answer, config) => {
    const { upstream, poll } = await pagedApi(answer)
    const { ids, notice } = await poll({ ...config, pages_max: 2 })
    expect(ids).toHaveLength(20)
    expect(upstream.received).toHaveLength(2)
    expect(notice).toBe('Reading stopped after page 2, and entries further on were not read: pages_max is 2.')
  })

  it('says that there are more where paging is not set, and nothing where it is none', async () => {
    const { poll } = await pagedApi(byNextLink)
    expect((await poll({ payload_key: 'data' })).notice).toBe(
      'The API has further pages, which are not read; set paging to next_link with next_field links.next, or to none where the first page is enough.',
    )
    expect((await poll({ payload_key: 'data', paging: 'none' })).notice).toBeUndefined()
    const other = await pagedApi(byLinkHeader)
    expect((await other.poll({})).notice).toContain('set paging to link_header,')
  })

  it('never asks another host, and sends the credential to none', async () => {
    const elsewhere = await upstreamServer(() => ({ body: [{ id: 'forged' }] }))
    const { upstream, poll } = await pagedApi((_received, page) => ({
      body: page(0),
      headers: { link: `<${elsewhere.url}items>; rel=next` },
    }))
    const { ids, notice } = await poll({ paging: 'link_header', credential: 'Bearer secret' })
    expect(ids).toHaveLength(SIZE)
    expect(notice).toContain(`the next page is at another origin, ${new URL(elsewhere.url).origin}, which`)
    expect([upstream.received.length, elsewhere.received.length]).toEqual([1, 0])
    expect(notice).not.toContain('secret')
  })

  it('stops where a page comes again, and before the time of a poll is over', async () => {
    const { poll } = await pagedApi((_received, page) => ({ body: page(0) }))
    expect(await poll({ paging: 'page' })).toMatchObject({
      ids: { length: SIZE },
      notice: expect.stringContaining('page 2 is the same as the one before; check paging and page_param'),
    })
    const slow = await pagedApi((received, page, url) => {
      slow.clock.at += 7_000
      return byOffset(received, page, url)
    })
    expect(await slow.poll({ paging: 'offset' })).toMatchObject({
      ids: { length: 20 },
      notice: expect.stringContaining('the time of a poll is nearly over'),
    })
  })

  it('reads on past known pages where the newest come last, by their times or as it is told', async () => {
    for (const config of [{ event_time_field: 'at' }, { read_all_pages: true }]) {
      const { poll, all } = await pagedApi(byOffset)
      all.reverse()
      expect((await poll({ paging: 'offset', ...config })).ids).toHaveLength(35)
      all.push({ id: 36, at: NOW + 1_000 })
      expect((await poll({ paging: 'offset', ...config })).ids).toEqual([36])
    }
  })

  it.each([
    ['page', { paging: 'page', page_param: 'p' }, byPage],
    ['offset', { paging: 'offset' }, byOffset],
  ])('ends at the last page where the one behind it is not found, by %s', async (param, config, answer) => {
    const { poll, upstream } = await pagedApi((received, page, url) => {
      const said = answer(received, page, url)
      return (said.body as object[]).length > 0 ? said : { status: 404, body: { detail: 'Invalid page.' } }
    })
    expect(await poll(config)).toEqual({
      ids: Array.from({ length: 35 }, (_, i) => 35 - i),
      notice: undefined,
    })
    expect(upstream.received.at(-1)!.path).toContain(param[0])
    upstream.answer = () => ({ status: 404, body: {} })
    await expect(poll(config)).rejects.toThrow('the API has nothing at this URL (404)')
  })

  it('stores nothing of a poll one page of which fails, and waits as long as it is asked to', async () => {
    const { poll } = await pagedApi((received, page, url) =>
      paramOf(received.path, 'offset', 0) === SIZE
        ? { status: 429, headers: { 'retry-after': '120' }, body: {} }
        : byOffset(received, page, url),
    )
    await expect(poll({ paging: 'offset' })).rejects.toMatchObject({ retryAfterMs: 120_000 })
  })

  it.each([
    [{ paging: 'page', id_field: undefined }, 'paging page needs id_field'],
    [{ paging: 'page', next_field: 'next' }, 'next_field is of no use with paging page'],
    [{ paging: 'link_header', page_param: 'p' }, 'page_param is of no use with paging link_header'],
    [{ paging: 'page', pages_max: 51 }, 'pages_max'],
  ])('refuses %j', async (config, message) => {
    const { poll } = await pagedApi(byPage)
    await expect(poll(config)).rejects.toThrow(message)
  })
})

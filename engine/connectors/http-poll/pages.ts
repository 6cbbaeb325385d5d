/** The pages of one poll, read until what is new was read, or a bound is met, which is told. */
import type { HttpPollConfig } from '../../../schemas/types.ts'
import { type Entries, entriesAt } from '../../ingest/entries.ts'
import type { Reach } from '../connector.ts'
import { jsonOf } from './ask.ts'
import { type Next, nextPage, PAGES_MAX, type PageRequest, pagingSeen } from './paging.ts'
import { API, missing, request } from './request.ts'

/** Entries of one poll at most. */
export const ENTRIES_MAX = 5_000
/** Of the 20 seconds of a poll: what is asked after them might not be answered in time, and all be lost. */
const PAGING_MS = 12_000

export interface Pages {
  entries: Entries
  notices: string[]
}

/**
 * @param isKnown whether all entries of a page were read before: there the new ones end, where the newest come
 *   first.
 * @throws UpstreamError
 */
export async function readPages(
  config: HttpPollConfig,
  reach: Reach,
  isKnown: (entries: Entries) => boolean,
): Promise<Pages> {
  const began = reach.clock.now()
  const pages: Entries[] = []
  const most = config.pages_max ?? PAGES_MAX
  let asked: PageRequest = { url: config.url, ...(config.body ? { body: config.body } : {}) }
  for (let page = 1; ; page++) {
    const { answer, value, entries } = await readPage(config, reach, asked)
    const isRepeated = page > 1 && isSame(entries, pages.at(-1)!)
    pages.push(entries)
    const texts = pages.flatMap((one) => one.texts)
    const read = { here: entries.count, all: pages.reduce((sum, one) => sum + one.count, 0) }
    const next = nextPage(config, asked, { answer, value, page, read })
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
async function readPage(config: HttpPollConfig, reach: Reach, asked: PageRequest) {
  const answer = await request(config, reach, asked)
  const value = jsonOf(answer, API)
  const path = config.payload_key ?? ''
  return { answer, value, entries: entriesAt(answer.bytes, path) ?? missing(path, value) }
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

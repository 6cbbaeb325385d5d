/**
 * Which stretch of a replay is loaded: always one piece, around where one is. An answer holds so many moments from an
 * instant on; a long span is therefore not read from its start to where one looks, but near it.
 */
import type { Replay } from '../../schemas/types.ts'

/** Reads from an instant on, epoch ms; without one from the start. @param to where it ends, if not at the span's end */
export type Read = (from?: number, to?: number) => Promise<Replay>

export interface Stretch {
  /** In order of time, each from where the one before ended. */
  pages: readonly Replay[]
  /** All of it is loaded from here, epoch ms. */
  from: number
  /** Up to here; the span's end where nothing follows. */
  to: number
  span: { from: number; to: number }
}

/** Where one looks: an instant, epoch ms; the span's start; or what came last. */
export type Where = number | 'start' | 'newest'

/** Tries to come near an instant before it is read up to it page by page. */
const TRIES = 12
/** Less time than this is read as a whole. */
const LEAST_MS = 1_000

export const isWhole = ({ from, to, span }: Stretch): boolean => from <= span.from && to >= span.to
/** Whether an instant is in it. @param at epoch ms */
export const holds = ({ from, to, span }: Stretch, at: number): boolean =>
  at >= from && (at < to || to >= span.to)

/** What is asked for outside the span is looked for at the end of it that is nearer: nothing else is ever loaded. */
const within = ({ from, to }: Stretch['span'], at: number): number => Math.min(to, Math.max(from, at))

/** Begins: the first page is all there is of most spans. @throws what `read` throws */
export async function openAt(read: Read, where: Where): Promise<Stretch> {
  const first = stretchOf([await read()])
  const at =
    where === 'newest' ? first.span.to : where === 'start' ? first.span.from : within(first.span, where)
  return holds(first, at) ? first : await near(read, first, at)
}

/**
 * A stretch that holds an instant: its own neighbourhood where that is far from what is loaded.
 * @throws what `read` throws
 */
export async function around(read: Read, have: Stretch, asked: number): Promise<Stretch> {
  const at = within(have.span, asked)
  const length = have.to - have.from
  if (at < have.from && at >= have.from - length) return earlier(read, have)
  if (at >= have.to && at < have.to + length) return later(read, have)
  return holds(have, at) ? have : near(read, have, at)
}

/** With the page behind it, and those behind that as long as nothing happened in them. @throws what `read` throws */
export async function later(read: Read, have: Stretch): Promise<Stretch> {
  let now = have
  for (let i = 0; i < TRIES && now.to < have.span.to; i++) {
    const page = await read(now.to)
    now = { ...stretchOf([...now.pages, page]), from: have.from, span: have.span }
    if (page.moments.length > 0) break
  }
  return now
}

/** With as much time before it as it holds. @throws what `read` throws */
export async function earlier(read: Read, have: Stretch): Promise<Stretch> {
  if (have.from <= have.span.from) return have
  const from = Math.max(have.span.from, have.from - Math.max(LEAST_MS, have.to - have.from))
  const pages: Replay[] = []
  // What is before begins with `from` and ends where the stretch begins, however many pages that are.
  for (let start: number | null = from; start !== null; ) {
    const page: Replay = await read(start, have.from - 1)
    pages.push(page)
    start = nextOf(page, start)
  }
  return { ...have, pages: [...pages, ...have.pages], from }
}

/**
 * Between what is too early, whose page ends before the instant, and what is too late, as nothing came since.
 * @param like its first page, which says how much time a page holds
 * @param at of its span: each page that is read up to it ends later than the one before
 */
async function near(read: Read, like: Stretch, at: number): Promise<Stretch> {
  const { span } = like
  let early = like.from <= at ? Math.min(at, like.to) : span.from
  let late = at
  let from = at - Math.max(LEAST_MS, like.to - like.from) / 2
  for (let i = 0; i < TRIES && late - early > LEAST_MS; i++) {
    from = Math.floor(Math.min(late - 1, Math.max(early, from)))
    const found = { ...stretchOf([await read(from)]), from, span }
    const isEmpty = found.pages[0]!.moments.length === 0
    if (holds(found, at) && !(isEmpty && from > span.from)) return found
    if (isEmpty) late = from
    else early = Math.min(at, found.to)
    from = (early + late) / 2
  }
  let found: Stretch = { ...stretchOf([await read(early)]), from: early, span }
  while (!holds(found, at)) found = await later(read, found)
  return found
}

function stretchOf(pages: readonly Replay[]): Stretch {
  const [first, last] = [pages[0]!, pages.at(-1)!]
  const [from, end] = [Date.parse(first.from), Date.parse(last.to)]
  return {
    pages,
    from,
    to: nextOf(last, Date.parse(last.from)) ?? end,
    span: { from, to: end },
  }
}

/**
 * Where the page behind one begins, epoch ms; null: nothing follows.
 * @throws Error for a page that ends where it begins: what follows it would be asked for without an end
 */
function nextOf({ next_from }: Replay, from: number): number | null {
  if (next_from === null) return null
  const next = Date.parse(next_from)
  if (next > from) return next
  throw new Error('the daemon answered a part of the replay that does not go on')
}

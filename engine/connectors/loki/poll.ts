/**
 * Reads the lines of a Loki page by page. A page that is full ends in the middle of a nanosecond: the
 * next one begins with that nanosecond again, and leaves out the lines of it that were read.
 */
import type { LokiConfig } from '../../../schemas/types.ts'
import type { Polled, Reach } from '../connector.ts'
import { askLines, type Entry, lineId, type Page } from './entries.ts'

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
export async function pollLines(
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

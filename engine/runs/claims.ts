/**
 * Claims of a finding held against their events, by comparison alone: each event exists and was read by
 * the run, and holds the words that are quoted or the number that is named.
 */
import type { CheckedClaim, Claim } from '../../schemas/types.ts'
import type { Row } from '../engine.ts'

/** Fractions are compared as people write them. */
const TOLERANCE = 1e-9

/**
 * @param events with payloads, by id; what is missing does not exist.
 * @param read the events that this run was shown, and how many each stood for: repeats are folded.
 */
export function checkClaims(
  claims: readonly Claim[],
  events: ReadonlyMap<string, Row>,
  read: ReadonlyMap<string, number>,
): CheckedClaim[] {
  return claims.map((claim) => {
    const why = faultOf(claim, events, read)
    const { text, events: ids, quote = null, number = null } = claim
    return { text, events: ids, quote, number, ok: why === null, why }
  })
}

function faultOf(
  { events: ids, quote, number }: Claim,
  events: ReadonlyMap<string, Row>,
  read: ReadonlyMap<string, number>,
): string | null {
  const missing = ids.find((id) => !events.has(id))
  if (missing !== undefined) return `${missing} is no event`
  const unread = ids.find((id) => !read.has(id))
  if (unread !== undefined) return `${unread} was not read in this run`
  const cited = ids.map((id) => events.get(id)!)
  if (quote !== undefined && !cited.some((row) => holdsQuote(row, quote)))
    return `none of its events has the words "${quote}"`
  if (number === undefined || cited.some((row) => holdsNumber(row, number))) return null
  const distinct = [...new Set(ids)]
  const shown = distinct.reduce((sum, id) => sum + read.get(id)!, 0)
  if (number === distinct.length || number === shown) return null
  return `none of its events has the number ${number}, and they are ${shown}`
}

/** Case and white space differ between a log and who quotes it; words do not. */
function holdsQuote(row: Row, quote: string): boolean {
  const wanted = plain(quote)
  return wanted !== '' && textsOf(row).some((text) => plain(text).includes(wanted))
}

function holdsNumber(row: Row, wanted: number): boolean {
  const near = (value: number) => Math.abs(value - wanted) <= TOLERANCE * Math.max(1, Math.abs(wanted))
  if (Object.values(row.labels).some((value) => near(Number(value)) && String(value).trim() !== ''))
    return true
  return textsOf(row).some((text) =>
    (text.match(/-?\d+(?:\.\d+)?/g) ?? []).some((word) => near(Number(word))),
  )
}

const textsOf = (row: Row): string[] => [row.text, ...(row.raw === undefined ? [] : [row.raw])]

const plain = (text: string): string => text.toLowerCase().replace(/\s+/g, ' ').trim()

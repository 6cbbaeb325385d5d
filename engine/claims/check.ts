/**
 * Claims of a finding held against their events, by comparison alone: each event exists and was read by who claims
 * it, and holds the words that are quoted, the number that is named, or the two numbers that are compared. A claim
 * that gives nothing to compare may be right, and is unproved.
 */
import type { CheckedClaim, Claim } from '../../schemas/types.ts'
import type { Row } from '../calls.ts'
import { numbersIn, numbersInPayload } from './numbers.ts'

/** Fractions are compared as people write them. */
const TOLERANCE = 1e-9

/**
 * @param events with payloads, by id; what is missing does not exist.
 * @param read the events that its writer was shown, and how many each stood for: repeats are folded.
 */
export function checkClaims(
  claims: readonly Claim[],
  events: ReadonlyMap<string, Row>,
  read: ReadonlyMap<string, number>,
): CheckedClaim[] {
  return claims.map((claim, i) => {
    const fault = faultOf(claim, events, read)
    const unproved = fault === null && !isProof(claim)
    const { text, events: ids, quote = null, number = null, count = null, was = null, now = null } = claim
    return {
      ...{ text, role: claim.role ?? roleOf(i), events: ids, quote, number, count, was, now },
      ok: fault === null && !unproved,
      unproved,
      why: unproved ? NO_PROOF : fault,
    }
  })
}

const NO_PROOF =
  'unproved: it has no quote, number, count or comparison that could be held against its events'

/** What the first claim says is the cause, unless it says otherwise. */
const roleOf = (i: number): CheckedClaim['role'] => (i === 0 ? 'cause' : 'context')

const isProof = ({ quote, number, count, was, now }: Claim): boolean =>
  (quote !== undefined && plain(quote) !== '') ||
  number !== undefined ||
  count !== undefined ||
  (was !== undefined && now !== undefined)

function faultOf(
  claim: Claim,
  events: ReadonlyMap<string, Row>,
  read: ReadonlyMap<string, number>,
): string | null {
  const { events: ids, quote, number, count } = claim
  const missing = ids.find((id) => !events.has(id))
  if (missing !== undefined) return `${missing} is no event`
  const unread = ids.find((id) => !read.has(id))
  if (unread !== undefined) return `${unread} was not read in this run`
  const cited = ids.map((id) => events.get(id)!)
  if (quote && plain(quote) !== '' && !cited.some((row) => holdsQuote(row, quote)))
    return `none of its events has the words "${quote}"`
  if (number !== undefined && !cited.some((row) => holdsNumber(row, number)))
    return `none of its events has the number ${number}`
  if (count !== undefined) {
    const fault = countFault(ids, count, read)
    if (fault) return fault
  }
  return comparisonFault(claim, cited)
}

/** How many events they are: those cited, or those that the lines they were shown on stood for. */
function countFault(ids: readonly string[], count: number, read: ReadonlyMap<string, number>): string | null {
  const distinct = [...new Set(ids)]
  const shown = distinct.reduce((sum, id) => sum + read.get(id)!, 0)
  return count === distinct.length || count === shown ? null : `they are ${shown} events, not ${count}`
}

/** What a number was, and is now, stand in two events. */
function comparisonFault({ was, now }: Claim, cited: readonly Row[]): string | null {
  if (was === undefined && now === undefined) return null
  if (was === undefined || now === undefined) return 'a comparison needs both was and now'
  const before = cited.filter((row) => holdsNumber(row, was))
  const after = cited.filter((row) => holdsNumber(row, now))
  if (before.length === 0) return `none of its events has the number ${was}`
  if (after.length === 0) return `none of its events has the number ${now}`
  const isOne = before.length === 1 && after.length === 1 && before[0]!.id === after[0]!.id
  return isOne ? `${was} and ${now} stand in one event: cite one that was usual and one that is not` : null
}

/** Case and white space differ between a log and who quotes it; words do not. */
function holdsQuote(row: Row, quote: string): boolean {
  const wanted = plain(quote)
  return wanted !== '' && [row.text, row.raw ?? ''].some((text) => plain(text).includes(wanted))
}

function holdsNumber(row: Row, wanted: number): boolean {
  const near = (value: number) => Math.abs(value - wanted) <= TOLERANCE * Math.max(1, Math.abs(wanted))
  const labels = Object.values(row.labels).flatMap((value) =>
    typeof value === 'number' ? [value] : numbersIn(value),
  )
  return [...labels, ...numbersIn(row.text), ...numbersInPayload(row.raw ?? '')].some(near)
}

const plain = (text: string): string => text.toLowerCase().replace(/\s+/g, ' ').trim()

/** Claims as they were stored, those of older releases too. @param json null: none */
export function storedClaims(json: string | null): CheckedClaim[] {
  if (json === null) return []
  return (JSON.parse(json) as Partial<CheckedClaim>[]).map(
    (claim, i) =>
      ({
        ...{ role: roleOf(i), count: null, was: null, now: null, unproved: false },
        ...claim,
      }) as CheckedClaim,
  )
}

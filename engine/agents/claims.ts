/**
 * Claims of a finding held against their events, by comparison alone: each event exists and was read by who claims
 * it, and holds the words that are quoted, the number that is named, or the two numbers that are compared. A claim
 * that gives nothing to compare may be right, and is unproved.
 */
import type { CheckedClaim, Claim } from '../../schemas/types.ts'
import type { Row } from '../calls.ts'

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

/*
 * Numbers as an event has them written. A number counts where it stands by itself: `1,200` is 1200 and `48ms` is
 * 48, but the 7 of `ORD-7`, of `evt_7` and of `/orders/7` is a name, the 12 of `12:00:07` is a time, and the 2 of
 * `v2.15.1` a version. In a payload each value is looked at, and the keys are not.
 */

/** Times, dates, addresses, versions and the ids that have dashes: no number of theirs counts. */
const NO_NUMBERS =
  /\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?)?|\b\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?\b|\b\d+(?:\.\d+){2,}\b|\b[0-9a-f]{8}(?:-?[0-9a-f]{4,})+\b/gi
/** One with thousands in groups of three, or plain; then a unit, or nothing. */
const NUMBER =
  /(?<![\w#.,]|\w[-/]|\/)-?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?:e[+-]?\d+)?(?=(?:[a-zµ%]{1,4})?(?![\w]|-\w|[.,]\d|\/[a-z]))/gi
/** Deeper payloads are looked at as text. */
const DEPTH_MAX = 64

/** @returns the numbers of a text, each as its value */
export function numbersIn(text: string): number[] {
  const plain = text.replace(NO_NUMBERS, ' ; ')
  return (plain.match(NUMBER) ?? []).map((word) => Number(word.replaceAll(',', '')))
}

/** @param raw a payload as it was received. @returns its numbers: values that are, and those written in texts */
export function numbersInPayload(raw: string): number[] {
  let value: unknown
  try {
    value = JSON.parse(raw)
  } catch {
    // It need not be JSON.
    return numbersIn(raw)
  }
  const found: number[] = []
  collect(value, found, 0)
  return found
}

function collect(value: unknown, found: number[], depth: number): void {
  if (typeof value === 'number') found.push(value)
  else if (typeof value === 'string') found.push(...numbersIn(value))
  else if (typeof value === 'object' && value !== null && depth < DEPTH_MAX)
    for (const one of Object.values(value)) collect(one, found, depth + 1)
}

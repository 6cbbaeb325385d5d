/** What an outside agent's finding cites, held against the events that its key may read. */
import type { CheckedClaim, FindingCreate } from '../../schemas/types.ts'
import type { Row } from '../calls.ts'
import { checkClaims } from '../claims/check.ts'
import { fail } from '../errors.ts'

/** Ids in the prose of a finding that are looked up. */
const CITED_MAX = 100
const CITED = /\bevt_\d{1,15}\b/g

export interface Cited {
  claims: CheckedClaim[]
  /** Of ids in its prose that are no events. */
  notices: string[]
}

/**
 * @param read gives those of the ids that exist and may be read, with payloads.
 * @throws SvcError invalid where a claim cites an event that does not, naming the claim
 */
export function checkCited(
  { claims = [], finding, headline = '' }: Pick<FindingCreate, 'claims' | 'finding' | 'headline'>,
  read: (ids: readonly string[]) => Row[],
): Cited {
  const inClaims = claims.flatMap(({ events }) => events)
  const inText = [...new Set(`${headline} ${finding}`.match(CITED) ?? [])].slice(0, CITED_MAX)
  if (inClaims.length + inText.length === 0) return { claims: [], notices: [] }
  const events = new Map(read([...new Set([...inClaims, ...inText])]).map((row) => [row.id, row]))
  for (const [i, claim] of claims.entries()) {
    const missing = claim.events.find((id) => !events.has(id))
    if (missing !== undefined)
      fail('invalid', `claims[${i}].events: ${missing} is no event that may be read here`, {
        field: `claims[${i}].events`,
      })
  }
  const shown = new Map([...events.keys()].map((id): [string, number] => [id, 1]))
  const missing = inText.filter((id) => !events.has(id))
  return {
    claims: checkClaims(claims, events, shown),
    notices: missing.length ? [`no event that may be read here: ${missing.join(', ')}`] : [],
  }
}

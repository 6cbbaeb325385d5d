/** How many claims of a finding hold: counted and said in one way, wherever a finding is shown. */

import type { CheckedClaim } from './types.ts'

export interface ClaimsHeld {
  held: number
  total: number
}

/** "2 of 2 claims hold", "1 of 2 claims holds". */
export const claimWords = ({ held, total }: ClaimsHeld): string =>
  `${held} of ${total} ${total === 1 ? 'claim holds' : held === 1 ? 'claims holds' : 'claims hold'}`

/** What is wrong with a claim that does not hold, as a sentence: "Does not hold: evt_9 is no event", "Unproved: it has no …". */
export function claimFault({ unproved, why }: Pick<CheckedClaim, 'unproved' | 'why'>): string {
  const said = unproved ? (why ?? 'unproved') : `does not hold${why ? `: ${why}` : ''}`
  return said.charAt(0).toUpperCase() + said.slice(1)
}

/** One claim as a line: "cause: the pool is full; holds (evt_1, evt_2)". */
export function claimLine(claim: CheckedClaim): string {
  const fault = claimFault(claim)
  const state = claim.ok ? 'holds' : fault.charAt(0).toLowerCase() + fault.slice(1)
  return `${claim.role === 'ruled_out' ? 'ruled out' : claim.role}: ${claim.text}; ${state} (${claim.events.join(', ')})`
}

/** Of claims with the word on each; null: none were made. */
export const claimsHeld = (claims: readonly { ok: boolean }[]): ClaimsHeld | null =>
  claims.length === 0 ? null : { held: claims.filter(({ ok }) => ok).length, total: claims.length }

/** How many claims of a finding hold: counted and said in one way, wherever a finding is shown. */

import type { CheckedClaim } from './types.ts'

export interface ClaimsHeld {
  held: number
  total: number
}

/** "2 of 2 claims hold", "1 of 2 claims holds". */
export const claimWords = ({ held, total }: ClaimsHeld): string =>
  `${held} of ${total} ${total === 1 ? 'claim holds' : held === 1 ? 'claims holds' : 'claims hold'}`

/** One claim as a line: "cause: the pool is full; holds (evt_1, evt_2)". */
export const claimLine = ({ role, text, ok, unproved, why, events }: CheckedClaim): string =>
  `${role === 'ruled_out' ? 'ruled out' : role}: ${text}; ${ok ? 'holds' : unproved ? (why ?? 'unproved') : `does not hold${why ? `: ${why}` : ''}`} (${events.join(', ')})`

/** Of claims with the word on each; null: none were made. */
export const claimsHeld = (claims: readonly { ok: boolean }[]): ClaimsHeld | null =>
  claims.length === 0 ? null : { held: claims.filter(({ ok }) => ok).length, total: claims.length }

import type { CheckedClaim } from '../../schemas/types.ts'

/** What is wrong with a claim that does not hold: "Does not hold: evt_9 is no event", "Unproved: it has no …". */
export function claimFault({ unproved, why }: Pick<CheckedClaim, 'unproved' | 'why'>): string {
  const said = unproved ? (why ?? 'unproved') : `does not hold${why ? `: ${why}` : ''}`
  return said.charAt(0).toUpperCase() + said.slice(1)
}

/**
 * How much is done of what is done again and again (kills, faults, random runs): a part in each run of the tests, others in
 * each commit, all of it by `npm run chaos -- tests`.
 */

/** @returns the first in the long form, else the second */
export const longOr = (long: number, short: number): number =>
  process.env.CHAOS_LONG === undefined ? short : long

/** What this run's random choices begin with: `CHAOS_SEED`, which `vitest.config.ts` sets where nobody did. */
export const seed = Number(process.env.CHAOS_SEED ?? Date.now() % 1e6)

/** @returns whether the one at this place is done: each in the long form, else one of `every`, others for each seed */
export const isDone = (at: number, every: number): boolean =>
  longOr(1, every) === 1 || (at + seed) % every === 0

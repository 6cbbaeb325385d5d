/** How much of the chaos tests is done: a part in each run of the tests, all of it by `npm run chaos -- tests`. */

/** @returns the first in the long form, else the second */
export const longOr = (long: number, short: number): number =>
  process.env.CHAOS_LONG === undefined ? short : long

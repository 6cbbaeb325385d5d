/** Lengths of time, apart from the sentences that have them: many pages of the console need no more. */

/** A length of time as it is declared, as people read it: 5 min of 5m, 90 s of 90s. */
export const durationWords = (text: string): string =>
  text.replace(/[smhd]$/, (unit) => ` ${unit === 'm' ? 'min' : unit}`)

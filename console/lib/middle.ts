/** Names that are too long for their place. */

/** Characters of a name at most where it can go on to no next line. */
const LONGEST = 40
/** Browsers begin a line after a space or a hyphen. */
const IN_ONE = new RegExp(`[^\\s-]{${LONGEST + 1}}`)

/** A name as a list has it: whole, over two lines where it must; one that is all of a piece is cut. */
export const listed = (name: string): string => (IN_ONE.test(name) ? middle(name) : name)

/** "payments-eu-west-1-…-errors-critical": without its middle where it is longer than `most` characters. */
export function middle(name: string, most = LONGEST): string {
  const letters = [...name]
  if (letters.length <= most) return name
  // Half of it is its end: names that begin alike differ there.
  const end = Math.floor(most / 2)
  return `${letters.slice(0, most - end - 1).join('')}…${letters.slice(-end).join('')}`
}

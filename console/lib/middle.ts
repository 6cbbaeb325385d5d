/** Names that are too long for their place. */

/** Characters of a name at most, where it stands in a list. */
const LONGEST = 40
/** "payments-eu-west-1-…-errors-critical": without its middle where it is longer than `most` characters. */
export function middle(name: string, most = LONGEST): string {
  const letters = [...name]
  if (letters.length <= most) return name
  // Half of it is its end: names that begin alike differ there.
  const end = Math.floor(most / 2)
  return `${letters.slice(0, most - end - 1).join('')}…${letters.slice(-end).join('')}`
}

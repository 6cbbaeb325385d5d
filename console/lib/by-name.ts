/**
 * Names as people count: agent-2 before agent-10. Not by Intl.Collator, whose first use takes a page 10 ms as it loads
 * (e2e/budgets.spec.ts).
 */

/** A number, or what stands between numbers. */
const PARTS = /\d+|\D+/g

const isNumber = (part: string): boolean => part >= '0' && part < ':'

/** Of digits: without zeros before them the longer is more. */
function compareNumbers(a: string, b: string): number {
  const [x, y] = [a.replace(/^0+/, ''), b.replace(/^0+/, '')]
  return x.length - y.length || compareTexts(x, y)
}

const compareTexts = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

/** For sort: numbers in names by their value, letters without regard to their case; the text decides what is then alike. */
export function compareNames(a: string, b: string): number {
  const [xs, ys] = [a.toLowerCase().match(PARTS) ?? [], b.toLowerCase().match(PARTS) ?? []]
  for (const [i, x] of xs.entries()) {
    const y = ys[i]
    if (y === undefined) return 1
    const by = isNumber(x) && isNumber(y) ? compareNumbers(x, y) : compareTexts(x, y)
    if (by !== 0) return by
  }
  return xs.length - ys.length || compareTexts(a, b)
}

/** @returns what has names, in their order */
export const byName = <T extends { name: string }>(rows: readonly T[]): T[] =>
  rows.toSorted((a, b) => compareNames(a.name, b.name))

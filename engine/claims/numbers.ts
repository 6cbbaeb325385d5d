/**
 * Numbers as an event has them written. A number counts where it stands by itself: `1,200` is 1200 and `48ms` is
 * 48, but the 7 of `ORD-7`, of `evt_7` and of `/orders/7` is a name, the 12 of `12:00:07` is a time, and the 2 of
 * `v2.15.1` a version. In a payload each value is looked at, and the keys are not.
 */

/** Times, dates, addresses, versions and the ids that have dashes: no number of theirs counts. */
const NO_NUMBERS =
  /\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?)?|\b\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?\b|\b\d+(?:\.\d+){2,}\b|\b[0-9a-f]{8}(?:-?[0-9a-f]{4,})+\b/gi
/** One with thousands in groups of three, or plain; then a unit, or nothing. */
const NUMBER =
  /(?<![\w#.,]|\w[-/]|\/)-?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?:e[+-]?\d+)?(?=(?:[a-zµ%]{1,4})?(?![\w]|-\w|[.,]\d|\/[a-z]))/gi
/** Deeper payloads are looked at as text. */
const DEPTH_MAX = 64

/** @returns the numbers of a text, each as its value */
export function numbersIn(text: string): number[] {
  const plain = text.replace(NO_NUMBERS, ' ; ')
  return (plain.match(NUMBER) ?? []).map((word) => Number(word.replaceAll(',', '')))
}

/** @param raw a payload as it was received. @returns its numbers: values that are, and those written in texts */
export function numbersInPayload(raw: string): number[] {
  let value: unknown
  try {
    value = JSON.parse(raw)
  } catch {
    // It need not be JSON.
    return numbersIn(raw)
  }
  const found: number[] = []
  collect(value, found, 0)
  return found
}

function collect(value: unknown, found: number[], depth: number): void {
  if (typeof value === 'number') found.push(value)
  else if (typeof value === 'string') found.push(...numbersIn(value))
  else if (typeof value === 'object' && value !== null && depth < DEPTH_MAX)
    for (const one of Object.values(value)) collect(one, found, depth + 1)
}

/** Predicates of thresholds, such as "> 5" or, of a rate, "> 5/m". */

export interface Predicate {
  text: string
  /** Of a rate: milliseconds of its unit. */
  unitMs: number
  holds(value: number): boolean
  /** "above 5". */
  words: string
}

const UNIT_MS: Record<string, number> = { s: 1_000, m: 60_000, h: 3_600_000 }
const WORDS: Record<string, string> = {
  '>': 'above',
  '>=': 'at least',
  '<': 'below',
  '<=': 'at most',
  '==': 'exactly',
}

/** @throws Error when it is none; the schema of triggers lets only these through. */
export function parsePredicate(text: string): Predicate {
  const match = /^(>=|<=|==|>|<) ?(-?\d+(?:\.\d+)?)(\/([smh]))?$/.exec(text)
  if (!match) throw new Error(`${text} is no comparison with a number`)
  const [, op, digits, per = '', unit = 's'] = match
  const limit = Number(digits)
  return {
    text,
    unitMs: UNIT_MS[unit]!,
    holds: comparison(op!, limit),
    words: `${WORDS[op!]} ${digits}${per}`,
  }
}

/** @param op as in predicates */
export function comparison(op: string, limit: number): (value: number) => boolean {
  switch (op) {
    case '>':
      return (value) => value > limit
    case '>=':
      return (value) => value >= limit
    case '<':
      return (value) => value < limit
    case '<=':
      return (value) => value <= limit
    default:
      return (value) => value === limit
  }
}
